//! A busy CPU of the receiver.

use super::super::rule::CauseRule;
use super::super::sign::Sign;
use crate::finding::matrix::SlowSide;

pub const RULE: CauseRule = CauseRule {
    id: "receiver-cpu",
    side: SlowSide::Receives,
    seen: &[Sign::LimitedBy("receiver-cpu")],
    refuted_by: &[Sign::OthersLimitedBy("receiver-cpu")],
    cause: "{seen} the receiver's CPU is busy",
    action: "compare the CPU, its clock and its governor with those of the other nodes: `seatrial run cpu.clock`",
    ..CauseRule::NEW
};
