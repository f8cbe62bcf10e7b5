//! The case of a job: its nodes and ranks, the cores that ranks run on, and the time that they get.

use std::collections::HashMap;
use std::time::Duration;

use seatrial_bench::group::{NodePlan, group_case, kernel_of};
use seatrial_bench::interfaces::INTERFACE;
use seatrial_bench::{budget, core_bindings, worker_case};
use seatrial_model::{
    About, Budget, Case, Cause, Finding, Nanos, Params, PartPlacement, Reason, Severity, Site, SiteNode,
    Subject,
};

use crate::network::note_network;

/// Time to find and load the library and to start the ranks, and again to check the data and end them; that of each rank.
const PREPARE: Nanos = Nanos::secs(60);
const OF_A_RANK: Nanos = Nanos::millis(50);

/// What the iterations of OSU's benchmarks may take, and what they usually take.
const OSU_MOST: Nanos = Nanos::secs(120);
const OSU_USUAL: Nanos = Nanos::secs(5);

/// Sizes up to this count as small in OSU's benchmarks (LARGE_MESSAGE_SIZE of osu_util.h).
pub const OSU_SMALL: u64 = 8192;

/// Ranks of a job at most.
pub const MOST_RANKS: u64 = 4096;

/// Under what name `planned` has the number of ranks.
pub const RANKS: &str = "ranks";

/// The parameter that says how many of them each node has.
pub const PER_NODE: &str = "ranks_per_node";

pub fn is_like_osu(params: &Params) -> bool {
    params.text("like") == Ok("osu")
}

/// Time that the part gives its ranks before the supervisor ends the part.
pub fn patience(case: &Case) -> Duration {
    Duration::from_nanos(case.budget.prepare.get() / 6 * 5)
}

/// Ranks of the job, `fewest` at least and as many on each node: those that `ranks` and `ranks_per_node` ask for, and without
/// either `auto` on each.
pub fn count_ranks(
    params: &Params,
    site: &Site,
    fewest: u64,
    auto: impl FnOnce() -> Result<u64, Reason>,
) -> Result<u64, Reason> {
    let nodes = site.nodes.len() as u64;
    let contradiction = |text: String| Err(Reason::new(Cause::Contradiction, text));
    let ranks = match (params.count(RANKS), params.count(PER_NODE)) {
        (Ok(ranks), Ok(of_node)) if ranks != nodes * of_node => {
            return contradiction(format!(
                "ranks={ranks}: ranks_per_node={of_node} on {nodes} nodes makes {} ranks; leave one of the two out",
                nodes * of_node
            ));
        }
        (Ok(ranks), _) if ranks % nodes != 0 => {
            return contradiction(format!(
                "ranks={ranks}: each of the {nodes} nodes gets as many; set a multiple of {nodes}, or ranks_per_node="
            ));
        }
        (Ok(ranks), _) => ranks,
        (Err(_), Ok(of_node)) => nodes * of_node,
        (Err(_), Err(_)) => nodes * auto()?,
    };
    if !(fewest..=MOST_RANKS).contains(&ranks) {
        return contradiction(format!("{ranks} ranks on {nodes} nodes: a job has {fewest} to {MOST_RANKS}"));
    }
    Ok(ranks)
}

/// The number of ranks on each node of `case`.
pub fn per_node(case: &Case) -> Result<u64, Reason> {
    Ok(case.planned.count(RANKS)? / case.nodes.len().max(1) as u64)
}

/// The part on the node of `rank`.
pub fn place_of(case: &Case, rank: u64) -> Option<&PartPlacement> {
    case.places.get((rank / per_node(case).ok()?.max(1)) as usize)
}

/// The CPU that `rank` is pinned to.
pub fn cpu_of(case: &Case, rank: u64) -> Option<u32> {
    place_of(case, rank)?.cpu((rank % per_node(case).ok()?.max(1)) as usize)
}

/// Ranks on each node of `site` for one pair.
pub fn pair_ranks(site: &Site) -> u64 {
    if site.nodes.len() == 1 { 2 } else { 1 }
}

/// The fewest cores that a node of `site` has.
pub fn fewest_cores(site: &Site) -> Result<u64, Reason> {
    let cores = site.nodes.iter().map(|node| Ok(core_bindings(&node.machine)?.len() as u64));
    Ok(cores.collect::<Result<Vec<u64>, Reason>>()?.into_iter().min().unwrap_or(0))
}

/// The CPUs that so many ranks of a node use, for what bounds their memory.
pub fn used_cpus(node: &SiteNode, ranks: u64) -> Result<Vec<u32>, Reason> {
    Ok(core_bindings(&node.machine)?.iter().map(|core| core.cpu).take(ranks as usize).collect())
}

/// A case of so many ranks on the nodes of `site`, each on a core of its own; where there are too few cores, none is pinned.
pub fn case_of_ranks(about: &About, params: &Params, site: &Site, ranks: u64) -> Result<Case, Reason> {
    let crowded = crowded(site, ranks)?;
    let mut case = match site.nodes.as_slice() {
        [] => return Err(Reason::new(Cause::Inapplicable, "there is no node to measure on")),
        [_] if params.text(INTERFACE.name).is_ok_and(|name| name != "auto") => {
            let text = "interface= is for jobs over several nodes; name them with -w or -N, or leave it out";
            return Err(Reason::new(Cause::Contradiction, text));
        }
        [node] => {
            let cores = core_bindings(&node.machine)?;
            let bindings = if crowded.is_none() { cores[..ranks as usize].to_vec() } else { Vec::new() };
            let mut case = worker_case(about, params, node, bindings)?;
            case.facts.set("kind", "node");
            case
        }
        nodes => {
            let of_node = ranks as usize / nodes.len();
            let place = |node: &SiteNode, peer: &SiteNode, parts: usize, of_part: usize| {
                let mut plan = NodePlan::near_interface(params, node, peer, parts * of_part)?;
                if crowded.is_some() {
                    plan.bindings.clear();
                }
                Ok(plan)
            };
            let mut case = group_case(about, params, site, budget(params)?, of_node, place)?;
            note_network(&mut case, site);
            case
        }
    };
    case.planned.set(RANKS, ranks);
    case.planned.set(PER_NODE, ranks / site.nodes.len() as u64);
    if let Some((ranks, cores)) = crowded {
        let text = format!(
            "{ranks} ranks on {cores} cores: ranks take turns on the cores and are not pinned, so times contain those of the \
             scheduler"
        );
        case.findings.push(Finding::new("oversubscribed", Severity::Warning, Subject::node(), text));
    }
    set_budget(&mut case.budget, ranks, site.nodes.len(), is_like_osu(params));
    Ok(case)
}

fn set_budget(budget: &mut Budget, ranks: u64, nodes: usize, like_osu: bool) {
    budget.prepare = PREPARE.plus(Nanos(OF_A_RANK.get() * ranks));
    budget.overhead = Nanos::secs(1).plus(Nanos(OF_A_RANK.get() * ranks));
    if nodes > 1 {
        // The job starts when the parts are connected.
        budget.connect = budget.connect.plus(budget.prepare);
    }
    if like_osu {
        budget.measure = OSU_MOST;
        budget.slack = Nanos(OSU_MOST.get() - OSU_USUAL.get());
    }
}

/// The ranks and cores of a machine that has more ranks than cores; nodes on one kernel share its cores.
fn crowded(site: &Site, ranks: u64) -> Result<Option<(u64, usize)>, Reason> {
    let of_node = ranks / site.nodes.len().max(1) as u64;
    let mut kernels: HashMap<&str, (u64, usize)> = HashMap::new();
    for node in &site.nodes {
        let cores = core_bindings(&node.machine)?.len();
        let (ranks, fewest) = kernels.entry(kernel_of(node)).or_insert((0, cores));
        (*ranks, *fewest) = (*ranks + of_node, cores.min(*fewest));
    }
    Ok(kernels.into_values().filter(|(ranks, cores)| *ranks > *cores as u64).max())
}
