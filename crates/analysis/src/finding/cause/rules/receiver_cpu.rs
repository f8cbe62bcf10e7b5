//! A busy CPU of the receiver.

use super::super::rule::CauseRule;
use super::super::sign::Sign;
use crate::finding::matrix::SlowSide;

pub const RULE: CauseRule = CauseRule {
    id: "receiver-cpu",
    title: "busy CPU of the receiver",
    side: SlowSide::Receives,
    seen: &[Sign::LimitedBy("receiver-cpu")],
    refuted_by: &[Sign::OthersLimitedBy("receiver-cpu")],
    cause: "{seen} the CPU of the receiver is busy",
    action: "compare CPU, clock and governor of {node} with those of the others: `seatrial run cpu.clock -w {nodes}`, `seatrial settings -w {nodes}`",
    ..CauseRule::NEW
};
