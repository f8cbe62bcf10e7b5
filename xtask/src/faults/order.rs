//! Packets that come twice, or after later ones.

use super::network::of_n3;
use super::planted::Planted;
use super::planted::Strength::{Just, Plain, Weak};

/// The two ends of the link of n3, as host and interface, with the name and the words of faults of what is sent there.
const ENDS: [(&str, &str, [&str; 3]); 2] = [
    ("n3", "eth0", ["duplicates-out", "reordering-out", "sends"]),
    ("head", "n3", ["duplicates-in", "reordering-in", "receives"]),
];

/// The rate of the slow one of two ways.
const SLOW_WAY: &str = "100mbit";

/// One packet in so many is sent twice.
pub fn duplicates() -> impl Iterator<Item = Planted> {
    [(Plain, 10), (Weak, 50), (Just, 100)].into_iter().flat_map(|(strength, one_in)| {
        ENDS.map(|(host, interface, [name, _, does])| {
            let what = format!("one in {one_in} of the packets that n3 {does} comes twice");
            of_n3(name, strength, &what, &["come twice"]).unchained().sending(
                host,
                interface,
                &format!("ip length > 1000 numgen inc mod {one_in} == 0 dup to \"{interface}\""),
            )
        })
    })
}

/// One packet in so many takes a way of its own, on which it is slower.
pub fn reordering() -> impl Iterator<Item = Planted> {
    [(Plain, 10), (Weak, 30), (Just, 100)].into_iter().flat_map(|(strength, one_in)| {
        ENDS.map(|(host, interface, [_, name, does])| {
            let what = format!("one in {one_in} of the packets that n3 {does} takes a slower way, of {SLOW_WAY}");
            let fault = of_n3(name, strength, &what, &["come after later ones"]).unchained();
            let ways = format!(
                "tc qdisc add dev {interface} root handle 1: htb default 0 && tc class add dev {interface} parent 1: classid \
                 1:2 htb rate {SLOW_WAY} burst 9kb cburst 9kb && tc qdisc add dev {interface} parent 1:2 pfifo limit 1000"
            );
            fault.by_lines_on(host, &ways, &format!("tc qdisc del dev {interface} root")).sending(
                host,
                interface,
                &format!("ip length > 1000 numgen inc mod {one_in} == 0 meta priority set \"1:2\""),
            )
        })
    })
}

impl Planted {
    /// `rule` of nft(8) sees what is sent over an interface of a host.
    fn sending(self, host: &'static str, interface: &str, rule: &str) -> Self {
        let chain =
            format!("chain outgoing {{ type filter hook egress device {interface} priority 0; {rule}; }}");
        let table = format!("nft 'table netdev planted {{ {chain}; }}'");
        self.by_lines_on(host, &table, "nft delete table netdev planted")
    }
}
