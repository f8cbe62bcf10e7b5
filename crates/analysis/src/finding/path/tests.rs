//! Findings about paths from counters of interfaces and ports.

use serde_json::{Value, json};

use super::*;
use crate::judge::fixture::measured;

/// A case from n1 to n2 over eth0 at both ends that moved 1 GB, with these counts of the interfaces.
fn case(first: &Value, second: &Value, buffered: u64) -> CaseRecord {
    let mut case = measured("n1");
    case.nodes.push("n2".to_owned());
    case.chosen.set("interface", "eth0");
    case.chosen.set("peer_interface", "eth0");
    let moved = json!([{ "from": "n1", "to": "n2", "bytes": 1_000_000_000, "buffered": buffered }]);
    case.evidence.insert("moved".to_owned(), moved);
    let nic = |counts: &Value| json!({ "nic": { "counts": counts } });
    case.evidence.insert("probes".to_owned(), json!({ "n1": nic(first), "n2": nic(second) }));
    case
}

fn sent(eth0: u64, lo: u64) -> Value {
    json!({ "tx_bytes eth0": eth0, "rx_bytes eth0": 5, "tx_bytes lo": lo, "rx_bytes lo": lo })
}

fn received(eth0: u64, lo: u64) -> Value {
    json!({ "rx_bytes eth0": eth0, "tx_bytes eth0": 5, "tx_bytes lo": lo, "rx_bytes lo": lo })
}

#[test]
fn what_the_chosen_interfaces_carried_is_confirmed_with_others_traffic_beside_it() {
    for count in [980_000_000, 1_046_000_000, 9_000_000_000] {
        assert_eq!(find(&[case(&sent(count, 0), &received(count, 0), 0)]), [], "{count}");
    }
    let found = find(&[case(&sent(979_000_000, 0), &received(1_000_000_000, 0), 0)]);
    assert_eq!((found.len(), found[0].severity), (1, Severity::Warning), "nobody else carried it");
    assert!(
        found[0].text.contains("but eth0 of n1 sent only 979 MB; no other interface"),
        "{}",
        found[0].text
    );
}

#[test]
fn where_a_library_chooses_its_way_interfaces_or_ports_confirm_it() {
    let of = |nic: &Value, port: &Value| {
        let mut case = case(&sent(0, 0), &received(0, 0), 0);
        let row = json!({ "from": "n1", "to": "n2", "bytes": 1_000_000_000, "buffered": 0, "sender": "any", "receiver": "any" });
        case.evidence.insert("moved".to_owned(), json!([row]));
        let probes = json!({ "nic": { "counts": nic }, "ib_port": { "counts": port } });
        case.evidence.insert("probes".to_owned(), json!({ "n1": probes }));
        find(&[case])
    };
    let (nothing, much) = (json!({ "tx_bytes eth0": 5, "tx_bytes lo": 2_000_000_000 }), 1_010_000_000);
    assert_eq!(of(&nothing, &json!({ "tx_bytes mlx5_0/1": much })), []);
    assert_eq!(of(&json!({ "tx_bytes eth0": 505_000_000, "tx_bytes eth1": 505_000_000 }), &json!({})), []);
    let found = of(&nothing, &json!({ "tx_bytes mlx5_0/1": 7_000_000 }));
    assert!(found[0].text.contains("but mlx5_0/1 of n1 sent only 7 MB"), "{}", found[0].text);
}

#[test]
fn what_went_over_rdma_is_looked_for_at_its_port() {
    let of = |first: u64, second: u64| {
        let mut case = measured("n1");
        case.nodes.push("n2".to_owned());
        case.chosen.set("port", "mlx5_0/1");
        case.chosen.set("peer_port", "mlx5_2/1");
        let moved = json!([{ "from": "n1", "to": "n2", "bytes": 1_000_000_000, "buffered": 0 }]);
        case.evidence.insert("moved".to_owned(), moved);
        let port = |counts: &Value| json!({ "ib_port": { "counts": counts } });
        let sent = port(&json!({ "tx_bytes mlx5_0/1": first, "tx_bytes mlx5_1/1": 0 }));
        let received =
            port(&json!({ "rx_bytes mlx5_2/1": second, "rx_bytes mlx5_3/1": 1_010_000_000 - second }));
        case.evidence.insert("probes".to_owned(), json!({ "n1": sent, "n2": received }));
        find(&[case])
    };
    assert_eq!(of(1_010_000_000, 1_010_000_000), []);
    let found = of(1_010_000_000, 5_000_000);
    assert!(found[0].text.contains("but mlx5_2/1 of n2 received only 5 MB"), "{}", found[0].text);
    assert!(
        found[0].text.ends_with("mlx5_3/1 (1005 MB) carried them: check -p device= and -p peer_device="),
        "{}",
        found[0].text
    );
    assert_eq!(found[0].evidence, ["moved", "probes.n2.ib_port"]);
}

#[test]
fn a_short_cut_through_the_kernel_is_found_and_named() {
    let found = find(&[case(&sent(4_000, 1_010_000_000), &received(1_046_000_000, 0), 0)]);
    let [finding] = found.as_slice() else { panic!("{found:?}") };
    assert_eq!((finding.severity, finding.node.as_deref()), (Severity::Problem, Some("n1")));
    assert!(
        finding
            .text
            .contains("sent only 0.004 MB; lo (1010 MB) carried them: both addresses belong to one host")
    );
    assert_eq!(finding.evidence, ["moved", "probes.n1.nic"]);
}

#[test]
fn another_card_is_named_too_and_at_the_receiver() {
    let other = json!({ "rx_bytes eth0": 10, "rx_bytes eth1": 1_046_000_000, "rx_bytes lo": 77 });
    let found = find(&[case(&sent(1_046_000_000, 0), &other, 0)]);
    assert!(found[0].text.contains("eth1 (1046 MB) carried them: check the routes"), "{}", found[0].text);
    assert_eq!(found[0].node.as_deref(), Some("n2"));
}

#[test]
fn what_waits_in_buffers_is_allowed_for_and_rails_are_added_up() {
    let almost = case(&sent(1_046_000_000, 0), &received(960_000_000, 0), 30_000_000);
    assert_eq!(find(&[almost]), []);
    let half = json!({ "tx_bytes eth0": 520_000_000, "tx_bytes eth1": 500_000_000 });
    let mut rails = case(&half, &received(1_046_000_000, 0), 0);
    assert_eq!(find(std::slice::from_ref(&rails)).len(), 1);
    rails.chosen.set("interface", "eth0+eth1");
    assert_eq!(find(&[rails]), []);
}

#[test]
fn what_went_elsewhere_contradicts_and_what_was_not_shown_is_only_doubted() {
    let lo = case(&sent(4_000, 1_010_000_000), &received(1_046_000_000, 0), 0);
    let why = contradiction(&lo).expect("elsewhere");
    assert!(
        why.starts_with("1000 MB went from n1 to n2, but eth0 of n1 sent only 0.004 MB; lo (1010"),
        "{why}"
    );
    // No other interface counted the bytes. In trials of 600 ms the counters may be late as a whole; in trials of 5 s
    // they miss a fifth at most, and the bytes of 5 trials are at least 0.78 GB.
    for (time, count, contradicts) in
        [("600 ms", 0, false), ("5 s", 780_000_001, false), ("5 s", 779_999_999, true)]
    {
        let mut missing = case(&sent(count, 0), &received(1_046_000_000, 0), 0);
        let typed = seatrial_model::Kind::Time(Nanos(0), Nanos::secs(60)).parse(time).expect("a time");
        missing.params.set("time", typed);
        assert_eq!(contradiction(&missing).is_some(), contradicts, "{count} within {time}");
        assert!(doubt(&missing).is_some());
        let wanted = if contradicts { Severity::Problem } else { Severity::Warning };
        assert_eq!(find(&[missing])[0].severity, wanted);
    }
    let mut few = case(&sent(10, 9_000_000), &received(1_046_000_000, 0), 0);
    few.evidence.insert("moved".to_owned(), json!([{ "from": "n1", "to": "n2", "bytes": 9_000_000 }]));
    assert!(contradiction(&few).is_none() && doubt(&few).is_some(), "others' traffic may be as much");
    let unread = case(&json!({}), &received(1_046_000_000, 0), 0);
    assert_eq!((contradiction(&unread), doubt(&unread)), (None, None), "what cannot be read proves nothing");
}

/// A case of two rails with 500 MB each, with these counts of the first node.
fn rails(eth0: u64, eth1: u64) -> CaseRecord {
    let mut case = case(&json!({ "tx_bytes eth0": eth0, "tx_bytes eth1": eth1 }), &json!({}), 0);
    for name in ["interface", "peer_interface"] {
        case.chosen.set(name, "eth0+eth1");
    }
    let row = |name: &str| {
        let end = json!({ "interface": name });
        json!({ "from": "n1", "to": "n2", "sender": end, "receiver": end, "bytes": 500_000_000 })
    };
    case.evidence.insert("moved".to_owned(), json!([row("eth0"), row("eth1")]));
    let both = json!({ "rx_bytes eth0": 523_000_000, "rx_bytes eth1": 523_000_000 });
    case.evidence.get_mut("probes").expect("there")["n2"]["nic"]["counts"] = both;
    case
}

#[test]
fn each_rail_must_have_carried_its_own_part() {
    assert_eq!(find(&[rails(523_000_000, 523_000_000)]), []);
    // All of it over the first rail, as when both addresses are in one network and the routes know one way to it.
    let found = find(&[rails(1_046_000_000, 0)]);
    let [finding] = found.as_slice() else { panic!("{found:?}") };
    assert_eq!(finding.severity, Severity::Problem);
    assert!(
        finding.text.contains(
            "but eth1 of n1 sent only 0 MB; eth0 (1046 MB, of which 500 MB were its own) carried them"
        ),
        "{}",
        finding.text
    );
    // The other rail's own share is no sign that it carried this rail's.
    let late = rails(523_000_000, 100_000_000);
    assert_eq!((contradiction(&late), find(&[late])[0].severity), (None, Severity::Warning));
}

/// A case of two ports of each node with 500 MB each, with these sent bytes of the first node's ports.
fn ports(sent: &Value) -> CaseRecord {
    let mut case = measured("n1");
    case.nodes.push("n2".to_owned());
    case.chosen.set("port", "mlx5_0/1+mlx5_1/1");
    case.chosen.set("peer_port", "mlx5_2/1+mlx5_3/1");
    let row = |sender: &str, receiver: &str| {
        let (sender, receiver) = (json!({ "port": sender }), json!({ "port": receiver }));
        json!({ "from": "n1", "to": "n2", "bytes": 500_000_000, "buffered": 0, "sender": sender, "receiver": receiver })
    };
    let rows = json!([row("mlx5_0/1", "mlx5_2/1"), row("mlx5_1/1", "mlx5_3/1")]);
    case.evidence.insert("moved".to_owned(), rows);
    let received = json!({ "rx_bytes mlx5_2/1": 505_000_000, "rx_bytes mlx5_3/1": 505_000_000 });
    let probes = json!({ "n1": { "ib_port": sent }, "n2": { "ib_port": { "counts": received } } });
    case.evidence.insert("probes".to_owned(), probes);
    case
}

#[test]
fn each_port_of_a_case_must_have_carried_its_own_part() {
    let sent = |first: u64, second: u64| json!({ "counts": { "tx_bytes mlx5_0/1": first, "tx_bytes mlx5_1/1": second } });
    assert_eq!(find(&[ports(&sent(505_000_000, 505_000_000))]), []);
    // Their sum is right.
    let one = ports(&sent(1_010_000_000, 0));
    let found = find(std::slice::from_ref(&one));
    let [finding] = found.as_slice() else { panic!("{found:?}") };
    assert_eq!((finding.severity, finding.node.as_deref()), (Severity::Problem, Some("n1")));
    let wanted = "500 MB went from n1 to n2, but mlx5_1/1 of n1 sent only 0 MB; mlx5_0/1 (1010 MB, of which 500 MB were \
                  its own) carried them too: the traffic used fewer paths";
    assert!(finding.text.contains(wanted), "{}", finding.text);
    assert!(contradiction(&one).is_some());
}

#[test]
fn a_port_whose_counters_are_missing_proves_nothing_and_hides_nothing() {
    let folder = "/sys/class/infiniband/mlx5_1/ports/1";
    let lacks = "so it is not known whether it carried the measured traffic";
    for (seen, why) in [
        (
            json!({ "counts": { "tx_bytes mlx5_0/1": 1_010_000_000 }, "unreadable": [format!("{folder} has no counters")] }),
            format!("{folder} has no counters"),
        ),
        // In one trial of several: the sum over the other trials is incomplete.
        (
            json!({ "counts": { "tx_bytes mlx5_0/1": 1_010_000_000, "tx_bytes mlx5_1/1": 300_000_000 },
                    "backwards": ["tx_bytes mlx5_1/1"] }),
            "tx_bytes mlx5_1/1 went backwards: it was reset".to_owned(),
        ),
        (
            json!({ "counts": { "tx_bytes mlx5_0/1": 1_010_000_000, "tx_bytes mlx5_1/1": 300_000_000 },
                    "unreadable": ["tx_bytes mlx5_1/1 vanished between the readings", "tx_bytes mlx5_1/1: full",
                                   "tx_bytes mlx5_1/10: full too"] }),
            "tx_bytes mlx5_1/1: full".to_owned(),
        ),
    ] {
        let case = ports(&seen);
        let found = find(std::slice::from_ref(&case));
        let [finding] = found.as_slice() else { panic!("{found:?}") };
        assert_eq!((finding.severity, contradiction(&case), doubt(&case)), (Severity::Info, None, None));
        let wanted = format!("the counters of mlx5_1/1 of n1 could not be read ({why}), {lacks}");
        assert!(finding.text.ends_with(&wanted), "{}", finding.text);
    }
    // No probe at one end; the other end shows that nothing reached one of its ports.
    let mut blind = ports(&json!({}));
    blind.evidence.get_mut("probes").expect("there")["n1"] = json!({});
    let told: Vec<Severity> = find(std::slice::from_ref(&blind)).iter().map(|it| it.severity).collect();
    assert_eq!(told, [Severity::Info, Severity::Info]);
    let came = json!({ "rx_bytes mlx5_2/1": 1_010_000_000, "rx_bytes mlx5_3/1": 0 });
    blind.evidence.get_mut("probes").expect("there")["n2"]["ib_port"]["counts"] = came;
    let why = contradiction(&blind).expect("the second port received nothing");
    assert!(why.contains("mlx5_3/1 of n2 received only 0 MB; mlx5_2/1 (1010 MB, of which"), "{why}");
}

#[test]
fn ends_that_software_plays_are_looked_for_at_their_interfaces_and_cards_at_their_ports() {
    let mut case = ports(&json!({ "counts": { "tx_bytes mlx5_0/1": 505_000_000 } }));
    let end = |kind: &str, name: &str| json!({ kind: name });
    let row = json!([{ "from": "n1", "to": "n2", "bytes": 500_000_000, "sender": end("port", "mlx5_0/1"),
                       "receiver": end("interface", "eth0") }]);
    case.evidence.insert("moved".to_owned(), row);
    let nic = |bytes: u64| json!({ "nic": { "counts": { "rx_bytes eth0": bytes } } });
    case.evidence.get_mut("probes").expect("there")["n2"] = nic(523_000_000);
    assert_eq!(find(std::slice::from_ref(&case)), []);
    case.evidence.get_mut("probes").expect("there")["n2"] = nic(100);
    assert!(find(&[case])[0].text.contains("but eth0 of n2 received only 0.0001 MB"));
}

#[test]
fn two_cards_of_one_node_are_both_ends_of_a_path() {
    let of = |received: u64| {
        let counts = json!({ "tx_bytes mlx5_0/1": 505_000_000, "rx_bytes mlx5_0/1": 9, "rx_bytes mlx5_1/1": received });
        let mut case = ports(&json!({ "counts": counts }));
        case.nodes.truncate(1);
        let end = |name: &str| json!({ "port": name });
        let row = json!([{ "from": "n1", "to": "n1", "bytes": 500_000_000, "sender": end("mlx5_0/1"),
                           "receiver": end("mlx5_1/1") }]);
        case.evidence.insert("moved".to_owned(), row);
        find(&[case])
    };
    assert_eq!(of(505_000_000), []);
    let wanted = "500 MB went from mlx5_0/1 of n1 to mlx5_1/1 of n1, but mlx5_1/1 of n1 received only 1 MB";
    assert!(of(1_000_000)[0].text.contains(wanted));
}

#[test]
fn without_a_choice_there_is_nothing_to_confirm_and_without_counters_no_proof() {
    let mut routed = case(&sent(0, 0), &received(0, 0), 0);
    routed.chosen = seatrial_model::Params::default();
    assert_eq!(find(&[routed]), []);
    let found = find(&[case(&json!({}), &received(1_046_000_000, 0), 0)]);
    assert_eq!((found.len(), found[0].severity), (1, Severity::Info));
}
