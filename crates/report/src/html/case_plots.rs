//! The plots of one case: its samples by trial, its latencies, its series.

use seatrial_model::Better;
use seatrial_model::record::{CaseRecord, SeriesRecord};

use super::curve::{Figure, height};
use super::heat::Heat;
use super::plot::{Mark, Trials};
use super::series::{self, SeriesView};
use super::shown::Shown;
use super::table::PageTable;
use super::words::{quantity, text};
use super::{latency, lines};
use crate::words::{count, unit};

/// Fewest samples that are drawn.
const FEWEST_SAMPLES: usize = 3;

#[derive(Clone, Debug, Default)]
pub struct CasePlots {
    pub figures: Vec<Figure>,
    pub heats: Vec<Heat>,
    pub tables: Vec<PageTable>,
}

pub fn plots(shown: &Shown<'_>, case: &CaseRecord) -> CasePlots {
    let parts = if latency::has_any(case) { (shown.context.parts)(&case.case) } else { Vec::new() };
    let mut plots = CasePlots::default();
    plots.figures.extend(samples(shown, case));
    plots.figures.extend(latency::figure(case, &parts));
    plots.figures.extend(series::time_and_rate(case));
    let lines = |series: &SeriesRecord| lines_of(shown, case, series);
    for view in series::of_case(case, &lines) {
        match view {
            SeriesView::Figure(figure) => plots.figures.push(figure),
            SeriesView::Heat(heat) => plots.heats.push(heat),
            SeriesView::Table(table) => plots.tables.push(table),
        }
    }
    plots
}

/// The lines of the headline, for a series of the same quantity: a rate below the same limit.
fn lines_of(shown: &Shown<'_>, case: &CaseRecord, series: &SeriesRecord) -> Vec<Mark> {
    let Some((_, metric)) = case.headline() else { return Vec::new() };
    let is_same = metric.unit == series.unit && metric.better == series.better;
    let is_below = |limit: f64| series.rows.iter().all(|row| row.summary.median <= 1.01 * limit);
    if is_same && metric.better == Better::Higher && metric.limit.value.is_none_or(is_below) {
        lines::of_metric(shown, case, metric)
    } else {
        Vec::new()
    }
}

/// Every sample of the headline, by trial.
fn samples(shown: &Shown<'_>, case: &CaseRecord) -> Option<Figure> {
    let (name, metric) = case.headline()?;
    let trials = metric.samples.as_ref()?;
    let values = || trials.iter().flatten().copied();
    let number = values().count();
    if number < FEWEST_SAMPLES {
        return None;
    }
    let [median, low, high] =
        [metric.median, metric.min, metric.max].map(|value| quantity(value, metric.unit));
    let plot = Trials {
        label: text(&format!("{name}, {} in {}", count(number, "sample"), count(trials.len(), "trial"))),
        trials,
        unit: metric.unit,
        median: metric.median,
        up: height(values()),
        marks: lines::of_metric(shown, case, metric),
    };
    Some(Figure {
        caption: text(&format!("{name}, every sample")),
        unit: text(unit(metric.unit).trim()),
        svg: plot.draw()?,
        legend: Vec::new(),
        note: format!(
            "A dot is a sample, from left to right as they came, from {low} to {high}. Bars are the medians of the \
             trials, the line is the median of all, {median}."
        ),
    })
}
