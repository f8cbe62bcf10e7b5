//! A case on all nodes of a group, with as many parts on each.

use std::collections::HashMap;

use seatrial_model::{
    About, Better, Binding, Bound, Budget, Case, Cause, Kind, ParamSpec, Params, PartPlacement, Quantity,
    Reason, Site, SiteNode, Subject, Value,
};

use crate::Ends;
use crate::affinity::{OFF_IRQ_CORES, SAME_LLC, ThreadPlacement, place_threads};
use crate::interfaces::{INTERFACE, PEER_INTERFACE};
use crate::{core_bindings, link_limits};

const MOST_PER_NODE: u64 = 256;

/// Parts on each node.
pub const PER_NODE: ParamSpec = ParamSpec::new("per_node", Kind::Load(1, MOST_PER_NODE), "1").word(CORES).doc(
    "Parts on each node, each in a process of its own; cores: one for each core, as many as the node with the fewest has.",
);

/// The word for one part, or one thread, a core.
pub const CORES: &str = "cores";

/// `params` with the number of parts that `per_node=cores` means on the nodes of `site`.
///
/// # Errors
/// When no core of a node is known.
pub fn with_parts(params: &Params, site: &Site) -> Result<Params, Reason> {
    with_cores(params, PER_NODE.name, MOST_PER_NODE, site)
}

/// `params` with the number that the word `cores` means for `name` on the nodes of `site`: as many as the node with the fewest
/// cores has, `most` at most.
///
/// # Errors
/// When no core of a node is known.
pub fn with_cores(params: &Params, name: &str, most: u64, site: &Site) -> Result<Params, Reason> {
    let mut params = params.clone();
    if params.text(name) == Ok(CORES) {
        let cores = site.nodes.iter().map(|node| Ok(core_bindings(&node.machine)?.len() as u64));
        let cores: Vec<u64> = cores.collect::<Result<_, Reason>>()?;
        params.set(name, cores.into_iter().min().unwrap_or(1).min(most));
    }
    Ok(params)
}

/// Under what name `chosen` has the number of parts: a part of many gets its own place only.
pub const PARTS: &str = "parts";

/// What is planned on a node of a group.
#[derive(Debug)]
pub struct NodePlan {
    /// Noted in the case where it is the same on all nodes.
    pub planned: Params,
    /// One for each thread of all of its parts, part by part; empty where nobody is pinned.
    pub bindings: Vec<Binding>,
}

/// The case of `about` on all nodes of `site`, with `threads` threads of each part. `place` plans a node, with another
/// that it exchanges data with, for so many parts of so many threads each.
///
/// # Errors
/// When there are fewer than two nodes, or `place` fails.
pub fn group_case(
    about: &About,
    params: &Params,
    site: &Site,
    budget: Budget,
    threads: usize,
    place: impl Fn(&SiteNode, &SiteNode, usize, usize) -> Result<NodePlan, Reason>,
) -> Result<Case, Reason> {
    let nodes = site.nodes.as_slice();
    let [first, _, ..] = nodes else {
        let text = format!("{} needs 2 nodes, {} was given; add nodes with -w or -N", about.id, nodes.len());
        return Err(Reason::new(Cause::Missing, text));
    };
    let per_node = params.count(PER_NODE.name).unwrap_or(1) as usize;
    let parts = nodes.len() * per_node;
    let budget = Budget { connect: Budget::connect_of(parts), ..budget };
    let mut case =
        Case::new(about, &first.name, Subject::device("nodes", &nodes.len().to_string()), params, budget);
    case.nodes = nodes.iter().map(|node| node.name.clone()).collect();
    let mut case = case.in_group(about, about.id);
    let mut ends = Vec::new();
    // Nodes on one kernel have the same cores.
    let mut before: HashMap<&str, usize> = HashMap::new();
    for (at, node) in nodes.iter().enumerate() {
        let earlier = before.entry(kernel_of(node)).or_default();
        let peer = &nodes[(at + 1) % nodes.len()];
        let own = place(node, peer, *earlier + per_node, threads)?;
        for bindings in own.of_parts(*earlier, per_node, threads) {
            let index = u32::try_from(case.places.len()).unwrap_or(u32::MAX);
            case.places.push(PartPlacement::new(about.parts.names()[0], index, &node.name, bindings));
        }
        *earlier += per_node;
        ends.push(own.planned);
    }
    for name in [INTERFACE.name, OFF_IRQ_CORES, SAME_LLC] {
        let told: Option<Vec<&Value>> = ends.iter().map(|planned| planned.get(name)).collect();
        match told.as_deref() {
            Some([one, others @ ..]) if others.iter().all(|other| other == one) => {
                case.planned.set(name, (*one).clone());
            }
            Some(_) if name != INTERFACE.name => case.planned.set(name, Value::Flag(false)),
            _ => {}
        }
    }
    case.planned.set(PARTS, parts as u64);
    case.facts.set("kind", "nodes");
    case.facts.set("nodes", nodes.len() as u64);
    Ok(case)
}

/// What tells the kernel of a node from others: nodes with the same boot id share cores and memory.
pub fn kernel_of(node: &SiteNode) -> &str {
    node.machine.boot_id.known().map_or(&node.name, String::as_str)
}

impl NodePlan {
    /// So many threads near the interface of `node` towards `peer`.
    ///
    /// # Errors
    /// When an interface that is asked for is not there.
    pub fn near_interface(
        params: &Params,
        node: &SiteNode,
        peer: &SiteNode,
        threads: usize,
    ) -> Result<Self, Reason> {
        let pair = Site { nodes: vec![node.clone(), peer.clone()] };
        let ends = Ends::of(&pair, params)?;
        let mut plan = Self::of(place_threads(&ends, &pair, params, threads)?);
        if let Some(interfaces) = ends.interfaces() {
            plan.planned.set(INTERFACE.name, interfaces.first.name.as_str());
        }
        Ok(plan)
    }

    /// The plan of the first of two ends whose threads are placed so.
    pub fn of(placement: ThreadPlacement) -> Self {
        let mut planned = Params::default();
        placement.note(&mut planned);
        let [bindings, _] = placement.bindings;
        Self { planned, bindings }
    }

    /// The bindings of each part, behind those of so many parts of earlier nodes on the same kernel. Where there are fewer cores
    /// than threads, but one for each part, the threads of a part share cores that no other part has.
    fn of_parts(&self, earlier: usize, parts: usize, threads: usize) -> Vec<Vec<Binding>> {
        let mut cores: Vec<Binding> = Vec::new();
        for binding in &self.bindings {
            if !cores.iter().any(|known| known.cpu == binding.cpu) {
                cores.push(*binding);
            }
        }
        let all = earlier + parts;
        let of = |part: usize| match cores.len() {
            count if count >= all && count < all * threads => {
                let own = &cores[part * count / all..(part + 1) * count / all];
                own.iter().cycle().take(threads).copied().collect()
            }
            _ => self.bindings.iter().skip(part * threads).take(threads).copied().collect(),
        };
        (earlier..all).map(of).collect()
    }
}

/// What the interface of each node lets out of TCP's payload: those of all nodes together, and that of the slowest.
///
/// # Errors
/// Why that is not known of a node.
pub fn send_limits(case: &Case, site: &Site) -> Result<(Bound, Bound), String> {
    let Ok(interface) = case.planned.text(INTERFACE.name) else {
        return Err(
            "the nodes do not tell one interface that all of them use; name it with -p interface=".to_owned()
        );
    };
    sum_of_nodes(case, |own| send_limit(own, site, interface))
}

/// What this interface of a node lets out of TCP's payload; the formula does not name the node. `own` is a case between the node
/// and another like it.
///
/// # Errors
/// Why that is not known.
pub fn send_limit(own: &mut Case, site: &Site, interface: &str) -> Result<Bound, String> {
    own.planned.set(INTERFACE.name, interface);
    own.planned.set(PEER_INTERFACE.name, interface);
    let bounds = link_limits::tcp(own, site)?;
    let tightest = Bound::tightest(&bounds, Better::Higher);
    let bound = tightest.ok_or_else(|| format!("nothing bounds {interface}"))?;
    let formula = bound.formula.split_once(": ").map_or(bound.formula.as_str(), |(_, formula)| formula);
    Ok(Bound { formula: formula.to_owned(), ..bound.clone() })
}

/// The bounds of all nodes together, and that of the slowest. `bound_of` tells that of a node from a case between the node
/// and another like it; the formula does not name the node.
///
/// # Errors
/// Why that of a node is not known.
pub fn sum_of_nodes(
    case: &Case,
    bound_of: impl Fn(&mut Case) -> Result<Bound, String>,
) -> Result<(Bound, Bound), String> {
    // Nodes of one kind have the same bound, and the formula names it once.
    let mut kinds: Vec<(Bound, usize)> = Vec::new();
    for (index, name) in (0..).zip(&case.nodes) {
        let place = PartPlacement::new("", index, name, Vec::new());
        let mut own = Case { nodes: vec![name.clone(); 2], ..case.for_part(&place) };
        own.places = vec![place];
        let bound = bound_of(&mut own).map_err(|why| format!("{name}: {why}"))?;
        match kinds.iter_mut().find(|(known, _)| *known == bound) {
            Some((_, count)) => *count += 1,
            None => kinds.push((bound, 1)),
        }
    }
    let all: Vec<Bound> = kinds.iter().map(|(bound, count)| times(bound, *count)).collect();
    let slowest = Bound::tightest(kinds.iter().map(|(bound, _)| bound), Better::Higher);
    Ok((Bound::sum(&all)?, slowest.cloned().ok_or("the case has no node")?))
}

fn times(bound: &Bound, count: usize) -> Bound {
    let times = |value: Quantity| {
        Quantity::new(value.value() * count as f64, value.unit()).expect("a finite number times a count")
    };
    Bound {
        value: times(bound.value),
        formula: format!("{count} nodes x {}", bound.formula),
        provenance: bound.provenance.clone(),
        nominal: bound.nominal.map(times),
    }
}
