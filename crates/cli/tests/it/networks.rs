//! Shipped network profiles on simulated nodes with interfaces of their class and of another.

use seatrial_model::Verdict;
use seatrial_model::record::Document;
use serde_json::{Value, json};

use crate::rig::{Home, Script, machine};

fn interface(name: &str, layer: &str, mbit: u64, mtu: u64) -> Value {
    let known = |value: Value| json!({ "known": value });
    json!({
        "name": name, "kind": "physical", "link_layer": known(layer.into()), "speed_mbit_s": known(mbit.into()),
        "up": known(true.into()), "mtu": known(mtu.into()), "networks": known(json!(["10.1.0.0/16"])),
    })
}

const DRAGNET: &str = "dragnet --role dragnet=n[1-2] --role cobalt=n[3-4]";

/// `seatrial check PROFILE` on four nodes with this interface, between which streams reach `gbit` Gbit/s.
fn check(profile: &str, nic: &Value, flows: u32, gbit: f64) -> Document {
    let home = Home::new();
    let script = Script::streams(4, gbit).stream("*", flows, gbit).interface(nic);
    home.seatrial(&format!("check {profile} -o json")).script(&script).run().document()
}

fn verdicts(document: &Document, criterion: &str) -> Vec<Verdict> {
    let own = document.verdicts.iter().filter(|record| record.criterion == criterion);
    let mut all: Vec<Verdict> = own.map(|record| record.verdict).collect();
    all.dedup();
    all
}

#[test]
fn the_figures_of_dragnet_are_judged_on_interfaces_of_their_class_only() {
    let fdr = interface("ib0", "infiniband", 56_000, 65_520);
    assert_eq!(verdicts(&check(DRAGNET, &fdr, 2, 46.0), "ipoib-tcp"), [Verdict::Pass]);
    assert_eq!(verdicts(&check(DRAGNET, &fdr, 2, 40.0), "ipoib-tcp"), [Verdict::Fail]);
    let other = check(DRAGNET, &interface("eth0", "ethernet", 100_000, 9000), 2, 90.0);
    for criterion in ["ipoib-tcp", "ipoib-udp", "ipoib-tcp-latency", "ethernet-tcp", "rdma-write"] {
        assert_eq!(verdicts(&other, criterion), [Verdict::Unknown], "{criterion}");
    }
}

/// The interfaces of a node, each in a network of its own.
fn apart(mut nics: [Value; 3]) -> Value {
    for (number, nic) in nics.iter_mut().enumerate() {
        nic["networks"] = json!({ "known": [format!("10.{number}.0.0/16")] });
    }
    json!(nics)
}

/// An InfiniBand port of four lanes under `ib0`, and a card for Ethernet that knows RDMA too.
fn cards(class: &str, rate: f64) -> Value {
    let known = |value: Value| json!({ "known": value });
    let card = |name: &str, layer: &str, class: &str, rate: f64, netdev: &str| {
        json!({ "name": name, "ports": [{
            "number": 1, "state": known("ACTIVE".into()), "link_layer": known(layer.into()),
            "rate_gbit_s": known(rate.into()), "lanes": known(4.into()), "speed_class": known(class.into()),
            "active_mtu": known(4096.into()), "netdevs": [netdev],
        }] })
    };
    json!([
        card("bnxt_re0", "Ethernet", "EDR", 100.0, "eth0"),
        card("mlx4_0", "InfiniBand", class, rate, "ib0")
    ])
}

#[test]
fn dragnet_measures_each_of_its_networks_and_the_trunks_to_its_neighbours() {
    let home = Home::new();
    let roles = "--role dragnet=n[1-2] --role dragproc=n3 --role cobalt=n4 --role cep2=n[3-4]";
    let nics = apart([
        interface("ib0", "infiniband", 56_000, 65_520),
        interface("eth0", "ethernet", 10_000, 9000),
        interface("eno1", "ethernet", 1000, 1500),
    ]);
    let script = Script::streams(4, 9.0).interfaces(&nics).hcas(&cards("FDR", 56.0));
    let planned = planned(&home, &format!("check dragnet {roles}"), &script);
    for case in [
        "ipoib-tcp n1/ib0 n2/ib0",
        "tcp-untuned n1/ib0 n2/ib0",
        "ethernet-tcp n1/eth0 n2/eth0",
        "ethernet-tcp n3/eth0 n4/eth0",
        "rdma-verified-fetch-add n1/mlx4_0/1 n2/mlx4_0/1",
        "rdma-trunk n1/mlx4_0/1 n4/mlx4_0/1",
        "trunk-out n1/eth0 n4/eth0",
        "cep2 n1/eth0 n3/eth0",
        "cep2 n2/eth0 n4/eth0",
    ] {
        assert!(planned.iter().any(|one| one == case), "no {case} in {planned:#?}");
    }
}

/// The planned cases between two nodes, each as `TEST NODE/PORT NODE/PORT`.
fn planned(home: &Home, command: &str, script: &Script) -> Vec<String> {
    let plan = home.seatrial(&format!("{command} --plan -o json")).script(script).run().exits(0).out;
    let plan: Value = serde_json::from_str(&plan).expect("JSON");
    let told = |case: &Value| {
        let word = |value: &Value| value.as_str().map(str::to_owned);
        let end = |index: usize, names: [&str; 2]| {
            let port = names.iter().find_map(|name| word(&case["planned"][*name]))?;
            Some(format!("{}/{port}", word(&case["nodes"][index])?))
        };
        let (one, other) = (end(0, ["interface", "port"])?, end(1, ["peer_interface", "peer_port"])?);
        Some(format!("{} {one} {other}", word(&case["group"])?))
    };
    plan["cases"].as_array().expect("cases").iter().filter_map(told).collect()
}

#[test]
fn the_transfer_study_is_planned_on_both_of_its_networks() {
    let home = Home::new();
    let nics = apart([
        interface("eth0", "ethernet", 100_000, 9000),
        interface("ib0", "infiniband", 40_000, 65_520),
        interface("eno1", "ethernet", 1000, 1500),
    ]);
    let reaching =
        |gbit| Script::streams(2, gbit).stream("*", 6, gbit).interfaces(&nics).hcas(&cards("QDR", 40.0));
    let planned = planned(&home, "check transfer-study", &reaching(60.0));
    for (case, count) in [
        ("move-losf n1/eth0 n2/eth0", 3),
        ("tuned-large n1/eth0 n2/eth0", 8),
        ("iperf n1/eth0 n2/eth0", 5),
        ("six n1/eth0 n2/eth0", 4),
        ("six-ipoib n1/ib0 n2/ib0", 4),
        ("native n1/mlx4_0/1 n2/mlx4_0/1", 1),
        ("layer-tcp n1/ib0 n2/ib0", 1),
        ("layer-verbs n1/mlx4_0/1 n2/mlx4_0/1", 1),
    ] {
        assert_eq!(planned.iter().filter(|one| *one == case).count(), count, "{case} in {planned:#?}");
    }
    // Of the 99 Gbit/s that the frames leave.
    for (gbit, verdict) in [(60.0, Verdict::Pass), (50.0, Verdict::Fail)] {
        let check = home.seatrial("check transfer-study -o json").script(&reaching(gbit)).run();
        assert_eq!(verdicts(&check.document(), "six"), [verdict], "{gbit}");
    }
}

#[test]
fn nearly_all_that_the_frames_of_ten_gigabit_leave_is_what_dragnet_wrote_down() {
    let jumbo = interface("eth0", "ethernet", 10_000, 9000);
    // 99 % of 10 Gbit/s x 8948 / 9038 are 9.801.
    assert_eq!(verdicts(&check(DRAGNET, &jumbo, 1, 9.88), "ethernet-tcp"), [Verdict::Pass]);
    assert_eq!(verdicts(&check(DRAGNET, &jumbo, 1, 9.7), "ethernet-tcp"), [Verdict::Fail]);
}

#[test]
fn the_lecture_tells_what_a_megabit_costs_on_cards_that_it_has_a_price_of() {
    let cost = |document: &Document| -> Vec<String> {
        let own = document.findings.iter().filter(|finding| finding.kind == "cost");
        own.map(|finding| finding.text.clone()).collect()
    };
    let gigabit = check("discov-net", &interface("eth0", "ethernet", 1000, 9000), 1, 0.94);
    let told = cost(&gigabit);
    let wanted = "a nic for 40 USD (slide 41, 2008), 1/24 of a switch for 1400 USD (slide 41, 2008) that carries 0.94 Gbit/s \
                  costs 104.6 USD per Gbit/s, 0.1046 USD per Mbit/s";
    assert!(!told.is_empty() && told.iter().all(|text| text == wanted), "{told:?}");
    let faster = check("discov-net", &interface("eth0", "ethernet", 10_000, 9000), 1, 9.4);
    assert_eq!(cost(&faster), [""; 0]);
    assert_eq!(verdicts(&faster, "gigabit-latency"), [Verdict::Skip]);
}

#[test]
fn a_sound_network_without_bonds_and_gigabit_passes_the_lecture() {
    let eth0 = interface("eth0", "ethernet", 10_000, 9000);
    let mut computer = machine();
    computer["nics"] = json!({ "known": [eth0] });
    let of_node = json!({ "kind": "node" });
    let setting = |id: &str, subject: &str, facts: &Value, value: Value| json!({ "setting": id, "subject": subject, "facts": facts, "present": { "value": value } });
    let facts =
        json!({ "kind": "nic", "name": "eth0", "link_layer": "ethernet", "up": true, "virtual": false });
    let mut settings = vec![setting("nic.mtu", "nic:eth0", &facts, 9000.into())];
    for id in [
        "net.rmem_consistent",
        "net.wmem_consistent",
        "net.rcvbuf_at_least_sndbuf",
        "net.ipv4.tcp_window_scaling",
    ] {
        settings.push(setting(id, "node", &of_node, true.into()));
    }
    let node = |name: &str| json!({ "name": name, "machine": computer, "settings": settings });
    let packets = |channel: &str| json!({ "channel": channel, "unit": "B", "span": "100 ms", "amounts": [9000], "repeat": 6 });
    let flow = json!({ "channel": "received", "at": { "direction": "forward", "flow": 0 }, "unit": "B",
                       "span": "100 ms", "amounts": [1.2e8], "repeat": 10 });
    let rules = vec![
        json!({ "when": { "bench": "net.mtu" }, "samples": [packets("forward"), packets("reverse")] }),
        json!({ "when": { "part": "server" }, "samples": [flow] }),
        json!({}),
    ];
    let script = Script::of(vec![node("n1"), node("n2")], rules);
    let ended = Home::new().seatrial("check discov-net -o json").script(&script).run().exits(0);
    let document = ended.document();
    for criterion in ["bond", "gigabit-latency", "gigabit-ping-pong"] {
        assert_eq!(verdicts(&document, criterion), [Verdict::Skip], "{criterion}");
    }
    assert_eq!(verdicts(&document, "frames"), [Verdict::Pass]);
}

#[test]
fn a_plan_names_the_tests_that_select_nothing_and_those_that_no_node_plays() {
    let home = Home::new();
    let script = Script::streams(2, 9.4).interface(&interface("eth0", "ethernet", 10_000, 9000));
    let plan = |check: &str| home.seatrial(&format!("check {check} --plan")).script(&script).run().exits(0);
    plan("discov-net").shows("bond net.tcp_stream n1").shows("n1->n2 has type=physical");
    plan("dragnet --role cobalt=n1").shows("no node has the role dragnet");
}

#[test]
fn a_bond_is_held_against_what_its_mode_lets_flows_use() {
    let home = Home::new();
    let member = |name: &str| interface(name, "ethernet", 1000, 9000);
    let mut bond = interface("bond0", "ethernet", 2000, 9000);
    bond["kind"] = "bond".into();
    bond["lower"] = json!(["eth0", "eth1"]);
    bond["bond"] = json!({ "mode": { "known": "802.3ad" }, "hash_policy": { "known": "layer3+4" } });
    let machine = json!([bond, member("eth0"), member("eth1")]);
    let script = ["flows=1", "flows=2", "flows=3"].iter().zip([0.98, 1.9, 1.2]).enumerate().fold(
        Script::streams(2, 0.98).interfaces(&machine),
        // One flow fills a member, two nearly fill both, and three share them unevenly.
        |script, (at, (flows, gbit))| script.stream(&format!("*{flows}*"), at as u32 + 1, gbit),
    );
    let document = home.seatrial("check discov-net -o json").script(&script).run().document();
    let of = |flows: u64| {
        let mut own = document.verdicts.iter().filter(|record| record.criterion == "bond");
        own.find(|record| {
            let case = record.case.as_ref().map(ToString::to_string).unwrap_or_default();
            let is_of = |case: &str| {
                if flows == 1 { !case.contains("flows=") } else { case.contains(&format!("flows={flows}")) }
            };
            is_of(&case)
        })
        .map(|record| record.verdict)
    };
    assert_eq!((of(1), of(2), of(3)), (Some(Verdict::Pass), Some(Verdict::Pass), Some(Verdict::Fail)));
}
