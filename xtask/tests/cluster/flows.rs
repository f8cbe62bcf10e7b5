//! What flows between real nodes come to, against what shapers count.

use libtest_mimic::Trial;
use serde_json::Value;

use crate::rig::{REQUESTS, Rig, on_rails};
use crate::started::{outcome, reason};
use crate::trial;
use seatrial_testkit::starved::{Watch, explains};

pub fn trials() -> Vec<Trial> {
    vec![
        trial("a_stream_over_a_shaped_link_is_what_the_shaper_let_through", over_a_shaped_link),
        trial("flows_over_two_rails_are_told_rail_by_rail_and_in_sum", over_two_rails),
        trial("flows_cross_over_to_the_other_rail_of_the_second_node", crossed_over),
        trial("crossed_rails_tell_separate_rails_from_joined_ones_and_blame_nobody", counter_test),
        trial("a_rail_that_a_node_has_not_got_is_named", a_rail_that_is_not_there),
        trial(
            "a_node_whose_name_does_not_resolve_is_never_reached_and_says_so",
            a_name_that_does_not_resolve,
        ),
    ]
}

/// Tries of one measurement. Other work on the machine keeps both ends and the shaper from their CPUs, which lowers the
/// rate of any single one; an error of the method would show in all.
const TRIES: usize = 6;

/// Of a frame of 9014 B, with its Ethernet header as the shaper counts it, headers of IPv4, TCP and timestamps leave this.
const PAYLOAD: f64 = (9000.0 - 52.0) / 9014.0;

const NODES: &[&str] = &["-w", "n[1-2]", "-o", "json"];

/// One short trial of two nodes, moved in the plain way.
const STREAM: &[&str] = &[
    "run",
    "net.tcp_stream",
    "-p",
    "time=1500ms",
    "-p",
    "trials=1",
    "-p",
    "max_trials=1",
    "-p",
    "send=write",
    "-p",
    "receive=read",
    "-p",
    "congestion=cubic",
];

/// Shapes what n1 sends on an interface.
fn shape(rig: &Rig, interface: &str, mbit: u64) {
    // What flows in 5 ms, so that a machine that is busy for a moment loses nothing of the rate; and no less than the
    // largest chain of segments that the kernel hands down in one piece.
    let burst = (mbit * 125_000 / 200).max(64 << 10);
    let line =
        format!("tc qdisc replace dev {interface} root tbf rate {mbit}mbit burst {burst} latency 20ms");
    rig.lab.node("n1", &line);
}

fn unshape(rig: &Rig) {
    rig.lab.node("n1", "for name in eth0 eth1; do tc qdisc delete dev $name root 2>/dev/null || true; done");
}

/// Gbit/s of payload over the whole window.
fn throughput(result: &Value) -> f64 {
    result["metrics"]["throughput"]["mean"].as_f64().unwrap_or_else(|| panic!("{result}"))
}

/// Gbit/s of payload that went through the queue of an interface of the sender meanwhile, by its own count.
fn counted(result: &Value, interface: &str) -> f64 {
    let queues = result["evidence"]["client"]["queues"].as_array().expect("queues");
    let queue = queues.iter().find(|queue| queue["interface"] == interface).expect("the interface");
    assert_eq!(queue["kinds"], serde_json::json!(["tbf"]), "{queue}");
    let number = |name: &str| queue[name].as_f64().expect("a number");
    number("bytes") / number("window_ns") * 8.0 * PAYLOAD
}

/// A measurement that comes to its end, of a few: nodes that get no CPU for seconds are taken for gone. Also the part of
/// the time that the machine took for itself.
fn streamed(rig: &Rig, options: &[&str]) -> (Value, f64) {
    for _ in 1..TRIES {
        let watch = Watch::begin();
        let ended = rig.run(&[STREAM, NODES, options]);
        if ended.code == Some(0) {
            return (ended.document(0)["results"][0].clone(), watch.end());
        }
    }
    let watch = Watch::begin();
    (rig.run(&[STREAM, NODES, options]).document(0)["results"][0].clone(), watch.end())
}

fn over_a_shaped_link() {
    on_rails(|rig| {
        // More rates are tried within one process.
        for mbit in [50, 400] {
            shape(rig, "eth0", mbit);
            let nominal = mbit as f64 / 1e3 * PAYLOAD;
            let (mut seen, mut is_explained, mut met) = (Vec::new(), true, false);
            while !met && seen.len() < TRIES {
                let (result, starved) = streamed(rig, &["-p", "interface=eth0"]);
                let rate = throughput(&result);
                let (of_nominal, of_counted) = (rate / nominal - 1.0, rate / counted(&result, "eth0") - 1.0);
                met = of_nominal.abs() < 0.003 && of_counted.abs() < 0.002;
                // Off by no more than what the machine took; or lower than the link, and it says that it was no path that
                // made it so.
                let limited = &result["evidence"]["limited_by"];
                let is_low_for_a_reason = of_nominal < 0.0 && limited.get("path").is_none();
                is_explained &= explains(starved, of_counted.abs() - 0.002)
                    && (is_low_for_a_reason || explains(starved, of_nominal.abs() - 0.003));
                seen.push(format!(
                    "{of_nominal:+.5} of nominal, {of_counted:+.5} of counted, limited by {limited}, starved for \
                     {starved:.2} of the time"
                ));
            }
            #[expect(clippy::print_stdout, reason = "shown when the test fails or is asked to")]
            {
                println!("{mbit} Mbit/s: {}", seen.join("; "));
            }
            // A machine that let none of them be undisturbed says so.
            assert!(met || is_explained, "{mbit} Mbit/s: {}", seen.join("; "));
        }
        unshape(rig);
    });
}

fn over_two_rails() {
    on_rails(|rig| {
        shape(rig, "eth0", 300);
        shape(rig, "eth1", 100);
        let (mut seen, mut is_explained, mut met) = (Vec::new(), true, false);
        while !met && seen.len() < TRIES {
            let (result, starved) = streamed(rig, &["-p", "rails=eth0+eth1", "-p", "flows=4"]);
            let result = &result;
            assert_eq!(result["chosen"]["interface"], "eth0+eth1", "{result}");
            for part in ["client", "server"] {
                assert_eq!(result["evidence"][part]["interface"], "eth0+eth1", "{part}");
            }
            let rows = result["series"]["by_rail"]["rows"].as_array().expect("rails");
            let rate = |rail: u64| {
                let row = rows.iter().find(|row| row["at"]["rail"] == rail).expect("a rail");
                row["summary"]["mean"].as_f64().expect("a rate")
            };
            assert_eq!(rows.len(), 2, "{rows:?}");
            let sum = rate(0) + rate(1);
            // The parts are of the same window as the whole.
            assert!((sum / throughput(result) - 1.0).abs() < 1e-6, "{sum} and {}", throughput(result));
            let off = [(0, "eth0"), (1, "eth1")].map(|(rail, name)| rate(rail) / counted(result, name) - 1.0);
            met = off.iter().all(|off| off.abs() < 0.005);
            is_explained &= off.iter().all(|off| explains(starved, off.abs() - 0.005));
            seen.push(format!("{off:?}, starved for {starved:.2} of the time"));
        }
        unshape(rig);
        assert!(met || is_explained, "of what the shapers counted: {}", seen.join("; "));
    });
}

/// A link between the switches of the rails, and a route from each interface into the network of the other.
const CROSS: &str = "mtu=$(cat /sys/class/net/br0/mtu) && ip link add cross0 mtu $mtu type veth peer name cross1 mtu $mtu && \
                     ip link set cross0 master br0 up && ip link set cross1 master br1 up";
/// Each interface answers for its own address alone.
const ROUTES: &str = "ip route add 10.77.1.0/24 dev eth0 metric 9 && ip route add 10.77.0.0/24 dev eth1 metric 9 && \
                      sysctl -q -w net.ipv4.conf.all.arp_ignore=1 && ip neigh flush all";
const NO_ROUTES: &str = "ip route del 10.77.1.0/24 dev eth0 metric 9; ip route del 10.77.0.0/24 dev eth1 metric 9; \
                         sysctl -q -w net.ipv4.conf.all.arp_ignore=0; ip neigh flush all";

fn crossed_over() {
    on_rails(|rig| {
        rig.lab.head(CROSS);
        for node in ["n1", "n2"] {
            rig.lab.node(node, ROUTES);
        }
        let crossed = ["-p", "rails=eth0:eth1+eth1:eth0", "-p", "flows=2"];
        let (result, _) = streamed(rig, &crossed);
        for node in ["n1", "n2"] {
            rig.lab.node(node, NO_ROUTES);
        }
        rig.lab.head("ip link delete cross0");
        for (part, names) in [("client", "eth0+eth1"), ("server", "eth1+eth0")] {
            assert_eq!(result["evidence"][part]["interface"], names, "{part}");
        }
        let rows = result["evidence"]["moved"].as_array().expect("rows");
        let ends: Vec<_> =
            rows.iter().map(|row| [&row["sender"]["interface"], &row["receiver"]["interface"]]).collect();
        assert_eq!(ends, [["eth0", "eth1"], ["eth1", "eth0"]], "{rows:?}");
        let findings = result["findings"].to_string();
        assert!(!findings.contains("path-unconfirmed"), "the counters confirm it: {findings}");
    });
}

/// Straight rails and crossed ones: without a way between the switches of the rails, and with one.
fn counter_test() {
    on_rails(|rig| {
        let both = ["-p", "rails=2,cross", "-p", "flows=2"];
        let found = |document: &Value, kind: &str| -> Vec<String> {
            let findings = document["findings"].as_array().into_iter().flatten();
            let own = findings.filter(|finding| finding["kind"] == kind);
            own.map(|finding| finding["text"].as_str().expect("a text").to_owned()).collect()
        };
        let document = rig.run(&[STREAM, NODES, &both]).document(1);
        let outcome_of = |rails: &str| {
            let mut results = document["results"].as_array().expect("results").iter();
            results.find(|case| case["params"]["rails"] == rails).expect("a case")["outcome"].clone()
        };
        assert_eq!([outcome_of("2"), outcome_of("cross")], ["measured", "failed"], "{document}");
        let told = found(&document, "crossed-rails");
        let [text] = told.as_slice() else { panic!("{}", document["findings"]) };
        assert!(text.contains("nothing comes to the next one: the rails are separate"), "{text}");
        for kind in ["culprit", "not-reached", "slow-node"] {
            assert_eq!(found(&document, kind), [""; 0], "{kind}");
        }
        rig.lab.head(CROSS);
        for node in ["n1", "n2"] {
            rig.lab.node(node, ROUTES);
        }
        let ended = (0..TRIES).map(|_| rig.run(&[STREAM, NODES, &both])).find(|ended| ended.code == Some(0));
        for node in ["n1", "n2"] {
            rig.lab.node(node, NO_ROUTES);
        }
        rig.lab.head("ip link delete cross0");
        let document = ended.expect("measured").document(0);
        let told = found(&document, "crossed-rails");
        let [text] = told.as_slice() else { panic!("{}", document["findings"]) };
        assert!(text.contains("the rails are joined"), "{text}");
    });
}

fn a_rail_that_is_not_there() {
    on_rails(|rig| {
        let ended = rig.run(&[STREAM, NODES, &["-p", "rails=eth0+eth7", "-p", "flows=2"]]);
        let document = ended.document(ended.code.expect("an exit code"));
        let text = document.to_string();
        assert!(text.contains("n1 has no interface eth7; it has"), "{text}");
    });
}

fn a_name_that_does_not_resolve() {
    on_rails(|rig| {
        let document = rig.run(&[REQUESTS, &["-w", "n1,n77", "-o", "json"]]).document(3);
        assert_eq!(outcome(&document, "net.rr"), ("unmeasured", "never_reached"));
        let why = reason(&document, "net.rr");
        assert!(why.contains("n77") && why.contains("resolve"), "{why}");
    });
}
