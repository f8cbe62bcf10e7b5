//! The case between two ends.

use seatrial_model::{About, Case, Nanos, Params, Reason, Site};

use seatrial_bench::Ends;
use seatrial_bench::affinity::place_threads;

pub fn plan(about: &About, params: &Params, site: &Site) -> Result<Vec<Case>, Reason> {
    let ends = Ends::of(site, params)?;
    let mut case = ends.case(about, params, seatrial_bench::budget(params)?);
    place_threads(&ends, site, params, 1)?.apply(&ends, about.parts.names(), &mut case);
    case.budget.overhead = Nanos::millis(150);
    Ok(vec![case])
}
