//! Bencher Metric Format: JSON for bencher.dev's command line with `--adapter json`.
//!
//! A case becomes a benchmark, a metric a measure. The name of a measure contains the unit, because Bencher has one
//! unit per measure and would draw two units on one axis.

use std::collections::BTreeMap;
use std::io::{self, Write};

use seatrial_model::Unit;
use serde::Serialize;

use super::{About, Export, Material};

/// Medians with their 95 % intervals.
pub struct Bencher;

/// Length of a measure's name in characters (reference of the format).
const LONGEST_MEASURE: usize = 64;

#[derive(Serialize)]
struct Measured {
    value: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    lower_value: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    upper_value: Option<f64>,
}

impl Export for Bencher {
    fn about(&self) -> &'static About {
        &About {
            flag: "bencher",
            value: "FILE",
            help: "Bencher Metric Format (JSON): the median of every metric with its 95 % interval",
            bare: false,
        }
    }

    fn write(&self, run: &Material<'_>, out: &mut (dyn Write + Send)) -> io::Result<()> {
        let mut benchmarks: BTreeMap<&str, BTreeMap<String, Measured>> = BTreeMap::new();
        for record in &run.document.results {
            let measures = record.metrics.iter().map(|(name, metric)| {
                let ends = metric.ci95;
                let measured = Measured {
                    value: metric.median,
                    lower_value: ends.map(|(low, _)| low),
                    upper_value: ends.map(|(_, high)| high),
                };
                (measure(name, metric.unit), measured)
            });
            let measures: BTreeMap<String, Measured> = measures.collect();
            if !measures.is_empty() {
                benchmarks.insert(record.case.as_str(), measures);
            }
        }
        serde_json::to_writer_pretty(&mut *out, &benchmarks).map_err(io::Error::from)?;
        out.write_all(b"\n")
    }
}

fn measure(metric: &str, unit: Unit) -> String {
    let whole = if unit == Unit::Count { metric.to_owned() } else { format!("{metric} ({unit})") };
    whole.chars().take(LONGEST_MEASURE).collect()
}
