//! A busy CPU of the sender.

use super::super::rule::CauseRule;
use super::super::sign::Sign;
use crate::finding::matrix::SlowSide;

pub const RULE: CauseRule = CauseRule {
    id: "sender-cpu",
    side: SlowSide::Sends,
    seen: &[Sign::LimitedBy("sender-cpu")],
    refuted_by: &[Sign::OthersLimitedBy("sender-cpu")],
    cause: "{seen} the sender's CPU is busy",
    action: "compare the CPU, its clock and its governor with those of the other nodes: `seatrial run cpu.clock`",
    ..CauseRule::NEW
};
