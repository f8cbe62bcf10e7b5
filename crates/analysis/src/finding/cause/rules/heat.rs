//! A clock that heat has lowered.

use seatrial_model::Actor;

use super::super::rule::CauseRule;
use super::super::sign::Sign;

pub const RULE: CauseRule = CauseRule {
    id: "heat",
    title: "CPU clock lowered by heat",
    families: &["mem", "cpu", "mpi"],
    seen: &[Sign::Heat, Sign::Counted(&["state.thermal_throttling"])],
    cause: "heat lowers the clock of the CPUs: {seen}",
    actor: Actor::Administrator,
    action: "check fans, air flow, heat sinks and the temperature of the room: `ipmitool sdr type fan`, `sensors`",
    ..CauseRule::NEW
};
