//! One part: a queue pair with each peer, one registered region with a slice for each flow, and threads that write.

use std::sync::Arc;
use std::thread;
use std::time::Duration;

use seatrial_bench::all_to_all::{self, Exchange, LapTeam, OBEYED_WITHIN, THREADS};
use seatrial_bench::group::{PARTS, PER_NODE};
use seatrial_bench::verbs::endpoint::{pages_of, pin};
use seatrial_bench::verbs::params::DEPTH;
use seatrial_bench::verbs::{ConnectionInfo, RdmaConfig, RdmaEndpoint, first_cause};
use seatrial_bench::{Offer, Prepared, Running, Sink, Stop, ThreadSpec, ThreadTeam};
use seatrial_model::{Case, Cause, Integrity, PartPlacement, Phase, Reason};
use serde_json::json;

use super::plan::QUEUE_PAIRS;
use super::sender::Sender;
use super::{COUNTED, METHOD, ports};
use crate::bandwidth::{check, passes};

/// Time that data goes on after a part has measured: parts that began later still find all flows. The starts are a few
/// milliseconds apart.
const TAIL: Duration = Duration::from_millis(100);

pub fn prepare(case: &Case, place: &PartPlacement) -> Result<Prepared, Reason> {
    let part = MeshConfig::of(case, place)?;
    pin(&part.port, 0)?;
    let mut endpoint = RdmaEndpoint::open(&part.port, &pages_of(&case.params)?)?;
    let (targets, sources) = (part.exchange.targets(place.index), part.exchange.sources(place.index));
    for (pair, peer) in endpoint.pairs.iter_mut().zip(&part.peers) {
        pair.far.is_target = targets.contains(peer);
        pair.far.is_source = sources.contains(peer);
    }
    endpoint.poison_in()?;
    passes::fill(&endpoint, passes::FIRST, endpoint.layout.slots)?;
    let (info, peers) = (endpoint.connection_info(), part.peers.clone());
    Ok(Prepared::new(place, info, move |offers| Mesh::connect(&part, endpoint, offers))?.with_peers(peers))
}

struct MeshConfig {
    port: RdmaConfig,
    exchange: Exchange,
    index: u32,
    per_node: u32,
    /// In the order of the queue pairs.
    peers: Vec<u32>,
    slice_ns: u64,
}

impl MeshConfig {
    fn of(case: &Case, place: &PartPlacement) -> Result<Self, Reason> {
        let (index, per_node) = (place.index, case.params.count(PER_NODE.name)? as u32);
        let exchange = Exchange::of(&case.params, case.planned.count(PARTS)? as u32)?;
        let missing = || Reason::new(Cause::Protocol, "the case carries no port");
        let label = ports::of_part(&case.planned, index, per_node).ok_or_else(missing)?;
        let mut port = RdmaConfig::of_port(METHOD, case, index, label, place.bindings.clone())?;
        port.queue_pairs = case.planned.count(QUEUE_PAIRS)? as usize;
        port.threads = case.planned.count(THREADS)? as usize;
        port.depth = case.planned.count(DEPTH.name)? as usize;
        // Writes take none.
        port.receives = 1;
        let (peers, slice_ns) = (exchange.peers(index), all_to_all::slice_ns(case));
        Ok(Self { port, exchange, index, per_node, peers, slice_ns })
    }

    fn name(&self, part: u32, node: &str) -> String {
        if self.per_node > 1 { format!("part {part} on {node}") } else { node.to_owned() }
    }
}

/// A connected part.
struct Mesh {
    // Dropped before the endpoint, so that its threads end before the queue pairs.
    team: LapTeam<Sender>,
    endpoint: Arc<RdmaEndpoint>,
}

impl Mesh {
    fn connect(part: &MeshConfig, mut endpoint: RdmaEndpoint, offers: &[Offer]) -> Result<Self, Reason> {
        for (number, peer) in part.peers.iter().enumerate() {
            let (info, node): (ConnectionInfo, _) = Offer::of_part(offers, *peer)?;
            let far = part.exchange.peers(*peer).iter().position(|other| *other == part.index);
            let far = far.ok_or_else(|| Reason::new(Cause::Protocol, "an exchange that one side knows"))?;
            endpoint.pairs[number].far.peer = Some(part.name(*peer, node));
            endpoint.connect_with(number, &info, far, part.index < *peer)?;
        }
        let (endpoint, slice_ns) = (Arc::new(endpoint), part.slice_ns);
        let threads = (0..part.port.threads).map(|thread| {
            let spec = ThreadSpec::new(format!("send-{thread}"), part.port.cpu(thread));
            let endpoint = Arc::clone(&endpoint);
            (spec, move || Sender::new(endpoint, thread, slice_ns))
        });
        let team = ThreadTeam::start(threads.collect::<Vec<_>>(), "-p threads=")?;
        Ok(Self { team: LapTeam::new(team, Sender::lap), endpoint })
    }

    fn measure(&mut self, stop: &Stop, out: &mut dyn Sink) -> Result<(), Reason> {
        all_to_all::put(COUNTED, &self.team.measure(stop)?, out);
        out.evidence("device", json!(self.endpoint.facts));
        thread::sleep(TAIL);
        self.team.end(OBEYED_WITHIN, Sender::finish)?;
        passes::fill(&self.endpoint, passes::LAST, self.endpoint.layout.last_slots())?;
        self.team.end(OBEYED_WITHIN, Sender::once).map(drop)
    }
}

impl Running for Mesh {
    fn run(&mut self, phase: Phase, stop: &Stop, out: &mut dyn Sink) -> Result<(), Reason> {
        let done = match phase {
            Phase::Measure => self.measure(stop, out),
            _ => self.team.warm_up(stop),
        };
        done.map_err(|error| first_cause(vec![error], || self.team.failure()).expect("there is one"))
    }

    fn verify(&mut self) -> Result<Integrity, Reason> {
        check::came(&self.endpoint)
    }
}
