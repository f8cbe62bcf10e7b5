//! The metric that a criterion judges.

use crate::Diagnostics;
use crate::catalog::Known;
use crate::diagnostic::At;
use seatrial_model::{AxisSpec, Better, Unit};

#[derive(Clone, Copy)]
pub(super) struct Judged {
    pub unit: Unit,
    pub better: Better,
    /// The axes of a series; `None` for a metric.
    pub axes: Option<&'static [AxisSpec]>,
}

pub fn judged(name: &At<String>, known: Known<'_>, found: &mut Diagnostics) -> Option<Judged> {
    let (id, metrics, series) = match known {
        Known::Here(about) => (about.id, about.metrics, about.series),
        Known::Planned(planned) => (planned.id, planned.metrics, &[][..]),
    };
    let metric = metrics.iter().find(|metric| metric.name == name.value);
    let of_metric = metric.map(|spec| Judged { unit: spec.unit, better: spec.better, axes: None });
    let series_of = || series.iter().find(|series| series.name == name.value);
    let of_series =
        || series_of().map(|spec| Judged { unit: spec.unit, better: spec.better, axes: Some(spec.axes) });
    let judged = of_metric.or_else(of_series);
    if judged.is_none() {
        let known = metrics.iter().map(|spec| spec.name).chain(series.iter().map(|spec| spec.name));
        found.error(name.at, format!("{id} has no metric '{}'", name.value)).suggest(&name.value, known);
    }
    judged
}
