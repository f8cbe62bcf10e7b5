//! A receive buffer below that of the other nodes.

use super::super::rule::CauseRule;
use super::super::sign::Sign;
use super::NETWORK;
use crate::finding::matrix::SlowSide;

pub const RULE: CauseRule = CauseRule {
    id: "small-receive-buffer",
    title: "small receive buffer",
    side: SlowSide::Receives,
    families: NETWORK,
    seen: &[Sign::Lower(&["net.ipv4.tcp_rmem"])],
    limits: &["receive-window"],
    cause: "the receive buffer is small: {seen}",
    action: "on {node}, as on its peers: {command}",
    ..CauseRule::NEW
};
