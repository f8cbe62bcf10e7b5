//! Addresses of the nodes of a pair, for commands that need one.

use std::net::{IpAddr, SocketAddr};

use seatrial_model::record::CaseRecord;
use seatrial_model::{Actor, Fact, LastFlows, Remedy};

/// The command that shows the way to the other node of the first pair whose address is known, and where to type it.
pub(super) fn route(cases: &[&CaseRecord]) -> String {
    match cases.iter().find_map(|case| Some((case.nodes.first()?, peer(case)?))) {
        Some((node, address)) => format!("`ip route get {address}` on {node}"),
        None => "`ip route get ADDRESS`".to_owned(),
    }
}

/// What to do about the link of two nodes, which these cases measured.
pub(super) fn check_path(cases: &[&CaseRecord]) -> Remedy {
    let route = route(cases);
    let action = format!(
        "check the routes, cables and switch ports that only these two nodes use: {route}, `ethtool -S DEVICE`"
    );
    Remedy::of(Actor::NetworkTeam, action)
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
    fn the_command_has_the_address_of_the_flow_or_of_the_reason_and_a_word_where_none_is_known() {
        let mut pair = case("n1", "n1->n4");
        assert_eq!(route(&[&pair]), "`ip route get ADDRESS`");
        let told = |reason: &str| {
            let mut pair = pair.clone();
            pair.reason = Some(reason.to_owned());
            route(&[&case("n1", "n1->n2"), &pair])
        };
        let four = "client 0 on n1: the peer cannot be reached: 10.77.0.4:35039: timed out";
        assert_eq!(told(four), "`ip route get 10.77.0.4` on n1");
        assert_eq!(told("tried [fd00::4]:35039, in vain"), "`ip route get fd00::4` on n1");
        assert_eq!(told("at 12:30 nothing moved for 20 s"), "`ip route get ADDRESS`");
        let socket = FlowSocket { peer: Some("10.0.0.3:50001".to_owned()) };
        LastFlows(vec![FlowLoss { sender: FlowEnd { socket }, ..FlowLoss::default() }])
            .put(&mut pair.evidence);
        assert_eq!(route(&[&pair]), "`ip route get 10.0.0.3` on n1");
    }
}
