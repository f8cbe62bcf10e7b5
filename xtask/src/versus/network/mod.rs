//! `versus network`: TCP, UDP, request and response, and ping-pong against the usual tools.
//!
//! Every row runs between two nodes of a lab (veth, frames of 9000 bytes) and over the loopback of one of them. Both sides
//! have the same number of flows, the same time, the same CPUs and the same congestion control, which routes of the nodes
//! name, because nuttcp and NPtcp have no option for it. A link of the lab is a memory copy, and both ends share the machine's
//! processors: the figures tell what the programs cost, not what a network carries.

mod built;
mod eth;
mod nodes;
mod ours;
pub(super) mod peers;
pub(super) mod read;
pub(super) mod server;
mod uperf;

use std::rc::Rc;

use anyhow::Result;
use seatrial_model::Unit;
use seatrial_stats::Better;

use self::nodes::{Nodes, Way};
use super::{Alone, Area, Figure, Hardware, Row, Taking, Work};
use crate::packages::{self, Package};

pub const NETWORK: Area = Area {
    name: "network",
    about: "net.tcp_stream, net.udp_stream, net.rr and net.pingpong against iperf3, nuttcp, neper, netperf, uperf, sockperf, qperf and NetPIPE",
    packages: PEERS,
    peers: &[&built::NEPER, &built::NETPERF, &uperf::UPERF],
    rows,
    prepare,
    alone: Some(Alone { name: "eth-test", table: eth::alone }),
    machine: Hardware::here,
};

const PEERS: &[Package] = &[
    Package { name: "iperf3", program: "iperf3", reason: "the reference for TCP and UDP streams" },
    Package { name: "nuttcp", program: "nuttcp", reason: "TCP streams in one thread" },
    Package { name: "sockperf", program: "sockperf", reason: "the reference for request and response" },
    Package { name: "qperf", program: "qperf", reason: "mean latency over TCP and UDP" },
    Package { name: "netpipe-tcp", program: "NPtcp", reason: "the method that net.pingpong follows" },
];

/// Seconds that both sides measure in each turn.
const SECONDS: u32 = 2;

/// What segmentation offload should gain over the peer, which has none.
const OFFLOAD_GOAL: f64 = 10.0;

/// What one turn of a stream gave.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stream {
    /// Payload that arrived, in Gbit/s.
    pub rate: f64,
    /// Time on CPUs of both ends, in percent of one CPU, as the program itself counts it.
    pub cpu: f64,
}

impl Stream {
    /// Milliseconds on CPUs, both ends together, for each Gbit that arrived.
    fn cost(self) -> f64 {
        self.cpu * 10.0 / self.rate
    }
}

/// A turn of a stream.
type Turn = Rc<dyn Fn() -> Result<Stream>>;

fn prepare() -> Result<()> {
    packages::require(PEERS)?;
    super::ours::build()
}

fn rows() -> Vec<Row> {
    let nodes = Rc::new(Nodes::new());
    let mut rows = Vec::new();
    for way in [Way::Veth, Way::Loopback] {
        rows.extend(tcp(&nodes, way));
        rows.extend(udp(&nodes, way));
        rows.extend(requests(&nodes, way));
        rows.extend(pingpong(&nodes, way));
    }
    rows
}

fn tcp(nodes: &Rc<Nodes>, way: Way) -> Vec<Row> {
    let mut rows = Vec::new();
    for flows in [1, 2, 4] {
        let words = words(flows);
        for affinity in ["auto", "none"] {
            let name = format!("TCP, {words}, {way}, affinity {affinity} vs iperf3's best");
            let ours = ours::tcp(nodes, way, flows, affinity);
            rows.push(stream(&name, Some(1.0), ours, peers::iperf3_best(nodes, way, flows, affinity)));
        }
        let name = format!("TCP, {words}, {way}, affinity auto vs nuttcp");
        let (ours, peer) = (ours::tcp(nodes, way, flows, "auto"), peers::nuttcp(nodes, way, flows));
        rows.push(stream(&name, Some(1.0), ours, peer));
    }
    for flows in [1, 4] {
        let name = format!("TCP, {}, {way}, affinity auto vs neper", words(flows));
        let (ours, peer) = (ours::tcp(nodes, way, flows, "auto"), built::neper_stream(nodes, way, flows));
        rows.push(rate(&name, ours, peer).unless(|| built::NEPER.hindrance()));
    }
    let name = format!("TCP, 1 flow, {way}, affinity auto vs netperf");
    let (ours, peer) = (ours::tcp(nodes, way, 1, "auto"), built::netperf_stream(nodes, way));
    rows.push(rate(&name, ours, peer).unless(|| built::NETPERF.hindrance()));
    let name = format!("TCP, 1 flow, {way}, affinity auto vs uperf");
    let (ours, peer) = (ours::tcp(nodes, way, 1, "auto"), uperf::stream(nodes, way));
    rows.push(rate(&name, ours, peer).unless(|| uperf::UPERF.hindrance()));
    rows
}

/// The rate alone.
fn rate(name: &str, ours: Turn, peer: Work) -> Row {
    let name = name.to_owned();
    let figure = Figure { name, unit: Unit::GigabitsPerSecond, better: Better::Higher, goal: Some(1.0) };
    Row::one(figure, move || Ok(ours()?.rate), peer)
}

fn words(flows: u32) -> String {
    if flows == 1 { "1 flow".to_owned() } else { format!("{flows} flows") }
}

fn udp(nodes: &Rc<Nodes>, way: Way) -> Vec<Row> {
    let mut rows = Vec::new();
    let gso = match way {
        Way::Veth => "gso (a veth never splits the segments)",
        Way::Loopback => "gso (the loopback never splits the segments)",
    };
    for (offload, label, goal) in [("gso", gso, Some(OFFLOAD_GOAL)), ("plain", "plain", None)] {
        let name = format!("UDP, 1448 B, {way}, {label} vs iperf3 -u -b 0");
        rows.push(stream(&name, goal, ours::udp(nodes, way, offload), peers::iperf3_udp(nodes, way)));
    }
    rows
}

/// The rate, and what it cost. What has a goal for its rate shall cost no more than the peer's, however much faster it is to
/// be.
fn stream(name: &str, goal: Option<f64>, ours: Turn, peer: Turn) -> Row {
    let rate = Figure { name: name.to_owned(), unit: Unit::GigabitsPerSecond, better: Better::Higher, goal };
    let cost = Figure {
        name: format!("{name}, CPU time of both ends for 1 Gbit"),
        unit: Unit::Millisecond,
        better: Better::Lower,
        goal: goal.map(|goal| goal.min(1.0)),
    };
    let both: [Taking<Stream>; 2] = [(rate, |told| told.rate), (cost, |told| told.cost())];
    Row::several(both, move || ours(), move || peer())
}

fn requests(nodes: &Rc<Nodes>, way: Way) -> Vec<Row> {
    let row = |name: String, ours: Work, peer: Work| {
        let figure = Figure { name, unit: Unit::Microsecond, better: Better::Lower, goal: Some(1.0) };
        Row::one(figure, ours, peer)
    };
    let mut rows = Vec::new();
    for protocol in ["tcp", "udp"] {
        for wait in ["block", "spin"] {
            rows.push(row(
                format!("round trip, median, {protocol}, {wait}, {way} vs sockperf"),
                ours::round_trip(nodes, way, protocol, wait),
                peers::sockperf(nodes, way, protocol, wait),
            ));
        }
        rows.push(row(
            format!("round trip, mean, {protocol}, block, {way} vs qperf"),
            ours::mean_round_trip(nodes, way, protocol),
            peers::qperf(nodes, way, protocol),
        ));
    }
    let mean = |peer: &str| format!("round trip, mean, tcp, block, {way} vs {peer}");
    let ours = || ours::mean_round_trip(nodes, way, "tcp");
    let neper = row(mean("neper"), ours(), built::neper_round_trip(nodes, way));
    rows.push(neper.unless(|| built::NEPER.hindrance()));
    let netperf = row(mean("netperf"), ours(), built::netperf_round_trip(nodes, way));
    rows.push(netperf.unless(|| built::NETPERF.hindrance()));
    let uperf = row(mean("uperf"), ours(), uperf::round_trip(nodes, way));
    rows.push(uperf.unless(|| uperf::UPERF.hindrance()));
    rows
}

/// NPtcp reports the best of seven trials of a size; of ours the best of seven parts counts.
fn pingpong(nodes: &Rc<Nodes>, way: Way) -> Vec<Row> {
    let figure = |what: &str, unit, better| Figure {
        name: format!("ping-pong, {what}, best of 7, {way} vs NPtcp"),
        unit,
        better,
        goal: Some(1.0),
    };
    let peak = figure("peak", Unit::GigabitsPerSecond, Better::Higher);
    let small = figure("half round trip below 64 B", Unit::Microsecond, Better::Lower);
    vec![
        Row::one(peak, ours::peak(nodes, way), peers::netpipe_peak(nodes, way)),
        Row::one(small, ours::small(nodes, way), peers::netpipe_small(nodes, way)),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cost_is_that_of_the_turn_whose_rate_was_taken_and_its_goal_is_no_higher_than_the_same() {
        let turn: Turn = Rc::new(|| Ok(Stream { rate: 10.0, cpu: 100.0 }));
        for (goal, of_cost) in [(Some(10.0), Some(1.0)), (Some(0.99), Some(0.99)), (None, None)] {
            let mut row = stream("a stream", goal, Rc::clone(&turn), Rc::clone(&turn));
            assert_eq!([row.figures[0].goal, row.figures[1].goal], [goal, of_cost]);
            // A whole CPU for 10 Gbit/s is 100 ms a Gbit.
            assert_eq!((row.ours)().unwrap(), [10.0, 100.0]);
        }
    }
}
