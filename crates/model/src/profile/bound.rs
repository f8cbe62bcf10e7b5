//! Bounds of criteria.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::units::Quantity;

/// The number of a summary that is judged.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Statistic {
    /// The median, with its confidence interval.
    #[default]
    Median,
    /// The 99th percentile of all samples.
    P99,
    /// The largest of all samples.
    Max,
    /// The smallest of all samples.
    Min,
    /// The worst sample in the direction of the metric.
    Worst,
}

impl Statistic {
    /// Every statistic, in the order that messages list them.
    pub const ALL: [Statistic; 5] =
        [Statistic::Median, Statistic::P99, Statistic::Max, Statistic::Min, Statistic::Worst];
}

/// A value to compare with.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Bar {
    /// A number with its unit.
    Absolute(Quantity),
    /// Percent of the hardware limit of the same metric and case.
    PercentOfLimit(f64),
    /// Percent of the rate of the network port before headers.
    PercentOfNominal(f64),
    /// Percent of the median over all nodes of the same class.
    PercentOfFleetMedian(f64),
    /// Percent of the value of a reference run.
    PercentOfReference(f64),
}

/// The bound on a number.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Bounds {
    /// At least the bar.
    AtLeast(Bar),
    /// At most the bar.
    AtMost(Bar),
    /// Equal to the bar.
    Equals(Bar),
    /// From the first bar to the second, both included.
    Within(Bar, Bar),
}

impl Bounds {
    /// The bars; of a range the lower one first.
    pub fn bars(&self) -> impl Iterator<Item = &Bar> {
        let (first, second) = match self {
            Bounds::AtLeast(bar) | Bounds::AtMost(bar) | Bounds::Equals(bar) => (bar, None),
            Bounds::Within(low, high) => (low, Some(high)),
        };
        std::iter::once(first).chain(second)
    }
}

impl fmt::Display for Statistic {
    /// As a profile writes it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Statistic::Median => "median",
            Statistic::P99 => "p99",
            Statistic::Max => "max",
            Statistic::Min => "min",
            Statistic::Worst => "worst",
        })
    }
}

impl fmt::Display for Bar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Bar::Absolute(quantity) => write!(f, "{quantity}"),
            Bar::PercentOfLimit(percent) => write!(f, "{percent} % of the limit"),
            Bar::PercentOfNominal(percent) => write!(f, "{percent} % of the nominal rate"),
            Bar::PercentOfFleetMedian(percent) => write!(f, "{percent} % of the fleet median"),
            Bar::PercentOfReference(percent) => write!(f, "{percent} % of the reference"),
        }
    }
}

impl fmt::Display for Bounds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Bounds::AtLeast(bar) => write!(f, "at least {bar}"),
            Bounds::AtMost(bar) => write!(f, "at most {bar}"),
            Bounds::Equals(bar) => write!(f, "exactly {bar}"),
            Bounds::Within(low, high) => write!(f, "from {low} to {high}"),
        }
    }
}
