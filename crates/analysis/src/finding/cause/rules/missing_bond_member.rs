//! A bond with fewer members than those of the others.

use seatrial_model::Actor;

use super::super::rule::CauseRule;
use super::super::sign::Sign;
use super::NETWORK;

pub const RULE: CauseRule = CauseRule {
    id: "missing-bond-member",
    families: NETWORK,
    seen: &[Sign::Lower(&["bond members up"])],
    cause: "a bond of {node} has fewer members with a link: {seen}",
    actor: Actor::NetworkTeam,
    action: "find the member without a link, check its cable and switch port: `cat /proc/net/bonding/{device}`, `ip link set MEMBER up`",
    ..CauseRule::NEW
};
