//! Nothing that was looked for: the last rule.

use seatrial_model::Actor;

use super::super::rule::CauseRule;

pub const RULE: CauseRule = CauseRule {
    id: "unexplained",
    seen: &[],
    actor: Actor::NetworkTeam,
    action: "compare it with a sound node, then check cable and switch port: `seatrial settings -w {node}`, `ethtool -S DEVICE`, `dmesg`",
    ..CauseRule::NEW
};
