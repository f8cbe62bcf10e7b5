//! A path that is full.

use seatrial_model::Actor;

use super::super::rule::CauseRule;
use super::super::sign::Sign;

pub const RULE: CauseRule = CauseRule {
    id: "full-path",
    seen: &[Sign::LimitedBy("path")],
    cause: "{seen} the path is full: a slower link, a shaper or other traffic on the way",
    actor: Actor::NetworkTeam,
    action: "look at the switch port of {node}: speed, shaper, policer, other traffic, then at those behind it; on {node}: `tc filter show dev DEVICE ingress`",
    ..CauseRule::NEW
};
