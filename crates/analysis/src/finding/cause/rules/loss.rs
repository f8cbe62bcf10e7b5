//! Lost packets.

use seatrial_model::Actor;

use super::super::rule::CauseRule;
use super::super::sign::Sign;

pub const RULE: CauseRule = CauseRule {
    id: "loss",
    title: "packet loss",
    seen: &[Sign::Loss],
    cause: "{seen}",
    actor: Actor::NetworkTeam,
    action: "find what drops packets on {node}: `tc -s qdisc`, `nft list ruleset`, `ethtool -S INTERFACE`; then look at its switch port and its cable",
    ..CauseRule::NEW
};
