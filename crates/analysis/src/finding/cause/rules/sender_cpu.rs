//! A busy CPU of the sender.

use super::super::rule::CauseRule;
use super::super::sign::Sign;
use crate::finding::matrix::SlowSide;

pub const RULE: CauseRule = CauseRule {
    id: "sender-cpu",
    title: "busy CPU of the sender",
    side: SlowSide::Sends,
    seen: &[Sign::LimitedBy("sender-cpu")],
    refuted_by: &[Sign::OthersLimitedBy("sender-cpu")],
    cause: "{seen} the CPU of the sender is busy",
    action: "compare CPU, clock and governor of {node} with those of the others: `seatrial run cpu.clock -w {nodes}`, `seatrial settings -w {nodes}`",
    ..CauseRule::NEW
};
