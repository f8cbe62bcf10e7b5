//! A path that is full.

use seatrial_model::Actor;

use super::super::rule::CauseRule;
use super::super::sign::Sign;

pub const RULE: CauseRule = CauseRule {
    id: "full-path",
    title: "link or switch port full",
    seen: &[Sign::LimitedBy("path")],
    cause: "{seen} the path is full: on the way is a slower link, a rate limit or other traffic",
    actor: Actor::NetworkTeam,
    action: "look at the switch port of {node} and the links behind it: speed, rate limit, other traffic; on {node} itself: `tc filter show dev INTERFACE ingress`",
    ..CauseRule::NEW
};
