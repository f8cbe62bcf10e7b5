//! A send buffer below that of the other nodes.

use super::super::rule::CauseRule;
use super::super::sign::Sign;
use super::NETWORK;
use crate::finding::matrix::SlowSide;

pub const RULE: CauseRule = CauseRule {
    id: "small-send-buffer",
    title: "small send buffer",
    side: SlowSide::Sends,
    families: NETWORK,
    seen: &[Sign::Lower(&["net.ipv4.tcp_wmem"])],
    limits: &["application", "send-buffer"],
    cause: "the send buffer is small: {seen}",
    action: "on {node}, as on its peers: {command}",
    ..CauseRule::NEW
};
