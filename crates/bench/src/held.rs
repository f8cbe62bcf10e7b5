//! Bound memory, with what the kernel really granted.

use seatrial_model::machine::Known;
use seatrial_model::{Bytes, Cause, Reason};
use seatrial_sys::memory::{MapError, MapRequest, Mapping, Pages, Place, Placement, PolicyError};
use seatrial_sys::root::SysRoot;
use serde_json::json;

/// Sampled pages of a mapping: enough to find one misplaced page in a thousand.
const ASKED: usize = 4096;

/// Resident memory, bound to a node where one was wanted and the system permits it.
#[derive(Debug)]
pub struct Held {
    pub map: Mapping,
    pub wanted: Option<u32>,
    /// Why the memory could not be bound.
    pub unbound: Option<PolicyError>,
}

impl Held {
    /// Maps, binds and touches `bytes` in the first page kind that can be had. Call this on the pinned thread that
    /// will use the memory: without a wanted node the memory is local to that thread. Where binding fails,
    /// [`Self::unbound`] has the error.
    pub fn take(bytes: usize, pages: &[Pages], wanted: Option<u32>) -> Result<Self, MapError> {
        // Rounding up to whole huge pages may take a little more, but not more than the plan left free.
        let cap_bytes = bytes + bytes / 8 + (4 << 20);
        let place = wanted.map_or(Place::Local, Place::Node);
        let mut request = MapRequest { bytes, cap_bytes, pages, place };
        let mut unbound = None;
        let map = match Mapping::map(&request) {
            Err(MapError::Policy(error)) => {
                unbound = Some(error);
                request.place = Place::Local;
                Mapping::map(&request)?
            }
            other => other?,
        };
        let unbound = unbound.or(map.unbound());
        Ok(Self { map, wanted, unbound })
    }

    /// NUMA nodes of a sample of the pages.
    pub fn placement(&self) -> Result<Placement, PolicyError> {
        self.map.placement(Some(ASKED))
    }
}

/// Memory may have become scarce since the plan: an allocation would then cause swapping or the OOM killer. An error
/// unless `wanted` bytes and a sixteenth more are free.
pub fn require_room(wanted: u64, what: &str, remedy: &str) -> Result<(), Reason> {
    match seatrial_inventory::available(&SysRoot::live()) {
        Known::Known(room) if room < wanted / 16 * 17 => {
            let (wanted, room) = (Bytes(wanted).rounded(), Bytes(room).rounded());
            Err(Reason::new(Cause::NoSpace, format!("{what} {wanted}, but only {room} are left; {remedy}")))
        }
        _ => Ok(()),
    }
}

/// The error of [`Held::take`] for the memory of this name.
pub fn no_memory(what: &str) -> impl Fn(MapError) -> Reason + use<> {
    let what = what.to_owned();
    move |error| Reason::new(Cause::NoSpace, format!("cannot allocate {what}: {error}"))
}

/// Evidence: the share of the memory on the wanted node.
pub fn evidence_of_place<'a>(all: impl IntoIterator<Item = &'a Held>) -> serde_json::Value {
    let (mut right, mut count) = (0.0, 0_usize);
    for held in all {
        let placement = held.placement();
        match (held.unbound, placement, held.wanted) {
            (Some(error), ..) | (None, Err(error), _) => return json!({ "denied": error.to_string() }),
            (None, Ok(placement), Some(node)) => right += placement.share(node),
            (None, Ok(_), None) => right += 1.0,
        }
        count += 1;
    }
    json!({ "right_percent": 100.0 * right / count.max(1) as f64 })
}

/// Evidence: the page kind granted, the share in huge pages, and refused kinds.
pub fn evidence_of_pages<'a>(all: impl IntoIterator<Item = &'a Held>) -> serde_json::Value {
    let all: Vec<_> = all.into_iter().map(|held| &held.map).collect();
    let shares: Option<Vec<f64>> = all.iter().map(|map| Some(map.residency().ok()?.huge_share())).collect();
    let percent = shares.map(|shares| 100.0 * shares.iter().sum::<f64>() / shares.len().max(1) as f64);
    let refused = all.first().map_or(&[][..], |map| map.refused());
    let refused: Vec<_> =
        refused.iter().map(|refusal| format!("{}: {}", refusal.pages, refusal.why)).collect();
    json!({ "kind": all.first().map(|map| map.pages().name()), "huge_percent": percent, "refused": refused })
}

/// Why memory cannot be bound or its node read here: containers forbid mbind(2), and emulators lack it.
pub fn refused_here() -> Option<PolicyError> {
    let held = Held::take(1 << 20, &[Pages::Base], None).expect("a megabyte");
    held.unbound.or(held.placement().err())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tells_the_pages_and_the_place_it_got() {
        let held = Held::take(1 << 20, &[Pages::Base], None).expect("a megabyte");
        assert!(held.map.len() >= 1 << 20);
        assert_eq!(evidence_of_pages([&held])["kind"], "base");
        let expected = match refused_here() {
            None => json!({ "right_percent": 100.0 }),
            Some(error) => json!({ "denied": error.to_string() }),
        };
        assert_eq!(evidence_of_place([&held]), expected);
    }

    #[test]
    fn refuses_what_is_not_there_and_says_what_to_do() {
        let error = require_room(1 << 50, "the arrays take", "set -p array=").expect_err("a pebibyte");
        assert_eq!(error.cause, Cause::NoSpace);
        assert!(error.text.starts_with("the arrays take 1024 TiB, but only"), "{}", error.text);
        require_room(4096, "a page takes", "-").expect("a page is left");
    }
}
