//! Other programs on the sender's CPU.

use super::super::rule::CauseRule;
use super::super::sign::Sign;
use crate::finding::matrix::SlowSide;

pub const RULE: CauseRule = CauseRule {
    id: "sender-starved",
    side: SlowSide::Sends,
    seen: &[Sign::LimitedBy("sender-starved")],
    refuted_by: &[Sign::OthersLimitedBy("sender-starved")],
    cause: "{seen} other programs take the sender's CPU",
    action: "end what else runs on the node, or give the flows cores of their own: `top -H`, `seatrial list net.tcp_stream`",
    ..CauseRule::NEW
};
