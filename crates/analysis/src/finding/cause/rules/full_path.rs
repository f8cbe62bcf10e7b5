//! A path that is full.

use seatrial_model::Actor;

use super::super::rule::CauseRule;
use super::super::sign::Sign;

pub const RULE: CauseRule = CauseRule {
    id: "full-path",
    seen: &[Sign::LimitedBy("path")],
    cause: "{seen} the path is full: a slower link, a shaper or other traffic on the way",
    actor: Actor::NetworkTeam,
    action: "look for shapers, policers and the speed of its port: `tc qdisc show`, `tc filter show dev DEVICE ingress`, `ethtool DEVICE`; then the same of its switch",
    ..CauseRule::NEW
};
