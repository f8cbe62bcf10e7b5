//! Other programs on the receiver's CPU.

use super::super::rule::CauseRule;
use super::super::sign::Sign;
use crate::finding::matrix::SlowSide;

pub const RULE: CauseRule = CauseRule {
    id: "receiver-starved",
    side: SlowSide::Receives,
    seen: &[Sign::LimitedBy("receiver-starved")],
    refuted_by: &[Sign::OthersLimitedBy("receiver-starved")],
    cause: "{seen} other programs take the receiver's CPU",
    action: "end what else runs on the node, or give the flows cores of their own: `top -H`, `seatrial list net.tcp_stream`",
    ..CauseRule::NEW
};
