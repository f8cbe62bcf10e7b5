//! Lost packets.

use seatrial_model::Actor;

use super::super::rule::CauseRule;
use super::super::sign::Sign;

pub const RULE: CauseRule = CauseRule {
    id: "loss",
    seen: &[Sign::Loss],
    cause: "{seen}",
    actor: Actor::NetworkTeam,
    action: "check the error counters of its network card and of its switch port, its cable, and for a policer or shaper that drops packets",
    ..CauseRule::NEW
};
