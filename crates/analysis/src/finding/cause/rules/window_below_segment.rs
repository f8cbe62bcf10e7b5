//! A receive window that is smaller than two segments.

use super::super::rule::CauseRule;
use super::super::sign::Sign;

pub const RULE: CauseRule = CauseRule {
    id: "window-below-segment",
    title: "receive buffer below one segment",
    seen: &[Sign::Reason("raise the third value of net.ipv4.tcp_rmem")],
    cause: "the receive buffer is too small for the segments",
    action: "raise the third value on {node}: {tcp_rmem}",
    ..CauseRule::NEW
};
