//! What each factor of a study is worth: the gain with its interval, drawn and in numbers.

use seatrial_analysis::{Factors, Worth};
use seatrial_model::{Better, Params};

use super::curve::Figure;
use super::plot::{Interval, intervals};
use super::table::{Cell, Head, Row, Table};
use super::words::{fixed, of_outcome, text, unit};
use crate::number::decimals;
use crate::words::count;

pub struct Study {
    pub figure: Option<Figure>,
    pub table: Table,
}

/// The studies of `bench`.
pub fn of_bench(studies: &[Factors], bench: &str) -> Vec<Study> {
    studies.iter().filter(|study| study.bench == bench).map(of_study).collect()
}

fn of_study(study: &Factors) -> Study {
    let title = format!(
        "{} of {} · what each factor is worth for {}",
        study.subject,
        study.nodes.join("+"),
        study.metric
    );
    let ratio = match study.better {
        Better::Lower => "without the factor over with it",
        Better::Higher | Better::None => "with the factor over without it",
    };
    let lots = study.seed.map(|seed| format!(" (seed {seed})")).unwrap_or_default();
    let note = format!(
        "Gain is the ratio {ratio}, within each of {}, whose order was drawn by lot{lots}. 1 is no gain.",
        count(study.repeats, "repeat")
    );
    let row = |worth: &Worth| {
        let gain = worth.gain.as_ref()?;
        let ci95 = gain.ci95.map(|ci| (ci.low, ci.high));
        Some(Interval {
            name: text(&worth.factor),
            median: gain.ratio,
            ci95,
            ends: ci95.unwrap_or((gain.ratio, gain.ratio)),
            limit: Some(1.0),
            class: "",
            tip: text(&format!("{}: {:.3}", worth.factor, gain.ratio)),
        })
    };
    let rows: Vec<Interval> = study.worths.iter().filter_map(row).collect();
    let svg = intervals(&text(&format!("Gain of each factor, {title}")), &rows);
    let figure = svg.map(|svg| Figure {
        caption: "Gain by factor".to_owned(),
        unit: "ratio, with its 95 % interval".to_owned(),
        svg,
        legend: Vec::new(),
        note,
    });
    Study { figure, table: table(study, &title) }
}

fn table(study: &Factors, title: &str) -> Table {
    let worths = &study.worths;
    let decimals = decimals(worths.iter().filter_map(|worth| worth.value).chain(study.value));
    let number = |value: Option<f64>| Cell::new(value.map_or(String::new(), |value| fixed(value, decimals)));
    let params = |params: &Params| Cell::new(text(&params.to_string().replace(',', " ")));
    let of = unit(study.unit);
    let heads = vec![
        Head::words("with"),
        Head::words("without"),
        Head::numbers("with", of.trim()),
        Head::numbers("without", of.trim()),
        Head::numbers("gain", ""),
        Head::numbers("95 %", ""),
        Head::words("outcome"),
    ];
    let row = |worth: &Worth| {
        let interval = match worth.gain.map(|gain| gain.ci95) {
            Some(Some(interval)) => format!("{:.3} to {:.3}", interval.low, interval.high),
            Some(None) => "±?".to_owned(),
            None => String::new(),
        };
        let outcome = worth.outcome.map(of_outcome);
        let why = worth.reason.as_deref().map(text).unwrap_or_default();
        let cells = vec![
            params(&worth.with),
            params(&worth.without),
            number(study.value),
            number(worth.value),
            Cell::new(worth.gain.map_or(String::new(), |gain| format!("{:.3}", gain.ratio))),
            Cell::new(interval),
            Cell { badge: outcome, ..Cell::new(why) },
        ];
        Row { cells, ..Row::default() }
    };
    let rows = worths.iter().map(row).collect();
    Table { caption: text(title), heads, rows, ..Table::default() }.tidy()
}
