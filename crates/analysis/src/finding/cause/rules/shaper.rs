//! A shaper on an interface of the node.

use super::super::rule::CauseRule;
use super::super::sign::Sign;

pub const RULE: CauseRule = CauseRule {
    id: "shaper",
    title: "rate limit (tc) on the node itself",
    seen: &[Sign::Shaper],
    cause: "{seen}",
    action: "if this limit is unwanted, on {node}: `tc qdisc del dev {device} root`",
    ..CauseRule::NEW
};
