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
    /// Neither direction is good: the metric describes.
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

impl MetricSpec {
    /// A metric without its sentence, which [`Self::doc`] adds.
    pub const fn new(name: &'static str, unit: Unit, better: Better) -> Self {
        Self { name, doc: "", unit, better }
    }

    /// One of which more is better, such as a rate.
    pub const fn higher_is_better(name: &'static str, unit: Unit) -> Self {
        Self::new(name, unit, Better::Higher)
    }

    /// One of which less is better, such as a latency.
    pub const fn lower_is_better(name: &'static str, unit: Unit) -> Self {
        Self::new(name, unit, Better::Lower)
    }

    /// One that describes and is neither good nor bad.
    pub const fn descriptive(name: &'static str, unit: Unit) -> Self {
        Self::new(name, unit, Better::None)
    }

    /// The same with the sentence that says what is counted, over which time.
    #[must_use]
    pub const fn doc(self, doc: &'static str) -> Self {
        Self { doc, ..self }
    }
}

/// The definition of a series: a metric over declared axes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SeriesSpec {
    /// The name, as used in criteria.
    pub name: &'static str,
    /// What the metric is, in one sentence.
    pub doc: &'static str,
    /// The unit of every value.
    pub unit: Unit,
    /// Which direction is good.
    pub better: Better,
    /// The axes that rows are placed on, outermost first.
    pub axes: &'static [AxisSpec],
}

impl SeriesSpec {
    /// A series without its sentence, which [`Self::doc`] adds.
    pub const fn new(name: &'static str, unit: Unit, better: Better, axes: &'static [AxisSpec]) -> Self {
        Self { name, doc: "", unit, better, axes }
    }

    /// One of which more is better, such as a rate.
    pub const fn higher_is_better(name: &'static str, unit: Unit, axes: &'static [AxisSpec]) -> Self {
        Self::new(name, unit, Better::Higher, axes)
    }

    /// One of which less is better, such as a latency.
    pub const fn lower_is_better(name: &'static str, unit: Unit, axes: &'static [AxisSpec]) -> Self {
        Self::new(name, unit, Better::Lower, axes)
    }

    /// One that describes and is neither good nor bad.
    pub const fn descriptive(name: &'static str, unit: Unit, axes: &'static [AxisSpec]) -> Self {
        Self::new(name, unit, Better::None, axes)
    }

    /// The same with the sentence that says what is counted, over which time.
    #[must_use]
    pub const fn doc(self, doc: &'static str) -> Self {
        Self { doc, ..self }
    }
}

/// One axis of a series.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AxisSpec {
    /// The name, for example `size`.
    pub name: &'static str,
    /// The unit of its values; [`Unit::Count`] for plain numbers.
    pub unit: Unit,
}
