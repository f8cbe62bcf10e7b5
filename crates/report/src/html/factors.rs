//! The gain of each factor of a study with its interval, as a picture and in numbers.

use seatrial_analysis::{Factors, Worth};

use super::curve::Figure;
use super::plot::{Interval, Start, intervals};
use super::table::PageTable;
use super::words::text;
use crate::view::factors as view;

pub struct Study {
    pub figure: Option<Figure>,
    pub tables: Vec<PageTable>,
}

pub fn of_bench(studies: &[Factors], bench: &str) -> Vec<Study> {
    studies.iter().filter(|study| study.bench == bench).map(of_study).collect()
}

fn of_study(study: &Factors) -> Study {
    let row = |worth: &Worth| {
        let gain = worth.gain.as_ref()?;
        let ci95 = gain.ci95.map(|ci| (ci.low, ci.high));
        Some(Interval {
            name: text(&worth.factor),
            median: gain.ratio,
            ci95,
            ends: ci95.unwrap_or((gain.ratio, gain.ratio)),
            limit: Some(1.0),
            bounds: Vec::new(),
            class: "",
            tip: text(&format!("{}: {:.3}", worth.factor, gain.ratio)),
        })
    };
    let rows: Vec<Interval> = study.worths.iter().filter_map(row).collect();
    let svg = intervals(&text(&format!("Gain of each factor, {}", view::title(study))), &rows, Start::Values);
    let figure = svg.map(|svg| Figure {
        caption: "Gain by factor".to_owned(),
        unit: "ratio, with its 95 % interval".to_owned(),
        svg,
        legend: Vec::new(),
        note: "1 means no gain.".to_owned(),
    });
    let tables = std::iter::once(view::table(study)).chain(view::interactions(study));
    Study { figure, tables: tables.map(|table| PageTable::new(&table, usize::MAX)).collect() }
}
