//! Lost links and hung network cards.

use seatrial_model::Actor;

use super::super::rule::CauseRule;
use super::super::sign::Sign;
use super::NETWORK;

pub const RULE: CauseRule = CauseRule {
    id: "link-lost",
    title: "network link lost",
    families: NETWORK,
    seen: &[Sign::KernelLog(&["NETDEV WATCHDOG", "Link is Down", "Link down", "link down"])],
    cause: "the network card of {node} hung or lost its link: {seen}",
    actor: Actor::NetworkTeam,
    action: "look at cable and switch port, then driver and firmware of the card: `dmesg`, `ethtool INTERFACE`, `ethtool -S INTERFACE`",
    ..CauseRule::NEW
};
