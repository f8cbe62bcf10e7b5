//! Requests for connections that something rejects.

use super::super::rule::CauseRule;
use super::super::sign::Sign;

pub const RULE: CauseRule = CauseRule {
    id: "rejected",
    title: "connections rejected",
    seen: &[Sign::Reason("No route to host"), Sign::Reason("Connection refused")],
    cause: "a firewall rejects connections to {node}, although a program listens there, or {node} does not answer ARP",
    action: "look for reject rules on {node} and its partners: `nft list ruleset`, `firewall-cmd --list-all`; else look whether it answers ARP: `ip neigh`",
    ..CauseRule::NEW
};
