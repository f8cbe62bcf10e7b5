//! `versus network`: TCP, UDP, request and response, and ping-pong against the usual tools.
//!
//! Every row runs between two nodes of a lab (veth, frames of 9000 bytes) and over the loopback of one of them. Both sides
//! have the same number of flows, the same time and the same congestion control, which routes of the nodes name,
//! because nuttcp and NPtcp have no option for it. A link of the lab is a memory copy, and both ends share the machine's
//! processors: the figures tell what the programs cost, not what a network carries.

mod eth;
mod nodes;
mod ours;
mod peers;
pub(super) mod read;
pub(super) mod server;

use std::cell::RefCell;
use std::collections::VecDeque;
use std::rc::Rc;

use anyhow::Result;
use seatrial_model::Unit;
use seatrial_stats::Better;

use self::nodes::{Nodes, Way};
use super::{Alone, Area, Row, Work};
use crate::packages::{self, Package};
use crate::workspace;

/// The area.
pub const NETWORK: Area = Area {
    name: "network",
    about: "net.tcp_stream, net.udp_stream, net.rr and net.pingpong against iperf3, nuttcp, sockperf, qperf and NetPIPE",
    packages: PEERS,
    rows,
    alone: Some(Alone { name: "eth-test", table: eth::alone }),
};

/// netperf would belong here, but its licence keeps it out of Debian's main archive.
const PEERS: &[Package] = &[
    Package { name: "iperf3", program: "iperf3", reason: "the reference for TCP and UDP streams" },
    Package { name: "nuttcp", program: "nuttcp", reason: "TCP streams in one thread" },
    Package { name: "sockperf", program: "sockperf", reason: "the reference for request and response" },
    Package { name: "qperf", program: "qperf", reason: "mean latency over TCP and UDP" },
    Package { name: "netpipe-tcp", program: "NPtcp", reason: "the method that net.pingpong follows" },
];

/// Seconds that both sides measure in each turn.
const SECONDS: u32 = 2;

/// For rows that show both figures side by side and ask for nothing.
const NO_GOAL: f64 = 0.0;

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

/// A turn of a stream, which two rows share.
type Turn = Rc<dyn Fn() -> Result<Stream>>;

fn rows() -> Result<Vec<Row>> {
    packages::require(PEERS)?;
    workspace::run(&mut workspace::cargo(["build", "--release", "--locked", "--package", "seatrial"]))?;
    let nodes = Rc::new(Nodes::new());
    let mut rows = Vec::new();
    for way in [Way::Veth, Way::Loopback] {
        rows.extend(tcp(&nodes, way));
        rows.extend(udp(&nodes, way));
        rows.extend(requests(&nodes, way));
        rows.extend(pingpong(&nodes, way));
    }
    Ok(rows)
}

fn tcp(nodes: &Rc<Nodes>, way: Way) -> Vec<Row> {
    let mut rows = Vec::new();
    for flows in [1, 2, 4] {
        let plural = if flows == 1 { "flow" } else { "flows" };
        let iperf3 = peers::iperf3_best(nodes, way, flows);
        for affinity in ["auto", "none"] {
            let name = format!("TCP, {flows} {plural}, {way}, affinity {affinity} vs iperf3's best");
            rows.extend(streams(&name, 1.0, ours::tcp(nodes, way, flows, affinity), Rc::clone(&iperf3)));
        }
        let name = format!("TCP, {flows} {plural}, {way}, affinity auto vs nuttcp");
        rows.extend(streams(
            &name,
            1.0,
            ours::tcp(nodes, way, flows, "auto"),
            peers::nuttcp(nodes, way, flows),
        ));
    }
    rows
}

fn udp(nodes: &Rc<Nodes>, way: Way) -> Vec<Row> {
    let mut rows = Vec::new();
    let gso = match way {
        Way::Veth => "gso (a veth never splits the segments)",
        Way::Loopback => "gso (the loopback never splits the segments)",
    };
    for (offload, label, goal) in [("gso", gso, OFFLOAD_GOAL), ("plain", "plain", NO_GOAL)] {
        let name = format!("UDP, 1448 B, {way}, {label} vs iperf3 -u -b 0");
        rows.extend(streams(&name, goal, ours::udp(nodes, way, offload), peers::iperf3_udp(nodes, way)));
    }
    rows
}

/// A row for the rate and one for the cost, of the same turns.
fn streams(name: &str, goal: f64, ours: Turn, peer: Turn) -> [Row; 2] {
    let (ours, ours_cost) = shared(ours);
    let (peer, peer_cost) = shared(peer);
    let rate = Row {
        name: name.to_owned(),
        unit: Unit::GigabitsPerSecond,
        better: Better::Higher,
        goal,
        ours,
        peer,
    };
    let cost = Row {
        name: format!("{name}, CPU time of both ends for 1 Gbit"),
        unit: Unit::Millisecond,
        better: Better::Lower,
        goal: if goal > 1.0 { 1.0 } else { goal },
        ours: ours_cost,
        peer: peer_cost,
    };
    [rate, cost]
}

/// The rate of a turn, and its cost: the second takes the turns that the first has made, in their order, and makes its own
/// only when there are none left.
fn shared(turn: Turn) -> (Work, Work) {
    let made: Rc<RefCell<VecDeque<f64>>> = Rc::default();
    let (kept, again) = (Rc::clone(&made), Rc::clone(&turn));
    let rate: Work = Box::new(move || {
        let stream = turn()?;
        kept.borrow_mut().push_back(stream.cost());
        Ok(stream.rate)
    });
    let cost: Work = Box::new(move || {
        let before = made.borrow_mut().pop_front();
        before.map_or_else(|| again().map(Stream::cost), Ok)
    });
    (rate, cost)
}

fn requests(nodes: &Rc<Nodes>, way: Way) -> Vec<Row> {
    let row = |name: String, ours: Work, peer: Work| Row {
        name,
        unit: Unit::Microsecond,
        better: Better::Lower,
        goal: 1.0,
        ours,
        peer,
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
    rows
}

/// NPtcp reports the best of seven trials, ours the median: nothing is asked for.
fn pingpong(nodes: &Rc<Nodes>, way: Way) -> Vec<Row> {
    vec![
        Row {
            name: format!("ping-pong, peak, {way} vs NPtcp (best of its 7 trials)"),
            unit: Unit::GigabitsPerSecond,
            better: Better::Higher,
            goal: NO_GOAL,
            ours: ours::peak(nodes, way),
            peer: peers::netpipe_peak(nodes, way),
        },
        Row {
            name: format!("ping-pong, half round trip below 64 B, {way} vs NPtcp (best of its 7 trials)"),
            unit: Unit::Microsecond,
            better: Better::Lower,
            goal: NO_GOAL,
            ours: ours::small(nodes, way),
            peer: peers::netpipe_small(nodes, way),
        },
    ]
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    #[test]
    fn the_cost_is_that_of_the_turns_whose_rate_was_taken_and_then_of_new_ones() {
        let count = Rc::new(Cell::new(0.0));
        let counted = Rc::clone(&count);
        let turn: Turn = Rc::new(move || {
            counted.set(counted.get() + 1.0);
            Ok(Stream { rate: 10.0, cpu: 100.0 * counted.get() })
        });
        let (mut rate, mut cost) = shared(turn);
        assert_eq!([rate().unwrap(), rate().unwrap()], [10.0, 10.0]);
        // A whole CPU for 10 Gbit/s is 100 ms a Gbit.
        assert_eq!([cost().unwrap(), cost().unwrap()], [100.0, 200.0]);
        assert_eq!(count.get(), 2.0);
        assert_eq!(cost().unwrap(), 300.0);
    }
}
