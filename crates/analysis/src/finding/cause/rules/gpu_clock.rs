//! A GPU whose clock is held down.

use seatrial_model::Actor;

use super::super::rule::CauseRule;
use super::super::sign::Sign;

pub const RULE: CauseRule = CauseRule {
    id: "gpu-clock",
    title: "lowered GPU clock",
    families: &["gpu", "nccl"],
    seen: &[Sign::Finding(&["gpu-throttled"])],
    cause: "{seen}",
    actor: Actor::Administrator,
    action: "compare power limit, clocks and temperature with those of a sound node: `nvidia-smi -q -d POWER,CLOCK,TEMPERATURE,PERFORMANCE`",
    ..CauseRule::NEW
};
