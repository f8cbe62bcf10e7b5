//! An interface with a smaller MTU than those of the other nodes.

use super::super::rule::CauseRule;
use super::super::sign::Sign;
use super::NETWORK;

pub const RULE: CauseRule = CauseRule {
    id: "smaller-mtu",
    title: "smaller MTU",
    families: NETWORK,
    seen: &[Sign::Lower(&["nic.mtu"])],
    cause: "the MTU is smaller: {seen}",
    action: "on {node}, as on its peers (its switch port must allow packets of this size): {command}",
    ..CauseRule::NEW
};
