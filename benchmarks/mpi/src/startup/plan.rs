//! One case of all nodes, and the jobs that it starts.

use std::iter::successors;

use seatrial_model::{About, Case, Limit, Limits, Nanos, Params, Reason, Site};
use seatrial_mpi_job::ranks::{PER_NODE, RANKS, case_of_ranks, count_ranks, fewest_cores};

pub fn plan(about: &About, params: &Params, site: &Site) -> Result<Vec<Case>, Reason> {
    let ranks = count_ranks(params, site, 1, || fewest_cores(site))?;
    let mut case = case_of_ranks(about, params, site, ranks)?;
    // A job that has begun is ended, in the measuring time.
    let jobs = per_node_counts(&case)?.len() as u64 + 1;
    let of_jobs = Nanos(2 * case.budget.prepare.get() * jobs);
    case.budget.warm_up = Nanos::millis(1);
    case.budget.slack = of_jobs;
    case.budget.measure = case.budget.measure.plus(of_jobs);
    Ok(vec![case])
}

/// The numbers of ranks on each node whose jobs are started, rising: the one that is asked for, or the powers of two up to the
/// number of cores, and this number.
pub fn per_node_counts(case: &Case) -> Result<Vec<u64>, Reason> {
    let most = case.planned.count(PER_NODE)?;
    if [RANKS, PER_NODE].iter().any(|name| case.params.count(name).is_ok()) {
        return Ok(vec![most]);
    }
    let powers = successors(Some(1), |count| Some(count * 2)).take_while(|count| *count < most);
    Ok(powers.chain([most]).collect())
}

pub fn limits(about: &About, _: &Case, _: &Site) -> Limits {
    about.limits(|_| {
        Limit::unknown(
            "processes are made and meet in software, and no hardware fact bounds how long that takes; compare with other nodes \
             and libraries",
        )
    })
}
