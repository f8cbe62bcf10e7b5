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

/// The control groups of CPU time, version 1.
const CPU_GROUPS: &str = "/sys/fs/cgroup/cpu";

pub fn faults() -> Vec<Planted> {
    let mut all = vec![Planted { who: Who::Nobody, ..of_n3("nothing", Plain, "a sound lab", &[""]) }];
    all.extend(shaped());
    all.extend(lossy());
    all.extend(buffers());
    all.push(
        of_n3("mtu", Plain, "the interface of n3 has MTU 1500, the others 9000", &["mtu"])
            .by_lab("mtu=1500")
            .certain(),
    );
    let large = &["mtu", "large packets", "packets above", "black hole"];
    all.push(
        of_n3("black-hole", Plain, "packets above 3,000 B that n3 receives vanish", large)
            .dropping("ip length > 3000 drop"),
    );
    let firewall = &["firewall"];
    let filtered = "requests for connections that n3 receives vanish, but for those to sshd";
    all.push(
        of_n3("filtered", Plain, filtered, firewall)
            .dropping("tcp flags syn / syn,ack tcp dport != 22 drop")
            .certain(),
    );
    let ports = "what n3 receives at ports from 1024 on vanishes, but for what sshd sends";
    all.push(of_n3("data-ports", Plain, ports, firewall).dropping("tcp dport >= 1024 tcp sport != 22 drop"));
    let rejected = "requests for connections that n3 receives are rejected, but for those to sshd";
    all.push(of_n3("rejected", Plain, rejected, firewall).by_line(
        "nft 'table inet planted { chain incoming { type filter hook input priority 0; tcp flags syn / syn,ack tcp dport != 22 \
         reject with icmpx admin-prohibited; }; }'",
        "nft delete table inet planted",
    ).certain());
    all.extend(ways());
    let core = &["cpus to run on", "fewer cpus"];
    all.push(
        of_n3("one-core", Plain, "programs of n3 may use one CPU of two", core)
            .by_line(
                "for pid in $(pgrep -x sshd); do taskset -pc 0 $pid; done",
                "for pid in $(pgrep -x sshd); do taskset -pc 0-1 $pid; done",
            )
            .certain(),
    );
    all.push(of_n3("hogged-cpu", Plain, "a cgroup gives the programs of n3 a fifth of a CPU", &["cpu quota", "cgroup"]).by_line(
        "mkdir -p $G/planted; echo 20000 > $G/planted/cpu.cfs_quota_us; for pid in $(pgrep -x sshd); do echo $pid > \
         $G/planted/cgroup.procs; done".replace("$G", CPU_GROUPS).as_str(),
        "for pid in $(cat $G/planted/cgroup.procs); do echo $pid > $G/cgroup.procs; done; rmdir $G/planted".replace("$G", CPU_GROUPS).as_str(),
    ));
    all
}

/// Faults of the way between n3 and the other nodes, but not of that between n3 and the head node.
fn ways() -> [Planted; 3] {
    let cut = "what n3 sends to other nodes vanishes";
    let route = "the routes of n3 to other nodes lead to a gateway that is not there";
    let flap = "the interface of n3 is down for 2 s, six times";
    let others = "for node in $(seq 9 | grep -v 3); do ip route";
    [
        of_n3("one-way-cut", Plain, cut, &["firewall"]).by_line(
            "nft 'table inet planted { chain outgoing { type filter hook output priority 0; \
             ip daddr 10.77.0.0/24 ip daddr != 10.77.0.254 drop; }; }'",
            "nft delete table inet planted",
        ),
        of_n3("wrong-route", Plain, route, &["route to it is wrong", "route to host"]).by_line(
            &format!("{others} add 10.77.0.$node/32 via 10.77.0.250; done"),
            &format!("{others} del 10.77.0.$node/32; done"),
        ),
        of_n3("flap", Plain, flap, &["lost its link"]).by_line(
            "(for time in $(seq 6); do sleep 7; ip link set eth0 down; sleep 2; ip link set eth0 up; done) \
             >/dev/null 2>&1 & echo $! > /tmp/flap",
            "kill $(cat /tmp/flap) 2>/dev/null; ip link set eth0 up; rm /tmp/flap",
        ),
    ]
}

fn shaped() -> impl Iterator<Item = Planted> {
    [(Plain, "80mbit"), (Weak, "400mbit"), (Just, "1gbit")].into_iter().flat_map(|(strength, rate)| {
        let of = |name, what: &str, way: &str, cause| {
            of_n3(name, strength, &format!("what n3 {what} is shaped to {rate}"), cause)
                .by_lab(&format!("rate-{way}={rate}"))
        };
        // No counter of a node shows a shaper in the switch.
        [
            of("shaped-sending", "sends", "from", &["shapes to"]),
            of("shaped-receiving", "receives, in the switch,", "to", &["the path is full"]),
        ]
    })
}

fn lossy() -> impl Iterator<Item = Planted> {
    let cause: &[&str] = &["segments are lost"];
    let of_data =
        [(Plain, "1"), (Weak, "0.1"), (Just, "0.01")].into_iter().flat_map(|(strength, percent)| {
            let of = |name, what: &str, way: &str| {
                of_n3(
                    name,
                    strength,
                    &format!("{percent} % of the packets that n3 {what} are dropped"),
                    cause,
                )
                .unchained()
                .by_lab(&format!("drop-{way}={percent}%"))
            };
            [of("loss-in", "receives", "to"), of("loss-out", "sends", "from")]
        });
    let what = "two of three packets without data that n3 receives are dropped";
    let of_answers = of_n3("ack-loss", Plain, what, &["acknowledgements are lost"])
        .unchained()
        .dropping("ip length < 80 tcp flags == ack numgen inc mod 3 < 2 drop");
    of_data.chain([of_answers])
}

fn buffers() -> impl Iterator<Item = Planted> {
    [(Plain, 8192), (Weak, 32_768)].into_iter().flat_map(|(strength, most)| {
        [("receive-buffer", "tcp_rmem"), ("send-buffer", "tcp_wmem")].map(|(name, sysctl)| {
            of_n3(name, strength, &format!("net.ipv4.{sysctl} of n3 ends at {most} B"), &["tcp_rmem", "tcp_wmem"]).by_line(
                &format!("sysctl -n net.ipv4.{sysctl} > /tmp/{sysctl}; sysctl -w net.ipv4.{sysctl}='4096 4096 {most}'"),
                &format!("sysctl -w net.ipv4.{sysctl}=\"$(cat /tmp/{sysctl})\"; rm /tmp/{sysctl}"),
            )
        })
    })
}

fn of_n3(name: &'static str, strength: Strength, what: &str, cause: &'static [&'static str]) -> Planted {
    Planted::new(name, strength, what, STREAMS, cause)
}

impl Planted {
    /// Packets that come in at n3 are dropped as `rule` of nft(8) says.
    fn dropping(self, rule: &str) -> Self {
        let chain = "chain incoming { type filter hook ingress device eth0 priority 0;";
        self.by_line(
            &format!("nft 'table netdev planted {{ {chain} {rule}; }}; }}'"),
            "nft delete table netdev planted",
        )
    }

    /// No chains of segments, on all links alike: what is dropped is one packet of the wire, and costs all nodes as much.
    fn unchained(mut self) -> Self {
        for node in ["n1", "n2", "n3", "n4"] {
            let line = |most| (node, format!("ip link set dev eth0 gso_max_segs {most}"));
            self.plant.push(line(1));
            self.heal.push(line(65535));
        }
        self
    }
}
