//! Nothing that was looked for: the last rule.

use seatrial_model::Actor;

use super::super::rule::CauseRule;

pub const RULE: CauseRule = CauseRule {
    id: "unexplained",
    seen: &[],
    actor: Actor::NetworkTeam,
    action: "check its network card, cable and switch port, and its settings",
    ..CauseRule::NEW
};
