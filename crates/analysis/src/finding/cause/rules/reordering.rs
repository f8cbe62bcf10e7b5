//! Packets that come after later ones.

use seatrial_model::Actor;

use super::super::rule::CauseRule;
use super::super::sign::Sign;

pub const RULE: CauseRule = CauseRule {
    id: "reordering",
    seen: &[Sign::Reordering],
    cause: "{seen}",
    actor: Actor::NetworkTeam,
    action: "look for packets of a flow on several paths: `grep Mode /proc/net/bonding/*` (balance-rr), `tc -s class show dev DEVICE`, `nft list ruleset`; then its switch",
    ..CauseRule::NEW
};
