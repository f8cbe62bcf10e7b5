//! A bond with fewer members than those of the others.

use seatrial_model::Actor;

use super::super::rule::CauseRule;
use super::super::sign::Sign;
use super::NETWORK;

pub const RULE: CauseRule = CauseRule {
    id: "missing-bond-member",
    title: "bond member without link",
    families: NETWORK,
    seen: &[Sign::Lower(&["bond members up"])],
    cause: "a bond of {node} has fewer members with a link: {seen}",
    actor: Actor::NetworkTeam,
    action: "find the member without a link: `cat /proc/net/bonding/{device}`; check its cable and switch port, then `ip link set MEMBER up`",
    ..CauseRule::NEW
};
