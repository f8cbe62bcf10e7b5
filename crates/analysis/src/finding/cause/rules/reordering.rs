//! Packets that come after later ones.

use seatrial_model::Actor;

use super::super::rule::CauseRule;
use super::super::sign::Sign;

pub const RULE: CauseRule = CauseRule {
    id: "reordering",
    title: "packets out of order",
    seen: &[Sign::Reordering],
    cause: "{seen}",
    actor: Actor::NetworkTeam,
    action: "find what sends packets of a flow over several paths: `grep Mode /proc/net/bonding/*`, `tc -s class show dev INTERFACE`, `nft list ruleset`; then its switch",
    ..CauseRule::NEW
};
