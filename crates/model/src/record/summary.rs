//! Summaries of metrics and series in the record.

use serde::{Deserialize, Serialize};

use crate::limit::LimitRecord;
use crate::metric::Better;
use crate::param::Params;
use crate::units::Unit;

/// A summary of trials of samples. All numbers are finite and in the unit that stands beside it.
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
    /// 95 % interval of the median; null below 6 samples.
    pub ci95: Option<(f64, f64)>,
}

/// One metric of a case.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct MetricRecord {
    /// The unit of every number.
    pub unit: Unit,
    /// Which direction is good.
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
    /// 95 % interval of the median; null below 6 samples.
    pub ci95: Option<(f64, f64)>,
    /// The samples, one list a trial; null when they stand in `samples_file`.
    #[serde(default)]
    pub samples: Option<Vec<Vec<f64>>>,
    /// The file of the run folder that holds the samples when they are many.
    #[serde(default)]
    pub samples_file: Option<String>,
    /// What the hardware could do.
    pub limit: LimitRecord,
    /// Whether the interval became as narrow as asked.
    pub converged: bool,
}

/// One series of a case.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct SeriesRecord {
    /// The unit of every value.
    pub unit: Unit,
    /// Which direction is good.
    pub better: Better,
    /// The axes, outermost first.
    pub axes: Vec<Axis>,
    /// One row a place on the axes.
    pub rows: Vec<SeriesRow>,
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
    /// The place on the axes.
    pub at: Params,
    /// Summary of the values there.
    pub summary: Summary,
}

impl MetricRecord {
    /// The figures without unit, limit and samples.
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

    /// A record made of a summary and what stands around it.
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

    /// The median in percent of the limit, where there is one.
    pub fn percent_of_limit(&self) -> Option<f64> {
        self.limit.value.filter(|limit| *limit > 0.0).map(|limit| 100.0 * self.median / limit)
    }
}
