//! Who connects to whom.

use seatrial_model::{About, Case, Nanos, Params, Reason, Site};

use crate::common::seating::seating;
use crate::common::{self, Ends};

/// One case between the two ends of the site.
pub fn plan(about: &About, params: &Params, site: &Site) -> Result<Vec<Case>, Reason> {
    let ends = Ends::of(site, params)?;
    let mut case = ends.case(about, params, common::budget(params)?);
    let seating = seating(&ends, site, params, 1)?;
    seating.note(&mut case);
    case.places = ends.places(about.parts, seating.seats);
    case.budget.overhead = Nanos::millis(150);
    Ok(vec![case])
}
