//! Metrics and series: what a benchmark reports.

use serde::{Deserialize, Serialize};

use crate::units::Unit;

/// Which direction of a metric is good.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Better {
    /// More is better: rates.
    Higher,
    /// Less is better: latencies, losses.
    Lower,
    /// Neither: a description.
    None,
}

/// The definition of a metric.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MetricSpec {
    /// The name, as used in criteria.
    pub name: &'static str,
    /// One sentence: what is counted, over which time.
    pub doc: &'static str,
    /// The unit of every value.
    pub unit: Unit,
    /// Which direction is good.
    pub better: Better,
}

/// The definition of a series: a metric over declared axes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SeriesSpec {
    /// The name, as used in criteria.
    pub name: &'static str,
    /// One sentence.
    pub doc: &'static str,
    /// The unit of every value.
    pub unit: Unit,
    /// Which direction is good.
    pub better: Better,
    /// Axes, outermost first.
    pub axes: &'static [AxisSpec],
}

/// One axis of a series.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AxisSpec {
    /// The name, for example `size`.
    pub name: &'static str,
    /// The unit of its values; [`Unit::Count`] for plain numbers.
    pub unit: Unit,
}
