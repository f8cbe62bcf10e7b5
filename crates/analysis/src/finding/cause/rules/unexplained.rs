//! Nothing that was looked for: the last rule.

use seatrial_model::Actor;

use super::super::rule::CauseRule;

pub const RULE: CauseRule = CauseRule {
    id: "unexplained",
    title: "no cause found",
    seen: &[],
    actor: Actor::NetworkTeam,
    action: "compare {node} with a sound node, then check cable and switch port: `seatrial settings -w {nodes}`, `ethtool -S INTERFACE`, `dmesg`",
    ..CauseRule::NEW
};
