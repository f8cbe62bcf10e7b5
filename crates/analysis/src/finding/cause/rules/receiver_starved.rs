//! Other programs on the receiver's CPU.

use super::super::rule::CauseRule;
use super::super::sign::Sign;
use crate::finding::matrix::SlowSide;

pub const RULE: CauseRule = CauseRule {
    id: "receiver-starved",
    title: "other programs on the receiver",
    side: SlowSide::Receives,
    seen: &[Sign::LimitedBy("receiver-starved")],
    refuted_by: &[Sign::OthersLimitedBy("receiver-starved")],
    cause: "{seen} other programs take the CPU of the receiver",
    action: "find and end what else runs on {node}: `top -H`; or give the flows cores of their own: `seatrial list net.tcp_stream`",
    ..CauseRule::NEW
};
