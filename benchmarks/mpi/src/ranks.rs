//! The case of a job on one node: its ranks, the cores that they run on, and the time that they get.

use std::time::Duration;

use seatrial_bench::{core_bindings, worker_case};
use seatrial_model::{About, Case, Finding, Nanos, Params, Reason, Severity, SiteNode, Subject};

/// Time to find and load the library and to start the ranks, and again to check the data and end them; that of each rank.
const PREPARE: Nanos = Nanos::secs(60);
const OF_A_RANK: Nanos = Nanos::millis(50);

/// What the iterations of OSU's benchmarks may take, and what they usually take.
const OSU_MOST: Nanos = Nanos::secs(120);
const OSU_USUAL: Nanos = Nanos::secs(5);

/// Sizes up to this count as small in OSU's benchmarks (LARGE_MESSAGE_SIZE of osu_util.h).
pub const OSU_SMALL: u64 = 8192;

/// Under what name `planned` has the number of ranks.
pub const RANKS: &str = "ranks";

pub fn is_like_osu(params: &Params) -> bool {
    params.text("like") == Ok("osu")
}

/// Time that the part gives its ranks before the supervisor ends the part.
pub fn patience(case: &Case) -> Duration {
    Duration::from_nanos(case.budget.prepare.get() / 6 * 5)
}

/// A case of so many ranks on a node, each on a core of its own; where there are too few cores, none is pinned. Returned
/// with the CPUs that the ranks use.
pub fn case_of_ranks(
    about: &About,
    params: &Params,
    node: &SiteNode,
    ranks: u64,
) -> Result<(Case, Vec<u32>), Reason> {
    let cores = core_bindings(&node.machine)?;
    let is_pinned = ranks as usize <= cores.len();
    let count = cores.len();
    let used: Vec<u32> = cores.iter().map(|core| core.cpu).take(ranks as usize).collect();
    let bindings = if is_pinned { cores[..ranks as usize].to_vec() } else { Vec::new() };
    let mut case = worker_case(about, params, node, bindings)?;
    case.planned.set(RANKS, ranks);
    case.facts.set("kind", "node");
    if !is_pinned {
        let text = format!(
            "{ranks} ranks on {count} cores: ranks take turns on the cores and are not pinned, so times contain those of the \
             scheduler"
        );
        case.findings.push(Finding::new("oversubscribed", Severity::Warning, Subject::node(), text));
    }
    let budget = &mut case.budget;
    budget.prepare = PREPARE.plus(Nanos(OF_A_RANK.get() * ranks));
    budget.overhead = Nanos::secs(1).plus(Nanos(OF_A_RANK.get() * ranks));
    if is_like_osu(params) {
        budget.measure = OSU_MOST;
        budget.slack = Nanos(OSU_MOST.get() - OSU_USUAL.get());
    }
    Ok((case, used))
}
