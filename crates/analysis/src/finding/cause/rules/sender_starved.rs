//! Other programs on the sender's CPU.

use super::super::rule::CauseRule;
use super::super::sign::Sign;
use crate::finding::matrix::SlowSide;

pub const RULE: CauseRule = CauseRule {
    id: "sender-starved",
    title: "other programs on the sender",
    side: SlowSide::Sends,
    seen: &[Sign::LimitedBy("sender-starved")],
    refuted_by: &[Sign::OthersLimitedBy("sender-starved")],
    cause: "{seen} other programs take the CPU of the sender",
    action: "find and end what else runs on {node}: `top -H`; or give the flows cores of their own: `seatrial list net.tcp_stream`",
    ..CauseRule::NEW
};
