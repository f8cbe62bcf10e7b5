//! Requests for connections that nobody answers.

use super::super::rule::CauseRule;
use super::super::sign::Sign;

pub const RULE: CauseRule = CauseRule {
    id: "firewall",
    title: "firewall or wrong route",
    seen: &[Sign::Reason("the request for a connection was not answered")],
    cause: "a firewall drops requests for connections to {node}, or a route to it or from it is wrong",
    action: "look for rules that drop TCP on {node} and its partners: `nft list ruleset`, `iptables-save`; then at the way: {route}",
    ..CauseRule::NEW
};
