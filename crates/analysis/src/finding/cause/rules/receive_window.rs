//! A receive window that limits the flows.

use super::super::rule::CauseRule;
use super::super::sign::Sign;
use crate::finding::matrix::SlowSide;

pub const RULE: CauseRule = CauseRule {
    id: "receive-window",
    title: "small receive window",
    side: SlowSide::Receives,
    seen: &[Sign::LimitedBy("receive-window")],
    refuted_by: &[Sign::OthersLimitedBy("receive-window")],
    cause: "{seen} the receive window is too small",
    action: "raise the third value on {node}: {tcp_rmem}",
    ..CauseRule::NEW
};
