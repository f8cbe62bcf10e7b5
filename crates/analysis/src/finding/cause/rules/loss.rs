//! Lost packets.

use seatrial_model::Actor;

use super::super::rule::CauseRule;
use super::super::sign::Sign;

pub const RULE: CauseRule = CauseRule {
    id: "loss",
    seen: &[Sign::Loss],
    cause: "{seen}",
    actor: Actor::NetworkTeam,
    action: "look for what drops packets: `tc -s qdisc`, `nft list ruleset`, `ethtool -S DEVICE` on {node}; then its switch port and its cable",
    ..CauseRule::NEW
};
