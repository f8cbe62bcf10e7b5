//! Metrics and series: the results that a benchmark reports.

use serde::{Deserialize, Serialize};

use crate::units::Unit;

/// The direction in which a metric is better.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Better {
    /// More is better: rates.
    Higher,
    /// Less is better: latencies, losses.
    Lower,
    /// Neither: the metric describes.
    None,
}

impl Better {
    /// Whether a limit of `value` is tighter than one of `other`.
    pub fn is_tighter(self, value: f64, other: f64) -> bool {
        match self {
            Self::Lower => value > other,
            Self::Higher | Self::None => value < other,
        }
    }

    /// How much worse `after` is than `before`, in their unit.
    pub fn loss(self, before: f64, after: f64) -> f64 {
        match self {
            Self::Lower => after - before,
            Self::Higher | Self::None => before - after,
        }
    }
}

/// The definition of a metric.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct MetricSpec {
    /// The name, as used in criteria.
    pub name: &'static str,
    /// One sentence: what is counted, over which time.
    pub doc: &'static str,
    /// The unit of every value.
    pub unit: Unit,
    /// The direction that is better.
    pub better: Better,
    /// Whether the slowest node of a group decides the value, so that pattern `isolate` compares groups by it.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub isolates: bool,
}

impl MetricSpec {
    /// A metric without a sentence, which [`Self::doc`] adds.
    pub const fn new(name: &'static str, unit: Unit, better: Better) -> Self {
        Self { name, doc: "", unit, better, isolates: false }
    }

    /// A metric of which more is better, such as a rate.
    pub const fn higher_is_better(name: &'static str, unit: Unit) -> Self {
        Self::new(name, unit, Better::Higher)
    }

    /// A metric of which less is better, such as a latency.
    pub const fn lower_is_better(name: &'static str, unit: Unit) -> Self {
        Self::new(name, unit, Better::Lower)
    }

    /// A metric that describes, neither good nor bad.
    pub const fn descriptive(name: &'static str, unit: Unit) -> Self {
        Self::new(name, unit, Better::None)
    }

    /// Adds the sentence that says what is counted, over which time.
    #[must_use]
    pub const fn doc(self, doc: &'static str) -> Self {
        Self { doc, ..self }
    }

    /// Says that the slowest node of a group decides the value.
    #[must_use]
    pub const fn isolates(self) -> Self {
        Self { isolates: true, ..self }
    }
}

/// The definition of a series: a metric over declared axes.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct SeriesSpec {
    /// The name, as used in criteria.
    pub name: &'static str,
    /// What the metric is, in one sentence.
    pub doc: &'static str,
    /// The unit of every value.
    pub unit: Unit,
    /// The direction that is better.
    pub better: Better,
    /// The axes of the rows, outermost first.
    pub axes: &'static [AxisSpec],
    /// Place and title of its column in the table of all such series of a case over the same axis.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub column: Option<(u32, &'static str)>,
}

impl SeriesSpec {
    /// A series without a sentence, which [`Self::doc`] adds.
    pub const fn new(name: &'static str, unit: Unit, better: Better, axes: &'static [AxisSpec]) -> Self {
        Self { name, doc: "", unit, better, axes, column: None }
    }

    /// A series of which more is better, such as a rate.
    pub const fn higher_is_better(name: &'static str, unit: Unit, axes: &'static [AxisSpec]) -> Self {
        Self::new(name, unit, Better::Higher, axes)
    }

    /// A series of which less is better, such as a latency.
    pub const fn lower_is_better(name: &'static str, unit: Unit, axes: &'static [AxisSpec]) -> Self {
        Self::new(name, unit, Better::Lower, axes)
    }

    /// A series that describes, neither good nor bad.
    pub const fn descriptive(name: &'static str, unit: Unit, axes: &'static [AxisSpec]) -> Self {
        Self::new(name, unit, Better::None, axes)
    }

    /// Gives it a column in the table of all such series of a case.
    #[must_use]
    pub const fn column(self, place: u32, title: &'static str) -> Self {
        Self { column: Some((place, title)), ..self }
    }

    /// Adds the sentence that says what is counted, over which time.
    #[must_use]
    pub const fn doc(self, doc: &'static str) -> Self {
        Self { doc, ..self }
    }
}

/// One axis of a series.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct AxisSpec {
    /// The name, for example `size`.
    pub name: &'static str,
    /// The unit of its values; [`Unit::Count`] for plain numbers.
    pub unit: Unit,
}
