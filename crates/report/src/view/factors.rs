//! The gain of each factor of a study: a row per factor. The interaction of crossed factors: a row per two factors.

use seatrial_analysis::Factors;
use seatrial_model::{Better, Params, node_names};
use seatrial_stats::PairedRatio;

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
    let of = Some(study.unit);
    let table = Builder::new(title(study), worths)
        .words("with", |worth| params(&worth.with))
        .words("without", |worth| params(&worth.without))
        .column(Column::quantities("with", of), |_| Cell::number(study.value, decimals))
        .column(Column::quantities("without", of), |worth| Cell::number(worth.value, decimals))
        .numbers("gain", |worth| Cell::number(worth.gain.map(|gain| gain.ratio), 3))
        .numbers("95 %", |worth| interval(worth.gain))
        .words("outcome", |worth| Cell::from(worth.outcome.map(Badge::from)).notes(worth.reason.clone()));
    Table { remarks: vec![remark(study)], ..table.finish() }
}

/// Without crossed factors there is no table.
pub fn interactions(study: &Factors) -> Option<Table> {
    if study.interactions.is_empty() {
        return None;
    }
    let place = format!("{} of {}", study.subject, node_names(&study.nodes));
    let title = format!("{} · {place} · {} · interaction of two factors", study.bench, study.metric);
    let all = study.interactions.iter().flat_map(|both| both.values).flatten();
    let decimals = decimals(all.chain(study.value));
    let value = |value| Cell::number(value, decimals);
    let of = Some(study.unit);
    let table = Builder::new(title, &study.interactions)
        .words("first", |both| both.factors[0].clone())
        .words("second", |both| both.factors[1].clone())
        .column(Column::quantities("with both", of), |_| value(study.value))
        .column(Column::quantities("without first", of), |both| value(both.values[0]))
        .column(Column::quantities("without second", of), |both| value(both.values[1]))
        .column(Column::quantities("without both", of), |both| value(both.values[2]))
        .numbers("interaction", |both| Cell::number(both.ratio.map(|it| it.ratio), 3))
        .numbers("95 %", |both| interval(both.ratio))
        .words("gains", |both| both.meaning().unwrap_or_default())
        .words("outcome", |both| Cell::from(both.outcome.map(Badge::from)).notes(both.reason.clone()));
    let remark = "interaction is the gain of the first factor with the second one, over its gain without the \
                  second; 1: the gains multiply";
    Some(Table { remarks: vec![remark.to_owned()], ..table.finish() })
}

pub(super) fn interval(ratio: Option<PairedRatio>) -> Option<String> {
    Some(match ratio?.ci95 {
        Some(interval) => format!("{:.3} to {:.3}", interval.low, interval.high),
        None => "±?".to_owned(),
    })
}
