//! A port that has settled on a lower speed.

use seatrial_model::Actor;

use super::super::rule::CauseRule;
use super::super::sign::Sign;
use super::NETWORK;

pub const RULE: CauseRule = CauseRule {
    id: "slow-port",
    title: "port at a lower speed",
    families: NETWORK,
    seen: &[Sign::Lower(&["speed"])],
    cause: "a port of {node} runs at a lower speed: {seen}",
    actor: Actor::NetworkTeam,
    action: "check cable, transceiver and the speed that the switch port is set to: `ethtool {device}`",
    ..CauseRule::NEW
};
