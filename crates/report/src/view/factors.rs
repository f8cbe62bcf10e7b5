//! The gain of each factor of a study: a row per factor, below the baseline.

use seatrial_analysis::{Factors, Worth};
use seatrial_model::{Better, Params, node_names};

use super::table::{Builder, Cell, Column, Table};
use crate::number::decimals;
use crate::words::{Badge, count};

pub fn title(study: &Factors) -> String {
    let place = format!("{} of {}", study.subject, node_names(&study.nodes));
    format!("{} · {place} · {} · gain of each factor", study.bench, study.metric)
}

pub fn remark(study: &Factors) -> String {
    let ratio = match study.better {
        Better::Lower => "without the factor over with it",
        Better::Higher | Better::None => "with the factor over without it",
    };
    let lots = study.seed.map(|seed| format!(" (seed {seed})")).unwrap_or_default();
    format!(
        "gain is the ratio {ratio}, within each of {} in random order{lots}",
        count(study.repeats, "repeat")
    )
}

pub fn table(study: &Factors) -> Table {
    let worths = &study.worths;
    let decimals = decimals(worths.iter().filter_map(|worth| worth.value).chain(study.value));
    let params = |params: &Params| params.to_string().replace(',', " ");
    let interval = |worth: &Worth| match worth.gain?.ci95 {
        Some(interval) => Some(format!("{:.3} to {:.3}", interval.low, interval.high)),
        None => Some("±?".to_owned()),
    };
    let of = Some(study.unit);
    let table = Builder::new(title(study), worths)
        .words("with", |worth| params(&worth.with))
        .words("without", |worth| params(&worth.without))
        .column(Column::quantities("with", of), |_| Cell::number(study.value, decimals))
        .column(Column::quantities("without", of), |worth| Cell::number(worth.value, decimals))
        .numbers("gain", |worth| Cell::number(worth.gain.map(|gain| gain.ratio), 3))
        .numbers("95 %", interval)
        .words("outcome", |worth| Cell::from(worth.outcome.map(Badge::from)).notes(worth.reason.clone()));
    Table { remarks: vec![remark(study)], ..table.finish() }
}
