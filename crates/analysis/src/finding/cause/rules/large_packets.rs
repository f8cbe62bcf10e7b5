//! Packets above a size that vanish.

use seatrial_model::Actor;

use super::super::rule::CauseRule;
use super::super::sign::Sign;

pub const RULE: CauseRule = CauseRule {
    id: "large-packets",
    seen: &[Sign::Reason("packets of this size are lost on the way")],
    cause: "large packets vanish on the way to {node} and small ones arrive: a black hole above a size (MTU)",
    actor: Actor::NetworkTeam,
    action: "compare the MTU of {node} with that of its switch port and partners: `ip link show`; find the size: `seatrial run net.mtu`",
    ..CauseRule::NEW
};
