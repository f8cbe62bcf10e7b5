//! Less memory: a module that is missing, or that the firmware has taken away.

use seatrial_model::Actor;

use super::super::rule::CauseRule;
use super::super::sign::Sign;

pub const RULE: CauseRule = CauseRule {
    id: "missing-memory",
    title: "missing memory module",
    families: &["mem", "cpu", "mpi", "gpu"],
    seen: &[Sign::Lower(&["memory modules", "memory"])],
    cause: "a memory module is missing or switched off: {seen}",
    actor: Actor::Vendor,
    action: "find the slot without a module and reseat or replace it: `dmidecode -t memory`, event log of the BMC (`ipmitool sel list`)",
    ..CauseRule::NEW
};
