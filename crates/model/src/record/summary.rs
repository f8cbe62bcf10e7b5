//! Summaries of metrics and series in the record.

use serde::{Deserialize, Serialize};

use crate::limit::LimitRecord;
use crate::metric::Better;
use crate::param::Params;
use crate::units::Unit;

/// Summary of samples over trials. All numbers are finite, in the unit of the metric or series.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Summary {
    /// Number of samples over all trials.
    pub n: u64,
    /// Number of trials that have samples.
    pub trials: u64,
    /// Median of the samples.
    pub median: f64,
    /// Median absolute deviation of the samples from their median, unscaled.
    pub mad: f64,
    /// Smallest of all samples.
    pub min: f64,
    /// Largest of all samples.
    pub max: f64,
    /// Mean of the samples.
    pub mean: f64,
    /// 99th percentile of the samples; null below 100 samples.
    pub p99: Option<f64>,
    /// 95 % interval of the median; null where the values are too few: see docs/statistics.md.
    pub ci95: Option<(f64, f64)>,
}

/// One metric of a case.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct MetricRecord {
    /// The unit of every number.
    pub unit: Unit,
    /// The direction that is better.
    pub better: Better,
    /// Number of samples over all trials.
    pub n: u64,
    /// Number of trials that have samples.
    pub trials: u64,
    /// Median of the samples.
    pub median: f64,
    /// Median absolute deviation of the samples from their median, unscaled.
    pub mad: f64,
    /// Smallest of all samples.
    pub min: f64,
    /// Largest of all samples.
    pub max: f64,
    /// Mean of the samples.
    pub mean: f64,
    /// 99th percentile of the samples; null below 100 samples.
    #[serde(default)]
    pub p99: Option<f64>,
    /// 95 % interval of the median; null where the values are too few: see docs/statistics.md.
    pub ci95: Option<(f64, f64)>,
    /// The samples, one list per trial; null when they are in `samples_file`.
    #[serde(default)]
    pub samples: Option<Vec<Vec<f64>>>,
    /// File in the run folder that holds the samples when they are many.
    #[serde(default)]
    pub samples_file: Option<String>,
    /// Limit of the hardware.
    pub limit: LimitRecord,
    /// Whether the confidence interval became as narrow as asked for.
    pub converged: bool,
}

/// One series of a case.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct SeriesRecord {
    /// The unit of every value.
    pub unit: Unit,
    /// The direction that is better.
    pub better: Better,
    /// The axes, outermost first.
    pub axes: Vec<Axis>,
    /// One row per position on the axes.
    pub rows: Vec<SeriesRow>,
    /// Its column in the table of all such series of a case.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub column: Option<SeriesColumn>,
}

/// The column of a series in a table that it shares with other series of one case over the same axis.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct SeriesColumn {
    /// The place among the columns, from the left.
    pub place: u32,
    /// The title.
    pub title: String,
}

/// One axis of a series.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Axis {
    /// Name of the axis, such as `size`.
    pub name: String,
    /// The unit of its values.
    pub unit: Unit,
}

/// One row of a series.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct SeriesRow {
    /// Position on the axes.
    pub at: Params,
    /// Summary of the values at this position.
    pub summary: Summary,
}

impl MetricRecord {
    /// The summary without unit, limit and samples.
    pub fn summary(&self) -> Summary {
        Summary {
            n: self.n,
            trials: self.trials,
            median: self.median,
            mad: self.mad,
            min: self.min,
            max: self.max,
            mean: self.mean,
            p99: self.p99,
            ci95: self.ci95,
        }
    }

    /// A record of a summary with unit and limit.
    pub fn new(unit: Unit, better: Better, summary: &Summary, limit: LimitRecord) -> Self {
        let Summary { n, trials, median, mad, min, max, mean, p99, ci95 } = *summary;
        Self {
            unit,
            better,
            n,
            trials,
            median,
            mad,
            min,
            max,
            mean,
            p99,
            ci95,
            samples: None,
            samples_file: None,
            limit,
            converged: false,
        }
    }

    /// The median in percent of the limit, where the limit is known.
    pub fn percent_of_limit(&self) -> Option<f64> {
        self.percent_of(self.limit.value)
    }

    /// The median in percent of the rate of the port, of a metric that is one of a network.
    pub fn percent_of_nominal(&self) -> Option<f64> {
        self.percent_of(self.limit.nominal)
    }

    fn percent_of(&self, whole: Option<f64>) -> Option<f64> {
        whole.filter(|whole| *whole > 0.0).map(|whole| 100.0 * self.median / whole)
    }
}
