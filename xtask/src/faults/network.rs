//! Faults of links, of what is sent over them, and of the programs at their ends.

use super::planted::Strength::{Just, Plain, Weak};
use super::planted::{NODES, Planted, Strength, Who};

/// TCP between all pairs, in both directions.
const STREAMS: &[&str] = &[
    "run",
    "net.tcp_stream",
    "--pattern",
    "matchings",
    "-w",
    "NODES",
    "-p",
    "time=500ms",
    "-p",
    "warm_up=300ms",
    "-p",
    "send=write",
    "-p",
    "receive=read",
    "-p",
    "trials=2",
    "-p",
    "max_trials=2",
];

pub fn faults() -> Vec<Planted> {
    let mut all = vec![Planted { who: Who::Nobody, ..of_n3("nothing", Plain, "a sound lab", &[""]) }];
    all.extend(shaped());
    all.extend(lossy());
    all.extend(buffers());
    all.extend([(Plain, 1500), (Weak, 4500), (Just, 8000)].map(|(strength, mtu)| {
        let what = format!("the interface of n3 has MTU {mtu}, the others 9000");
        of_n3("mtu", strength, &what, &["mtu"]).by_lab(&format!("mtu={mtu}")).certain()
    }));
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
    let cpuset = "echo 0 > $G/cpuset.mems; echo 0 > $G/cpuset.cpus";
    let what = "a cpuset leaves one CPU of two to the programs of n3";
    all.push(of_n3("one-core-cpuset", Plain, what, core).in_group("cpuset", cpuset).certain());
    all.extend([(Plain, 20), (Weak, 40), (Just, 80)].map(|(strength, percent)| {
        let what = format!("a cgroup gives the programs of n3 {percent} % of a CPU");
        let quota = format!("echo {percent}000 > $G/cpu.cfs_quota_us");
        of_n3("hogged-cpu", strength, &what, &["cpu quota", "cgroup"]).in_group("cpu", &quota)
    }));
    all.extend(uplinks());
    all.extend(long_paths());
    all
}

/// The same for so long that a sender finds its rate on a long path.
const LONG_STREAMS: &[&str] = &[
    "run",
    "net.tcp_stream",
    "--pattern",
    "matchings",
    "-w",
    NODES,
    "-p",
    "time=3s",
    "-p",
    "warm_up=2s",
    "-p",
    "send=write",
    "-p",
    "receive=read",
    "-p",
    "trials=2",
    "-p",
    "max_trials=2",
];

/// Long paths that lose one packet in 1,000, on which n3 sends with reno and the others with bbr. By the formula of Mathis and
/// others (1997) reno reaches 1.22 x 8948 B / round trip / sqrt(loss) in the end: 35, 46 and 69 Mbit/s.
fn long_paths() -> impl Iterator<Item = Planted> {
    [(Plain, 20), (Weak, 15), (Just, 10)].into_iter().map(|(strength, delay_ms)| {
        let what = format!(
            "n3 sends with reno, the others with bbr, over paths of 100 Mbit/s and {} ms that lose one packet in 1,000",
            4 * delay_ms
        );
        let cause = &["another congestion control", "tcp_congestion_control is reno"];
        let mut fault = Planted::new("long-path", strength, &what, LONG_STREAMS, cause);
        let link = [format!("delay={delay_ms}ms"), "rate=100mbit".to_owned(), "drop-from=0.1%".to_owned()];
        fault.of_all_by_lab = link.into();
        let (name, kept) = ("net.ipv4.tcp_congestion_control", "/tmp/congestion");
        let set = |how: &str| format!("sysctl -n {name} > {kept}; sysctl -w {name}={how}");
        let back = format!("sysctl -w {name}=$(cat {kept}); rm {kept}");
        fault.by_lines_on(NODES, &set("bbr"), &back).by_line(&format!("sysctl -w {name}=reno"), "true")
    })
}

/// A collective over all nodes, then over groups of them.
const GROUPS: &[&str] = &[
    "run",
    "net.all_to_all",
    "--pattern",
    "isolate",
    "-w",
    "NODES",
    "-p",
    "trials=1",
    "-p",
    "max_trials=1",
    "-p",
    "time=500ms",
];

/// n3 and n4 have a switch of their own, with a slow link to the other one.
fn uplinks() -> impl Iterator<Item = Planted> {
    [(Plain, "50mbit"), (Weak, "200mbit"), (Just, "800mbit")].into_iter().map(|(strength, rate)| {
        let what = format!("n3 and n4 have a switch of their own, whose uplink is shaped to {rate}");
        let mut fault = Planted::new("slow-uplink", strength, &what, GROUPS, &["n[3-4]"]);
        fault.who = Who::Finding("slow-boundary");
        let plant = format!(
            "ip link add br9 mtu 9000 type bridge && ip link set br9 up && ip link add up0 mtu 9000 type veth peer name up9 mtu \
             9000 && ip link set up0 master br0 && ip link set up9 master br9 && for node in n3 n4; do ip link set $node \
             master br9; done && for end in up0 up9; do tc qdisc replace dev $end root tbf rate {rate} burst 256kb limit 4mb; ip \
             link set $end up; done"
        );
        let heal = "for node in n3 n4; do ip link set $node master br0; done; ip link delete up0; ip link delete br9";
        fault.plant.push(("head", plant));
        fault.heal.push(("head", heal.to_owned()));
        fault
    })
}

/// Faults of the way between n3 and the other nodes, but not of that between n3 and the head node.
fn ways() -> Vec<Planted> {
    let cut = "what n3 sends to other nodes vanishes";
    let route = "the routes of n3 to other nodes lead to a gateway that is not there";
    let others = "for node in $(seq 9 | grep -v 3); do ip route";
    let mut all = vec![
        of_n3("one-way-cut", Plain, cut, &["firewall"]).by_line(
            "nft 'table inet planted { chain outgoing { type filter hook output priority 0; \
             ip daddr 10.77.0.0/24 ip daddr != 10.77.0.254 drop; }; }'",
            "nft delete table inet planted",
        ),
        of_n3("wrong-route", Plain, route, &["route to it or from it is wrong", "route to host"]).by_line(
            &format!("{others} add 10.77.0.$node/32 via 10.77.0.250; done"),
            &format!("{others} del 10.77.0.$node/32; done"),
        ),
    ];
    all.extend([(Plain, 4), (Weak, 2), (Just, 1)].map(|(strength, times)| {
        let what = format!("the interface of n3 is down for 2 s, so many times: {times}");
        let line = format!(
            "(for time in $(seq {times}); do sleep 4; ip link set eth0 down; sleep 2; ip link set eth0 up; done) \
             >/dev/null 2>&1 & echo $! > /tmp/flap"
        );
        of_n3("flap", strength, &what, &["lost its link"])
            .by_line(&line, "kill $(cat /tmp/flap) 2>/dev/null; ip link set eth0 up; rm /tmp/flap")
    }));
    all
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
            of(
                "shaped-receiving",
                "receives, in the switch,",
                "to",
                &["the path is full", "the path is limited to"],
            ),
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
    let of_answers = [(Plain, [2, 3]), (Weak, [3, 5]), (Just, [5, 9])].map(|(strength, [dropped, of])| {
        let what = format!("{dropped} of {of} packets without data that n3 receives are dropped");
        of_n3("ack-loss", strength, &what, &["acknowledgements are lost"])
            .unchained()
            .dropping(&format!("ip length < 80 tcp flags == ack numgen inc mod {of} < {dropped} drop"))
    });
    of_data.chain(of_answers)
}

fn buffers() -> impl Iterator<Item = Planted> {
    [(Plain, 8192), (Weak, 32_768), (Just, 131_072)].into_iter().flat_map(|(strength, most)| {
        [("receive-buffer", "tcp_rmem"), ("send-buffer", "tcp_wmem")].map(|(name, sysctl)| {
            of_n3(name, strength, &format!("net.ipv4.{sysctl} of n3 ends at {most} B"), &["tcp_rmem", "tcp_wmem"]).by_line(
                &format!("sysctl -n net.ipv4.{sysctl} > /tmp/{sysctl}; sysctl -w net.ipv4.{sysctl}='4096 4096 {most}'"),
                &format!("sysctl -w net.ipv4.{sysctl}=\"$(cat /tmp/{sysctl})\"; rm /tmp/{sysctl}"),
            )
        })
    })
}

pub fn of_n3(name: &'static str, strength: Strength, what: &str, cause: &'static [&'static str]) -> Planted {
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
    pub fn unchained(self) -> Self {
        let line = |most| format!("ip link set dev eth0 gso_max_segs {most}");
        self.by_lines_on(NODES, &line(1), &line(65535))
    }
}
