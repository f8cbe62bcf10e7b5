//! A port of an InfiniBand or RoCE card that has settled on a lower rate.

use seatrial_model::Actor;

use super::super::rule::CauseRule;
use super::super::sign::Sign;
use super::NETWORK;

pub const RULE: CauseRule = CauseRule {
    id: "slow-hca-port",
    title: "InfiniBand or RoCE port at a lower rate",
    families: NETWORK,
    seen: &[Sign::Lower(&["rate"])],
    cause: "a port of {node} runs at a lower rate: {seen}",
    actor: Actor::NetworkTeam,
    action: "on {node}, check cable, transceiver and the rate that the switch port is set to: `ibstat`, `iblinkinfo`, `mlxlink -d DEVICE`",
    ..CauseRule::NEW
};
