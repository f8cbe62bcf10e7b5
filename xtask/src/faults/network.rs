//! Faults of links, of what is sent over them, and of the programs at their ends.

use super::planted::Strength::{Just, Plain, Weak};
use super::planted::{Planted, Strength, Who};

/// TCP between all pairs, in both directions.
const STREAMS: &[&str] = &[
    "run",
    "net.tcp_stream",
    "--pattern",
    "matchings",
    "-w",
    "NODES",
    "-p",
    "time=700ms",
    "-p",
    "trials=3",
    "-p",
    "max_trials=3",
];

pub fn faults() -> Vec<Planted> {
    let mut all = vec![Planted {
        who: Who::Nobody,
        ..of_n3("nothing", Plain, "a sound lab".to_owned(), &[], &[], &[""])
    }];
    for (strength, rate) in [(Plain, "80mbit"), (Weak, "400mbit"), (Just, "1gbit")] {
        let line = |device: &str| {
            format!("tc qdisc replace dev {device} root tbf rate {rate} burst 256kb latency 20ms")
        };
        let undo = |device: &str| format!("tc qdisc delete dev {device} root");
        let cause = &["shape", "tbf"];
        let of = |name, what: &str, host, device: &str| {
            let what = format!("{what} shaped to {rate}");
            of_n3(name, strength, what, &[(host, line(device))], &[(host, undo(device))], cause)
        };
        all.push(of("shaped-sending", "what n3 sends is", "n3", "eth0"));
        all.push(of("shaped-receiving", "what n3 receives is, in the switch,", "head", "n3"));
    }
    for (strength, one_in) in [(Plain, 100), (Weak, 1000), (Just, 10_000)] {
        let cause = &["lost", "loss", "retransm"];
        let what = |where_: &str| format!("one of {one_in} packets that n3 {where_} is dropped");
        all.push(dropped("loss-in", strength, what("receives"), "n3", "eth0", &random(one_in), cause));
        all.push(dropped("loss-out", strength, what("sends"), "head", "n3", &random(one_in), cause));
    }
    all.push(dropped(
        "ack-loss",
        Plain,
        "two of three packets without data that n3 receives are dropped".to_owned(),
        "n3",
        "eth0",
        "ip length < 80 ip protocol tcp numgen inc mod 3 < 2 drop",
        &["lost", "loss", "retransm", "acknowledg"],
    ));
    all.push(dropped(
        "black-hole",
        Plain,
        "packets above 3,000 B that n3 receives vanish".to_owned(),
        "n3",
        "eth0",
        "ip length > 3000 drop",
        &["mtu", "large packets", "packets above", "black hole"],
    ));
    all.push(of_n3(
        "mtu",
        Plain,
        "the interface of n3 has MTU 1500, the others 9000".to_owned(),
        &[("n3", "ip link set dev eth0 mtu 1500".to_owned())],
        &[("n3", "ip link set dev eth0 mtu 9000".to_owned())],
        &["mtu"],
    ));
    for (strength, most) in [(Plain, 8192), (Weak, 32_768)] {
        for (name, sysctl) in [("receive-buffer", "tcp_rmem"), ("send-buffer", "tcp_wmem")] {
            all.push(of_n3(
                name,
                strength,
                format!("net.ipv4.{sysctl} of n3 ends at {most} B"),
                &[("n3", format!("sysctl -n net.ipv4.{sysctl} > /tmp/{sysctl}; sysctl -w net.ipv4.{sysctl}='4096 4096 {most}'"))],
                &[("n3", format!("sysctl -w net.ipv4.{sysctl}=\"$(cat /tmp/{sysctl})\"; rm /tmp/{sysctl}"))],
                &["buffer", "tcp_rmem", "tcp_wmem"],
            ));
        }
    }
    all.push(dropped(
        "filtered",
        Plain,
        "requests for connections that n3 receives vanish, but for those to sshd".to_owned(),
        "n3",
        "eth0",
        "tcp flags syn / syn,ack tcp dport != 22 drop",
        &["firewall", "filter"],
    ));
    all
}

fn of_n3(
    name: &'static str,
    strength: Strength,
    what: String,
    plant: &[(&'static str, String)],
    heal: &[(&'static str, String)],
    cause: &'static [&'static str],
) -> Planted {
    let (plant, heal) = (plant.to_vec(), heal.to_vec());
    Planted { name, strength, what, plant, heal, run: STREAMS, who: Who::Node("n3"), cause }
}

/// Packets that come in at `device` of `host` are dropped as `rule` of nft(8) says.
fn dropped(
    name: &'static str,
    strength: Strength,
    what: String,
    host: &'static str,
    device: &str,
    rule: &str,
    cause: &'static [&'static str],
) -> Planted {
    let chain = "chain incoming { type filter hook ingress device";
    let table = format!("nft 'table netdev planted {{ {chain} {device} priority 0; {rule}; }}; }}'");
    let plant = [segments(1), vec![(host, table)]].concat();
    let heal = [vec![(host, "nft delete table netdev planted".to_owned())], segments(65535)].concat();
    of_n3(name, strength, what, &plant, &heal, cause)
}

/// Chains of so many segments at most, on all links alike: with one, what is dropped is one packet of the wire.
fn segments(most: u32) -> Vec<(&'static str, String)> {
    let all = format!(
        "for device in /sys/class/net/n[1-9]*; do ip link set dev ${{device##*/}} gso_max_segs {most}; done"
    );
    let own = |node| (node, format!("ip link set dev eth0 gso_max_segs {most}"));
    [vec![("head", all)], ["n1", "n2", "n3", "n4"].map(own).to_vec()].concat()
}

fn random(one_in: u32) -> String {
    format!("numgen random mod {one_in} == 0 drop")
}
