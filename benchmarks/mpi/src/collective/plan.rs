//! One case of all nodes: its ranks, where they run, and the memory of their buffers.

use seatrial_bench::room;
use seatrial_model::{
    About, Bound, Bytes, Case, Cause, Limit, Limits, Nanos, Params, Quantity, Reason, Site, Unit,
};
use seatrial_mpi_job::ranks::{case_of_ranks, count_ranks, fewest_cores};

use super::config::{Collective, ELEMENT, ROOT, sizes};

/// Divisor of the available memory for all buffers together.
const SHARE: u64 = 2;

pub fn plan(about: &About, params: &Params, site: &Site) -> Result<Vec<Case>, Reason> {
    Ok(vec![case(about, params, site)?])
}

fn case(about: &About, params: &Params, site: &Site) -> Result<Case, Reason> {
    let op = Collective::of(params)?;
    let nodes = site.nodes.len() as u64;
    let ranks = count_ranks(params, site, 2, || Ok(fewest_cores(site)?.max(if nodes == 1 { 2 } else { 1 })))?;
    let largest = sizes(op, params, ranks)?.last().copied().unwrap_or(0);
    let elements = (largest / ELEMENT) as usize;
    let bytes = |rank: usize| {
        let buffers = op.buffers(elements, ranks as usize, rank);
        ELEMENT * (buffers.out + buffers.into) as u64
    };
    // The node of the root needs the most.
    let all = bytes(ROOT) + (ranks / nodes.max(1)).saturating_sub(1) * bytes(ROOT + 1);
    let room = site.nodes.iter().filter_map(|node| room(&node.machine)).min();
    if room.is_some_and(|room| all > room / SHARE) {
        let text = format!(
            "op={} with {ranks} ranks and a size of {} needs {} for its buffers, more than half of the available memory; lower \
             ranks= or size=",
            params.text("op")?,
            Bytes(largest).rounded(),
            Bytes(all).rounded()
        );
        return Err(Reason::new(Cause::NoSpace, text));
    }
    let mut case = case_of_ranks(about, params, site, ranks)?;
    // Contents are written and compared at a gigabyte a second at least.
    case.budget.overhead = case.budget.overhead.plus(Nanos(2 * bytes(ROOT)));
    Ok(case)
}

pub fn limits(about: &About, _: &Case, _: &Site) -> Limits {
    about.limits(|metric| match metric {
        "overlap" => {
            let all = Quantity::new(100.0, Unit::Percent).expect("a number");
            Limit::Chain(vec![Bound::new(all, "all of the time of the calls alone", "definition")])
        }
        _ => Limit::unknown(
            "the algorithm that the library chooses decides how often data is copied, and no hardware fact bounds that; compare \
             with other nodes",
        ),
    })
}
