//! Packets above a size that vanish.

use seatrial_model::Actor;

use super::super::rule::CauseRule;
use super::super::sign::Sign;

pub const RULE: CauseRule = CauseRule {
    id: "large-packets",
    title: "large packets lost (MTU or filter)",
    seen: &[Sign::Reason("packets of this size are lost on the way")],
    cause: "large packets do not arrive at {node} and small ones do{mtu}: a smaller MTU or a filter is on the way",
    actor: Actor::Administrator,
    action: "look for filters on {node}: `nft list ruleset`; check the MTU of its switch port; the largest size that arrives: `seatrial run net.mtu -w {nodes}`",
    ..CauseRule::NEW
};
