//! Addresses of the nodes of a pair, for commands that need one.

use std::net::{IpAddr, SocketAddr};

use seatrial_model::record::CaseRecord;
use seatrial_model::{Actor, Addresses, Fact, LastFlows, Remedy};

/// The command that shows the way to the other node of the first pair whose address is known, and where to type it.
pub(super) fn route(cases: &[&CaseRecord]) -> String {
    let known = cases.iter().find_map(|case| Some((case.nodes.first()?, peer(case)?)));
    let pair = || cases.iter().find_map(|case| <&[String; 2]>::try_from(case.nodes.as_slice()).ok());
    match (known, pair()) {
        (Some((node, address)), _) => format!("`ip route get {address}` on {node}"),
        (None, Some([from, to])) => route_between(cases, from, to),
        (None, None) => "`ip route get ADDRESS`".to_owned(),
    }
}

/// The same, from `node` if it is the first of a pair: its own routes are what the other nodes do not show.
pub(super) fn route_of(node: &str, cases: &[&CaseRecord]) -> String {
    let own: Vec<&CaseRecord> =
        cases.iter().copied().filter(|case| case.nodes.first().is_some_and(|first| first == node)).collect();
    route(if own.is_empty() { cases } else { &own })
}

/// The same of two nodes among those of these cases. Where no address was recorded, that of the name.
fn route_between(cases: &[&CaseRecord], from: &str, to: &str) -> String {
    match address_of(cases, to) {
        Some(address) => format!("`ip route get {address}` on {from}"),
        None => format!("`ip route get $(getent ahosts {to} | awk '{{print $1; exit}}')` on {from}"),
    }
}

/// What to do about a link, which `route` shows.
fn check_route(route: &str) -> Remedy {
    let action = format!(
        "check the routes, cables and switch ports that only these two nodes use: {route}, `ethtool -S INTERFACE`"
    );
    Remedy::of(Actor::NetworkTeam, action)
}

/// What to do about the link of two nodes, which these cases measured.
pub(super) fn check_path(cases: &[&CaseRecord]) -> Remedy {
    check_route(&route(cases))
}

/// The same of two nodes among those of these cases.
pub(super) fn check_path_between(cases: &[&CaseRecord], from: &str, to: &str) -> Remedy {
    check_route(&route_between(cases, from, to))
}

/// What to do about the links between two groups of nodes, each of which has one of these.
pub(super) fn check_uplinks(cases: &[&CaseRecord], from: &str, to: &str) -> Remedy {
    let to = address_of(cases, to).map_or_else(|| to.to_owned(), |address| address.to_string());
    let action = format!(
        "check number, speed and errors of the links between the switches of the two sides, and the way: `tracepath {to}` on \
         {from}"
    );
    Remedy::of(Actor::NetworkTeam, action)
}

/// The address of a node in the network that one of these cases measured.
fn address_of(cases: &[&CaseRecord], node: &str) -> Option<IpAddr> {
    cases.iter().find_map(|case| Addresses::of(&case.evidence)?.0.get(node).copied())
}

/// The address that the first node of a pair sends to: that of a flow, else that in the reason why there is none.
fn peer(case: &CaseRecord) -> Option<IpAddr> {
    let flows = LastFlows::of(&case.evidence).unwrap_or_default();
    let of_flow = flows.0.into_iter().find_map(|flow| flow.sender.socket.peer?.parse().ok());
    let words = || case.reason.iter().flat_map(|reason| reason.split_whitespace());
    let address: Option<SocketAddr> =
        of_flow.or_else(|| words().find_map(|word| word.trim_end_matches([':', ';', ',']).parse().ok()));
    address.map(|address| address.ip())
}

#[cfg(test)]
mod tests {
    use seatrial_model::{FlowEnd, FlowLoss, FlowSocket};

    use super::*;
    use crate::judge::fixture::case;

    #[test]
    fn the_command_has_the_address_of_the_flow_or_of_the_reason_and_a_name_where_none_is_known() {
        let mut pair = case("n1", "n1->n4");
        assert_eq!(route(&[&pair]), "`ip route get ADDRESS`", "one node");
        pair.nodes.push("n4".to_owned());
        let by_name = "`ip route get $(getent ahosts n4 | awk '{print $1; exit}')` on n1";
        assert_eq!(route(&[&pair]), by_name);
        let told = |reason: &str| {
            let mut pair = pair.clone();
            pair.reason = Some(reason.to_owned());
            route(&[&case("n1", "n1->n2"), &pair])
        };
        let four = "client 0 on n1: the peer cannot be reached: 10.77.0.4:35039: timed out";
        assert_eq!(told(four), "`ip route get 10.77.0.4` on n1");
        assert_eq!(told("tried [fd00::4]:35039, in vain"), "`ip route get fd00::4` on n1");
        assert_eq!(told("at 12:30 nothing moved for 20 s"), by_name);
        let mut back = pair.clone();
        back.nodes.reverse();
        back.reason = Some("the peer cannot be reached: 10.0.0.1:35039: timed out".to_owned());
        assert_eq!(route_of("n4", &[&pair, &back]), "`ip route get 10.0.0.1` on n4");
        assert_eq!(route_of("n2", &[&pair]), by_name, "of neither");
        let socket = FlowSocket { peer: Some("10.0.0.3:50001".to_owned()) };
        LastFlows(vec![FlowLoss { sender: FlowEnd { socket }, ..FlowLoss::default() }])
            .put(&mut pair.evidence);
        assert_eq!(route(&[&pair]), "`ip route get 10.0.0.3` on n1");
    }
}
