//! Who connects to whom.

use seatrial_model::{About, Case, Limit, Limits, Nanos, Params, Reason, Site};

use crate::common::{self, Ends};

/// One case between the two ends of the site.
pub fn plan(about: &About, params: &Params, site: &Site) -> Result<Vec<Case>, Reason> {
    let ends = Ends::of(site, params)?;
    let mut case = ends.case(about, params, common::budget(params)?);
    case.places = ends.places(about.parts, ends.seats(1)?);
    case.budget.overhead = Nanos::millis(150);
    Ok(vec![case])
}

pub fn limits(about: &About) -> Limits {
    let reason =
        "no part of the way states how long it takes: compare with other pairs, or with the loopback";
    let limit = |metric: &str| (metric.to_owned(), Limit::Unknown { reason: reason.to_owned() });
    about.metrics.iter().map(|metric| limit(metric.name)).collect()
}
