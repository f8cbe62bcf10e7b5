//! Allocates and registers the memory of an end, and times the registration.

use std::sync::Arc;
use std::time::Duration;

use seatrial_model::{Cause, Reason};
use seatrial_sys::memory::Pages;
use seatrial_sys::verbs::{Access, MemoryRegion, ProtectionDomain};
use serde_json::json;

use super::{Layout, RdmaConfig, preparing};
use crate::{Held, evidence_of_pages, evidence_of_place};

/// Repetitions of the registration for its timing.
const REGISTRATIONS: usize = 8;

/// The memory of an end, and the times to register the memory of one message.
type Memory = (Arc<MemoryRegion>, Vec<Duration>, serde_json::Map<String, serde_json::Value>);

/// Takes the memory and registers it, and that of one message several times before, for the figure.
///
/// # Errors
/// When there is not so much memory, or the card does not take it.
pub fn registered(
    config: &RdmaConfig,
    pd: &Arc<ProtectionDomain>,
    layout: &Layout,
    pages: &[Pages],
) -> Result<Memory, Reason> {
    let label = config.label();
    let node = config.bindings.first().and_then(|binding| binding.memory);
    let take = |bytes: usize| {
        Held::take(bytes, pages, node)
            .map_err(|error| Reason::new(Cause::NoSpace, format!("memory for messages: {error}")))
    };
    let mut registrations = Vec::new();
    let mut sample = take(config.largest() as usize)?.map;
    for _ in 0..REGISTRATIONS {
        let region = MemoryRegion::register(pd, sample, Access::ALL)
            .map_err(preparing(&label, "registering memory"))?;
        registrations.push(region.registration());
        let (map, _) = region.release().map_err(preparing(&label, "giving memory back"))?;
        sample = map;
    }
    let held = take(layout.bytes() as usize)?;
    let mut facts = serde_json::Map::new();
    facts.insert("pages".to_owned(), evidence_of_pages([&held]));
    facts.insert("memory".to_owned(), evidence_of_place([&held]));
    let region =
        MemoryRegion::register(pd, held.map, Access::ALL).map_err(preparing(&label, "registering memory"))?;
    facts.insert("registered_bytes".to_owned(), json!(region.len()));
    Ok((Arc::new(region), registrations, facts))
}
