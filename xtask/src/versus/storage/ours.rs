//! Our side: one trial each, by the release binary.

use std::rc::Rc;

use anyhow::{Context, Result};
use seatrial_sys::affinity;
use serde_json::Value;

use super::places::{Place, Places};
use super::{Figures, Job, SECONDS, SIZE, Turn};
use crate::versus::ours::{here, median, trial, value};

/// The CPU that our thread is pinned to, for the peer to be pinned to as well: the first that we may use. On machines
/// where a disk is nearer to other cores ours goes there, and the peer stays.
pub fn cpu() -> Result<u32> {
    affinity::allowed()?.iter().next().context("no CPU")
}

/// One trial of `storage.file`, with this value of `verify`.
pub fn turn(places: &Rc<Places>, place: Place, job: Job, verify: &'static str) -> Turn {
    let places = Rc::clone(places);
    Box::new(move || {
        let pattern = if job.random { "random" } else { "seq" };
        let operation = if job.write { "write" } else { "read" };
        let mut params = vec![
            "threads=1".to_owned(),
            "sync=none".to_owned(),
            format!("time={SECONDS} s"),
            format!("directory={}", places.folder(place)?.display()),
            format!("operation={operation}"),
            format!("pattern={pattern}"),
            format!("block={}iB", job.block.to_uppercase()),
            format!("size={}iB", SIZE.to_uppercase()),
            format!("depth={}", job.depth),
        ];
        // An earlier binary need not have the parameter.
        params.extend((verify != "full").then(|| format!("verify={verify}")));
        trial(here(), "storage.file", &params, |record, _| figures(record))
    })
}

/// Reads the record of a trial. Rates are means, as the peers' are: a new file has two, one until each of its blocks was
/// written for the first time and one from then on, and the median of intervals would be whichever lasted longer.
fn figures(record: &Value) -> Result<Figures> {
    Ok(Figures {
        iops: value(record, "iops", "mean")?,
        megabytes: value(record, "throughput", "mean")?,
        latency: median(record, "latency")?,
        cpu: median(record, "cpu_per_io")?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_are_means_and_times_medians() {
        let metric = |median: f64, mean: f64| serde_json::json!({ "median": median, "mean": mean });
        let record = serde_json::json!({ "outcome": "measured", "metrics": {
            "iops": metric(100.0, 160.0), "throughput": metric(1.0, 1.6), "latency": metric(500.0, 600.0),
            "cpu_per_io": metric(5.0, 6.0),
        } });
        let told = figures(&record).unwrap();
        assert_eq!(told, Figures { iops: 160.0, megabytes: 1.6, latency: 500.0, cpu: 5.0 });
    }
}
