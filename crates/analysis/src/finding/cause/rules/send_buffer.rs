//! A send buffer that limits the flows.

use super::super::rule::CauseRule;
use super::super::sign::Sign;
use crate::finding::matrix::SlowSide;

pub const RULE: CauseRule = CauseRule {
    id: "send-buffer",
    title: "send buffer at its limit",
    side: SlowSide::Sends,
    seen: &[Sign::LimitedBy("send-buffer")],
    refuted_by: &[Sign::OthersLimitedBy("send-buffer")],
    cause: "{seen} the send buffer is too small",
    action: "raise the third value on {node}: `sysctl -w net.ipv4.tcp_wmem=\"4096 65536 33554432\"`; a file in /etc/sysctl.d keeps it beyond the next boot",
    ..CauseRule::NEW
};
