//! Lost acknowledgements.

use seatrial_model::Actor;

use super::super::rule::CauseRule;
use super::super::sign::Sign;

pub const RULE: CauseRule = CauseRule {
    id: "lost-acknowledgements",
    title: "lost acknowledgements",
    seen: &[Sign::LostAcknowledgements, Sign::Reason("acknowledgements are lost or late")],
    refuted_by: &[Sign::Loss],
    cause: "{seen}",
    actor: Actor::NetworkTeam,
    action: "find filters and policers of small packets: `nft list ruleset`, `tc filter show dev INTERFACE ingress`; then its switch port",
    ..CauseRule::NEW
};
