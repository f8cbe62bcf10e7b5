//! Packets that come twice.

use seatrial_model::Actor;

use super::super::rule::CauseRule;
use super::super::sign::Sign;

pub const RULE: CauseRule = CauseRule {
    id: "duplicates",
    seen: &[Sign::Duplicates],
    cause: "{seen}",
    actor: Actor::NetworkTeam,
    action: "look for a mirror, a loop or a bond of mode broadcast: `nft list ruleset`, `tc filter show dev DEVICE egress`, `grep Mode /proc/net/bonding/*`; then its switch",
    ..CauseRule::NEW
};
