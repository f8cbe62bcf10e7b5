//! Packets that come twice.

use seatrial_model::Actor;

use super::super::rule::CauseRule;
use super::super::sign::Sign;

pub const RULE: CauseRule = CauseRule {
    id: "duplicates",
    title: "duplicate packets",
    seen: &[Sign::Duplicates],
    cause: "{seen}",
    actor: Actor::NetworkTeam,
    action: "find what sends packets twice (mirror, loop, bond): `nft list ruleset`, `tc filter show dev INTERFACE egress`, `grep Mode /proc/net/bonding/*`; then its switch",
    ..CauseRule::NEW
};
