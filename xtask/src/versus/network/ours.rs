//! Our side: one trial each, by the release binary.

use std::rc::Rc;

use anyhow::{Result, ensure};
use serde_json::Value;

use super::nodes::{CONGESTION, Nodes, Way};
use super::{SECONDS, Stream, Turn, Work};
use crate::versus::ours::{self as of_release, median, value};

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

/// The highest throughput of `net.pingpong`, in Gbit/s.
pub fn peak(nodes: &Rc<Nodes>, way: Way) -> Work {
    pingpong(nodes, way, ["from=64 KiB", "to=8 MiB"], "throughput")
}

/// Half the round trip of small messages, in microseconds.
pub fn small(nodes: &Rc<Nodes>, way: Way) -> Work {
    pingpong(nodes, way, ["from=1 B", "to=48 B"], "latency")
}

fn pingpong(nodes: &Rc<Nodes>, way: Way, sizes: [&str; 2], name: &'static str) -> Work {
    let nodes = Rc::clone(nodes);
    let params = [sizes[0].to_owned(), sizes[1].to_owned(), "beside=0".to_owned(), time()];
    Box::new(move || median(&trial(&nodes, way, "net.pingpong", &params)?, name))
}

fn time() -> String {
    format!("time={SECONDS} s")
}
