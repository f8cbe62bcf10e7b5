//! Another congestion control than that of the others.

use super::super::rule::CauseRule;
use super::super::sign::Sign;
use super::NETWORK;
use crate::finding::matrix::SlowSide;

pub const RULE: CauseRule = CauseRule {
    id: "congestion-control",
    title: "other congestion control",
    side: SlowSide::Sends,
    families: NETWORK,
    seen: &[Sign::Differs(&["net.ipv4.tcp_congestion_control"])],
    cause: "the sender uses another congestion control: {seen}",
    action: "on {node}, as on its peers: {command}",
    ..CauseRule::NEW
};
