//! A path that is full.

use seatrial_model::Actor;

use super::super::rule::CauseRule;
use super::super::sign::Sign;

pub const RULE: CauseRule = CauseRule {
    id: "full-path",
    seen: &[Sign::LimitedBy("path")],
    cause: "{seen} the path is full: a slower link, a shaper or other traffic on the way",
    actor: Actor::NetworkTeam,
    action: "check the speed of its switch port and of the links behind it, and shapers and policers on the way",
    ..CauseRule::NEW
};
