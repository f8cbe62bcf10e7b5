//! A case over all nodes for each port, what it takes of them, and what the ports let through.

use std::collections::BTreeMap;

use seatrial_bench::affinity::place_threads_over;
use seatrial_bench::all_to_all::{self, TeamSize};
use seatrial_bench::group::{NodePlan, PER_NODE, kernel_of, sum_of_nodes, with_parts};
use seatrial_bench::verbs::params::{DEPTH, SIZE};
use seatrial_bench::verbs::{End, Layout, PEER_PORT, PORT, one_way, require_room_on, time_to_fill};
use seatrial_bench::{Ends, all_to_all::Exchange};
use seatrial_model::machine::Nic;
use seatrial_model::{
    About, Better, Bound, Bytes, Case, Cause, Limits, Params, Reason, Site, SiteNode, Subject,
};

use super::{METHOD, ports};

/// A thread that polls keeps many queue pairs full; only small messages need more threads.
const TEAM: TeamSize = TeamSize { flows_of_thread: 64, teams: 1 };

/// Outstanding messages of a flow with `depth=auto`: 1 MiB of the default size, twice what 400 Gbit/s carry in 10 us.
const AUTO_DEPTH: u64 = 16;

/// Bytes of all outstanding messages of a part with `depth=auto`: they have arrived within a second over any network of
/// 1 Gbit/s and more.
const MOST_OUTSTANDING: u64 = 64 << 20;

/// Under what name the case has the queue pairs of each part.
pub const QUEUE_PAIRS: &str = "queue_pairs";

/// Under what name the case has the registered memory of each part.
const REGISTERED: &str = "registered";

pub fn plan(about: &About, params: &Params, site: &Site) -> Result<Vec<Case>, Reason> {
    let params = with_parts(params, site)?;
    let cases = ports::choose(&params, site)?;
    cases.iter().map(|nodes| case(about, &params, site, nodes)).collect()
}

/// The case over these ports of each node.
fn case(about: &About, params: &Params, site: &Site, nodes: &[Vec<End<'_>>]) -> Result<Case, Reason> {
    let (per_node, ports) = (params.count(PER_NODE.name)?, nodes[0].len() as u64);
    if per_node % ports > 0 {
        let text = format!(
            "device={} has {ports} ports, of which each part of a node takes one: set -p per_node={ports}, or a multiple",
            ports::list(&nodes[0])
        );
        return Err(Reason::new(Cause::Contradiction, text));
    }
    let mut case = all_to_all::case(about, params, site, TEAM, |node, peer, parts, threads| {
        place(params, nodes, [node, peer], parts, threads)
    })?;
    case.subject = Subject::device("hca", &ports::list(&nodes[0]));
    let mut case = case.in_group(about, about.id);
    // Facts are those of one port, by which profiles select it: several together are none that they mean.
    if let [port] = nodes[0].as_slice() {
        case.facts = port.hca.facts(port.port);
    }
    ports::note(&mut case.planned, nodes);
    let parts = u32::try_from(case.places.len()).unwrap_or(u32::MAX);
    let exchange = Exchange::of(params, parts)?;
    let queue_pairs = exchange.peers(0).len() as u64;
    let size = params.bytes(SIZE.name)?.map_or(1, Bytes::get);
    let outstanding = MOST_OUTSTANDING / (exchange.flows() as u64 * size).max(1);
    let depth = params.count(DEPTH.name).unwrap_or(outstanding.clamp(1, AUTO_DEPTH));
    let registered = Layout::new(queue_pairs, size, 0, 0).bytes();
    let mut of_kernels: BTreeMap<&str, (u64, &SiteNode)> = BTreeMap::new();
    for node in &site.nodes {
        // Beside its region a part registers one message, for the figure of how long that takes.
        of_kernels.entry(kernel_of(node)).or_insert((0, node)).0 += per_node * (registered + size);
    }
    let lower = "size= or per_node=, or set shift=";
    of_kernels.values().try_for_each(|(bytes, node)| require_room_on(*bytes, node, lower))?;
    case.budget.prepare = case.budget.prepare.plus(time_to_fill(registered));
    case.planned.set(DEPTH.name, depth);
    case.planned.set(QUEUE_PAIRS, queue_pairs);
    case.planned.set(REGISTERED, Bytes(registered));
    Ok(case)
}

/// The threads of the parts of a node, each near the port of its part.
fn place(
    params: &Params,
    nodes: &[Vec<End<'_>>],
    [node, peer]: [&SiteNode; 2],
    parts: usize,
    threads: usize,
) -> Result<NodePlan, Reason> {
    let nics = |node: &SiteNode| -> Vec<Nic> {
        let own = nodes.iter().find(|ports| ports[0].node.name == node.name);
        own.into_iter().flatten().map(End::nic).collect()
    };
    let (own, others) = (nics(node), nics(peer));
    let paths: Vec<[Option<&Nic>; 2]> =
        own.iter().zip(&others).map(|(own, other)| [Some(own), Some(other)]).collect();
    let path_of: Vec<usize> = (0..parts * threads).map(|thread| thread / threads % paths.len()).collect();
    let pair = Site { nodes: vec![node.clone(), peer.clone()] };
    let ends = Ends::of(&pair, params)?;
    Ok(NodePlan::of(place_threads_over(&ends, &pair, params, &paths, &path_of)?))
}

pub fn limits(about: &About, case: &Case, site: &Site) -> Limits {
    let size = case.params.bytes(SIZE.name).ok().flatten().map_or(1, Bytes::get);
    let of_node = |own: &mut Case| -> Result<Bound, String> {
        let (name, node) = (own.nodes[0].clone(), own.places[0].index as usize);
        let list = ports::of_node(&case.planned, node).ok_or("the case has no port")?;
        own.planned.set(PORT, list);
        own.planned.set(PEER_PORT, list);
        let bounds = one_way(METHOD.verb, size, own, site)?;
        let bound = Bound::tightest(&bounds, Better::Higher).ok_or("nothing bounds its ports")?;
        let formula = bound.formula.replace(&format!("{name}/"), "");
        Ok(Bound { formula, ..bound.clone() })
    };
    all_to_all::limits(about, case, sum_of_nodes(case, of_node))
}
