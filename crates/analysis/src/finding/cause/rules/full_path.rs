//! A path that is full.

use seatrial_model::Actor;

use super::super::rule::CauseRule;
use super::super::sign::Sign;

/// What to do about a path that is slower than the ports of the nodes.
pub(super) const ACTION: &str = "look at speed, rate limit and traffic of the switch port of {node} and the links behind it; \
                                 on {node} a policer may drop: `tc filter show dev INTERFACE ingress`";

pub const RULE: CauseRule = CauseRule {
    id: "full-path",
    title: "link or switch port full",
    seen: &[Sign::LimitedBy("path")],
    cause: "{seen} the path is full: on the way is a slower link, a rate limit or other traffic",
    actor: Actor::NetworkTeam,
    action: ACTION,
    ..CauseRule::NEW
};
