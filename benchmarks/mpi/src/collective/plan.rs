//! One case a node: its ranks, where they run, and the memory of their buffers.

use seatrial_bench::{core_bindings, each_node, room};
use seatrial_model::{
    About, Bytes, Case, Cause, Limit, Limits, Nanos, Params, Reason, Site, SiteNode, Value,
};

use super::config::{Collective, ELEMENT, ROOT, sizes};
use crate::ranks::case_of_ranks;

/// Divisor of the available memory for all buffers together.
const SHARE: u64 = 2;

pub fn plan(about: &About, params: &Params, site: &Site) -> Result<Vec<Case>, Reason> {
    each_node(site, |node| Ok(vec![case(about, params, node)?]))
}

fn case(about: &About, params: &Params, node: &SiteNode) -> Result<Case, Reason> {
    let op = Collective::of(params)?;
    let ranks = match params.get("ranks") {
        Some(Value::Count(ranks)) => *ranks,
        _ => core_bindings(&node.machine)?.len().max(2) as u64,
    };
    let largest = sizes(op, params, ranks)?.last().copied().unwrap_or(0);
    let elements = (largest / ELEMENT) as usize;
    let bytes = |rank: usize| {
        let buffers = op.buffers(elements, ranks as usize, rank);
        ELEMENT * (buffers.out + buffers.into) as u64
    };
    let all = bytes(ROOT) + (ranks - 1) * bytes(ROOT + 1);
    if room(&node.machine).is_some_and(|room| all > room / SHARE) {
        let text = format!(
            "op={} with {ranks} ranks and a size of {} needs {} for its buffers, more than half of the available memory; lower \
             ranks= or size=",
            params.text("op")?,
            Bytes(largest).rounded(),
            Bytes(all).rounded()
        );
        return Err(Reason::new(Cause::NoSpace, text));
    }
    let (mut case, _) = case_of_ranks(about, params, node, ranks)?;
    // Contents are written and compared at a gigabyte a second at least.
    case.budget.overhead = case.budget.overhead.plus(Nanos(2 * bytes(ROOT)));
    Ok(case)
}

pub fn limits(about: &About, _: &Case, _: &Site) -> Limits {
    about.limits(|_| {
        Limit::unknown(
            "the algorithm that the library chooses decides how often data is copied, and no hardware fact bounds that; compare \
             with other nodes",
        )
    })
}
