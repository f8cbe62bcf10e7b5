//! Packets above a size that vanish.

use seatrial_model::Actor;

use super::super::rule::CauseRule;
use super::super::sign::Sign;

pub const RULE: CauseRule = CauseRule {
    id: "large-packets",
    title: "large packets lost (MTU)",
    seen: &[Sign::Reason("packets of this size are lost on the way")],
    cause: "large packets do not arrive at {node} and small ones do: on the way is a smaller MTU",
    actor: Actor::NetworkTeam,
    action: "compare the MTU of {node} with its switch port and partners: `ip link show dev INTERFACE`; find the largest size that arrives: `seatrial run net.mtu -w {nodes}`",
    ..CauseRule::NEW
};
