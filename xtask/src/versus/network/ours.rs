//! Our side: one trial each, by the release binary.

use std::collections::BTreeMap;
use std::rc::Rc;

use anyhow::{Context, Result, ensure};
use seatrial_model::Sample;
use serde_json::Value;

use super::nodes::{CONGESTION, Nodes, Way};
use super::{SECONDS, Stream, Turn, Work, read};
use crate::versus::ours::{self as of_release, median, samples, value};

/// One trial of `benchmark`; the first case of its document.
pub fn trial(nodes: &Nodes, way: Way, benchmark: &str, params: &[String]) -> Result<Value> {
    of_release::trial(nodes.seatrial(way)?, benchmark, params, |record, _| Ok(record.clone()))
}

/// The rate is a mean, as the peers' are.
fn stream(record: &Value) -> Result<Stream> {
    let cpu = median(record, "sender_cpu")? + median(record, "receiver_cpu")?;
    Ok(Stream { rate: value(record, "throughput", "mean")?, cpu })
}

/// `net.tcp_stream`.
pub fn tcp(nodes: &Rc<Nodes>, way: Way, flows: u32, affinity: &str) -> Turn {
    let nodes = Rc::clone(nodes);
    let params = [
        format!("flows={flows}"),
        format!("affinity={affinity}"),
        format!("congestion={CONGESTION}"),
        time(),
    ];
    Rc::new(move || stream(&trial(&nodes, way, "net.tcp_stream", &params)?))
}

/// `net.udp_stream` as fast as it goes.
pub fn udp(nodes: &Rc<Nodes>, way: Way, offload: &str) -> Turn {
    let nodes = Rc::clone(nodes);
    let params = ["rate=max".to_owned(), "message=1448 B".to_owned(), format!("offload={offload}"), time()];
    Rc::new(move || stream(&trial(&nodes, way, "net.udp_stream", &params)?))
}

/// The median round trip of `net.rr` in microseconds; sockperf's messages have 14 bytes at least.
pub fn round_trip(nodes: &Rc<Nodes>, way: Way, protocol: &str, wait: &str) -> Work {
    let nodes = Rc::clone(nodes);
    let params = [format!("protocol={protocol}"), format!("wait={wait}"), "request=14 B".to_owned(), time()];
    Box::new(move || median(&trial(&nodes, way, "net.rr", &params)?, "round_trip"))
}

/// The mean round trip of `net.rr` in microseconds, which is what its mean rate says when one follows the other.
pub fn mean_round_trip(nodes: &Rc<Nodes>, way: Way, protocol: &str) -> Work {
    let nodes = Rc::clone(nodes);
    let params = [format!("protocol={protocol}"), "wait=block".to_owned(), "request=1 B".to_owned(), time()];
    Box::new(move || {
        let rate = value(&trial(&nodes, way, "net.rr", &params)?, "rate", "mean")?;
        ensure!(rate > 0.0, "no round trips");
        Ok(1e6 / rate)
    })
}

/// Trials of a size by NPtcp, which reports the best of them, and how long each takes.
const TRIALS_OF_NPTCP: usize = 7;
const SECONDS_OF_A_TRIAL: f64 = 0.25;

/// The highest throughput of `net.pingpong`, in Gbit/s.
pub fn peak(nodes: &Rc<Nodes>, way: Way) -> Work {
    pingpong(nodes, way, ["from=64 KiB", "to=8 MiB"], 15, |best| {
        best.iter().map(|(size, us)| size * 8e-3 / us).fold(0.0, f64::max)
    })
}

/// Half the round trip of messages below 64 B, in microseconds.
pub fn small(nodes: &Rc<Nodes>, way: Way) -> Work {
    pingpong(nodes, way, ["from=1 B", "to=48 B"], 11, |best| {
        read::median(best.iter().map(|(_, us)| *us).collect())
    })
}

/// As many sizes for as long as NPtcp; of each the best of as many parts of its time.
fn pingpong(
    nodes: &Rc<Nodes>,
    way: Way,
    range: [&str; 2],
    sizes: usize,
    figure: fn(&[(f64, f64)]) -> f64,
) -> Work {
    let nodes = Rc::clone(nodes);
    let seconds = (sizes * TRIALS_OF_NPTCP) as f64 * SECONDS_OF_A_TRIAL;
    let params =
        [range[0].to_owned(), range[1].to_owned(), "beside=0".to_owned(), format!("time={seconds} s")];
    Box::new(move || {
        of_release::trial(nodes.seatrial(way)?, "net.pingpong", &params, |record, home| {
            median(record, "throughput")?;
            let best = best(&samples(home, "messages")?)?;
            ensure!(best.len() == sizes, "{} sizes, not {sizes}", best.len());
            Ok(figure(&best))
        })
    })
}

/// Bytes of a message, and the microseconds of one in the best of the parts.
fn best(samples: &[Sample]) -> Result<Vec<(f64, f64)>> {
    let mut by_size: BTreeMap<u64, Vec<&Sample>> = BTreeMap::new();
    for sample in samples {
        let size = sample.at.bytes("size").ok().flatten().context("a sample without a size")?;
        by_size.entry(size.get()).or_default().push(sample);
    }
    let time = |part: &[&Sample]| {
        let us = part.iter().map(|sample| sample.span().get() as f64 / 1e3).sum::<f64>();
        us / part.iter().map(|sample| sample.amount.value()).sum::<f64>()
    };
    let best = |all: &[&Sample]| {
        all.chunks(all.len().div_ceil(TRIALS_OF_NPTCP)).map(time).fold(f64::INFINITY, f64::min)
    };
    Ok(by_size.iter().map(|(size, all)| (*size as f64, best(all))).collect())
}

fn time() -> String {
    format!("time={SECONDS} s")
}

#[cfg(test)]
mod tests {
    use seatrial_model::{Bytes, Nanos, Quantity};

    use super::*;

    #[test]
    fn of_each_size_the_best_of_seven_parts_counts() {
        // Two slices a part; in the fourth part both are fast, in the others one.
        let slice = |number: u64| {
            let start = Nanos::millis(number * 10);
            let took = if number.is_multiple_of(2) || number == 7 { 1 } else { 5 };
            let at = [("size", Bytes(1000).into())].into();
            Sample::new("messages", at, (start, Nanos::millis(number * 10 + took)), Quantity::count(100))
        };
        let samples: Vec<Sample> = (0..14).map(slice).collect();
        assert_eq!(best(&samples).unwrap(), [(1000.0, 10.0)]);
    }
}
