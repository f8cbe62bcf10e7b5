//! A shaper on an interface of the node.

use super::super::rule::CauseRule;
use super::super::sign::Sign;

pub const RULE: CauseRule = CauseRule {
    id: "shaper",
    seen: &[Sign::Shaper],
    cause: "{seen}",
    action: "if the shaper is unwanted, `tc qdisc del dev {device} root`",
    ..CauseRule::NEW
};
