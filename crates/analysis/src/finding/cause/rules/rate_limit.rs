//! A path with a constant rate.

use seatrial_model::Actor;

use super::super::rule::CauseRule;
use super::super::sign::Sign;
use super::full_path::ACTION;

pub const RULE: CauseRule = CauseRule {
    id: "rate-limit",
    title: "rate limit or slower link",
    seen: &[Sign::SteadyRate],
    cause: "the path is limited to about {seen}: a rate limit or a slower link is on the way",
    actor: Actor::NetworkTeam,
    action: ACTION,
    ..CauseRule::NEW
};
