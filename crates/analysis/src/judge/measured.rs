//! The number of a case that a criterion is about.

use seatrial_model::profile::{Requirement, Statistic};
use seatrial_model::record::{CaseRecord, Summary};
use seatrial_model::{Better, LimitRecord, Params, Unit};

/// A metric of a case, or one row of a series.
#[derive(Clone, Debug)]
pub struct Measured<'a> {
    pub unit: Unit,
    pub better: Better,
    pub summary: Summary,
    /// The limit that the benchmark derived; series have none.
    pub limit: Option<&'a LimitRecord>,
    pub converged: bool,
    pub at: Option<&'a Params>,
}

/// The values of `name` in `case`: one number of a metric, or the rows of a series that `at` selects.
pub fn measured<'a>(case: &'a CaseRecord, name: &str, at: &Params) -> Result<Vec<Measured<'a>>, String> {
    if let Some(metric) = case.metrics.get(name) {
        return Ok(vec![Measured {
            unit: metric.unit,
            better: metric.better,
            summary: metric.summary(),
            limit: Some(&metric.limit),
            converged: metric.converged,
            at: None,
        }]);
    }
    let series = case.series.get(name).ok_or_else(|| format!("the case has no '{name}'"))?;
    let rows = series.rows.iter().filter(|row| Requirement::selects(at, &row.at));
    let rows: Vec<_> = rows
        .map(|row| Measured {
            unit: series.unit,
            better: series.better,
            summary: row.summary.clone(),
            limit: None,
            converged: true,
            at: Some(&row.at),
        })
        .collect();
    if rows.is_empty() { Err(format!("series '{name}' has no row at {at}")) } else { Ok(rows) }
}

impl Measured<'_> {
    pub fn statistic(&self, of: Statistic) -> Result<f64, String> {
        let summary = &self.summary;
        match (of, self.better) {
            (Statistic::Median, _) => Ok(summary.median),
            (Statistic::P99, _) => summary
                .p99
                .ok_or_else(|| format!("no 99th percentile: {} samples are fewer than 100", summary.n)),
            (Statistic::Max, _) | (Statistic::Worst, Better::Lower) => Ok(summary.max),
            (Statistic::Min, _) | (Statistic::Worst, Better::Higher) => Ok(summary.min),
            (Statistic::Worst, Better::None) => Err("neither more nor less is worse".to_owned()),
        }
    }

    /// Where a repeat would find the number: the 95 % interval of a median; without one (too few values) the range of
    /// all values. Extremes and percentiles have no interval and are compared alone.
    pub fn spread(&self, of: Statistic, value: f64) -> (f64, f64) {
        match of {
            Statistic::Median => self.summary.ci95.unwrap_or((self.summary.min, self.summary.max)),
            _ => (value, value),
        }
    }
}
