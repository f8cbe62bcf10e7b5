//! Each rule on records that show its cause, and on records that do not.

use seatrial_model::machine::{Bond, BondMember, CpuQuota, Known, Machine, Nic, Queueing};
use seatrial_model::setting::Present;
use seatrial_model::setting::SettingReading;
use seatrial_model::{Cause, Fact, FlowLoss, LastFlows, LossShare, Params, Remedy, SiteNode, Unit, Value};
use serde_json::json;

mod hardware;

use super::*;
use crate::finding::findings;
use crate::judge::fixture::{case, metric, no_limit};

/// Every ordered pair of four nodes, in Gbit/s.
fn pairs(rate: impl Fn(u32, u32) -> f64) -> Vec<CaseRecord> {
    let all =
        (1..=4).flat_map(|one| (1..=4).map(move |other| (one, other))).filter(|(one, other)| one != other);
    let pair = |(one, other)| {
        let mut case = case(&format!("n{one}"), &format!("n{one}->n{other}"));
        let Ok(id) = format!("n{one}->n{other}").parse();
        case.case = id;
        case.bench = "net.tcp_stream".to_owned();
        case.nodes.push(format!("n{other}"));
        let value = rate(one, other);
        let metric = seatrial_model::record::MetricRecord {
            unit: Unit::GigabitsPerSecond,
            ..metric(value, (value, value), no_limit())
        };
        case.metrics.insert("throughput".to_owned(), metric);
        let shares = LossShare { acknowledgements_lost: Some(0.01), lost: Some(0.0), ..LossShare::default() };
        LastFlows(vec![FlowLoss { shares, ..FlowLoss::default() }]).put(&mut case.evidence);
        case
    };
    all.map(pair).collect()
}

/// What n3 receives is slow.
fn slow_to_n3() -> Vec<CaseRecord> {
    pairs(|_, to| if to == 3 { 0.19 } else { 4.8 })
}

fn site(change: impl Fn(&mut SiteNode)) -> Site {
    let mut nodes: Vec<SiteNode> =
        (1..=4).map(|node| SiteNode::new(format!("n{node}"), Machine::default())).collect();
    change(&mut nodes[2]);
    Site { nodes }
}

fn told(records: &[CaseRecord], site: &Site) -> Vec<Finding> {
    let mut found = findings(records);
    explain(&mut found, records, site, &[]);
    found
}

/// The cause, text and remedy of the finding about n3.
fn of_n3(records: &[CaseRecord], site: &Site) -> (String, String, String) {
    let found = told(records, site);
    let finding = found.iter().find(|finding| finding.node.as_deref() == Some("n3")).expect("n3 is named");
    let remedy = finding.remedy.clone().expect("there is something to do");
    (finding.cause.clone().unwrap_or_default(), finding.text.clone(), remedy.action.into_owned())
}

fn shaped(mbit: u64) -> impl Fn(&mut SiteNode) {
    move |node| {
        let queue = Queueing {
            kind: "tbf".to_owned(),
            root: true,
            rate_bytes_per_second: Some(mbit * 125_000),
            ..Queueing::default()
        };
        let nic = Nic { name: "eth0".to_owned(), queueing: Known::Known(vec![queue]), ..Nic::default() };
        node.machine.nics = Known::Known(vec![nic]);
    }
}

#[test]
fn a_shaper_that_explains_the_rate_is_the_cause_and_any_other_is_not() {
    let (cause, text, action) = of_n3(&slow_to_n3(), &site(shaped(200)));
    assert_eq!(cause, "shaper");
    assert!(
        text.starts_with(
            "n3 receives at 3.96 % of its peers' throughput: tbf on eth0 of n3 shapes to 200 Mbit/s; 0.19 "
        ),
        "{text}"
    );
    assert!(action.contains("tc qdisc del dev eth0 root"), "{action}");
    for other in [100, 1_000, 40_000] {
        let (cause, text, _) = of_n3(&slow_to_n3(), &site(shaped(other)));
        assert_eq!(cause, "unexplained", "{other}");
        let not_found = "; looked for and not found: rate limit (tc) on the node itself, packet loss, lost acknowledgements";
        assert!(text.contains(not_found), "{text}");
    }
}

#[test]
fn a_shaper_is_told_where_no_node_can_be_named_slow() {
    let of =
        |rate: f64| told(&pairs(|_, _| rate)[..1], &Site { nodes: vec![site(shaped(200)).nodes[2].clone()] });
    let one = pairs(|_, _| 0.199);
    let to_n3: Vec<CaseRecord> = one.into_iter().filter(|case| case.nodes == ["n2", "n3"]).collect();
    let found = told(&to_n3, &site(shaped(200)));
    let [finding] = found.as_slice() else { panic!("{found:?}") };
    assert_eq!((finding.kind.as_str(), finding.node.as_deref()), ("shaped", Some("n3")));
    assert!(
        finding.text.starts_with("tbf on eth0 of n3 shapes to 200 Mbit/s")
            && finding.text.ends_with("and 1 case comes that far: 0.199 Gbit/s"),
        "{}",
        finding.text
    );
    for other in [0.15, 0.21] {
        assert_eq!(of(other), [], "{other}");
    }
}

fn reading(setting: &str, value: &str) -> SettingReading {
    SettingReading {
        setting: setting.to_owned(),
        subject: Subject::node(),
        facts: Params::default(),
        present: Present::Value(Value::from(value)),
        note: None,
        counted: None,
        counted_before: None,
        counted_after: None,
    }
}

/// All nodes with the setting, n3 with its own value.
fn with_setting(setting: &str, [usual, own]: [&str; 2]) -> Site {
    let mut site = site(|_| {});
    for node in &mut site.nodes {
        node.settings.push(reading(setting, if node.name == "n3" { own } else { usual }));
    }
    site
}

#[test]
fn a_smaller_buffer_is_the_cause_where_it_counts_and_a_larger_one_is_none() {
    let values = ["4 KiB, 128 KiB, 32 MiB", "4 KiB, 4 KiB, 32 KiB"];
    let (cause, text, _) = of_n3(&slow_to_n3(), &with_setting("net.ipv4.tcp_rmem", values));
    assert_eq!(cause, "small-receive-buffer");
    let says = "net.ipv4.tcp_rmem is 4 KiB, 4 KiB, 32 KiB, on 3 others 4 KiB, 128 KiB, 32 MiB";
    assert!(
        text.starts_with(&format!(
            "n3 receives at 3.96 % of its peers' throughput: the receive buffer is small: {says}; 0.19 "
        )),
        "{text}"
    );
    let larger = [values[1], values[0]];
    assert_eq!(of_n3(&slow_to_n3(), &with_setting("net.ipv4.tcp_rmem", larger)).0, "unexplained");
    // A send buffer says nothing about what a node receives.
    assert_eq!(of_n3(&slow_to_n3(), &with_setting("net.ipv4.tcp_wmem", values)).0, "unexplained");
    let from_n3 = pairs(|from, _| if from == 3 { 0.19 } else { 4.8 });
    assert_eq!(of_n3(&from_n3, &with_setting("net.ipv4.tcp_wmem", values)).0, "small-send-buffer");
    assert_eq!(of_n3(&from_n3, &with_setting("nic.mtu", ["9000", "1500"])).0, "smaller-mtu");
}

#[test]
fn what_limits_the_flows_of_the_node_and_not_those_of_the_others_is_the_cause() {
    let limited_at = |rate: fn(u32) -> f64, own: &str, others: &str| {
        let mut records = pairs(|from, to| if to == 3 { rate(from) } else { 4.8 });
        for case in &mut records {
            let word = if case.nodes[1] == "n3" { own } else { others };
            case.evidence.insert("limited_by".to_owned(), json!({ word: 3 }));
        }
        of_n3(&records, &site(|_| {}))
    };
    let limited = |own: &str, others: &str| limited_at(|_| 0.19, own, others);
    let (cause, text, _) = limited("receiver-starved", "sender-cpu");
    assert_eq!(cause, "receiver-starved");
    assert!(text.starts_with("n3 receives at 3.96 % of its peers' throughput: in 9 of 9 flows other programs take the CPU of the receiver; "), "{text}");
    assert_eq!(limited("receiver-starved", "receiver-starved").0, "unexplained");
    // The CPUs of those that send to n3 are not its own.
    assert_eq!(limited("sender-starved", "path").0, "unexplained");
    let (cause, text, action) = limited_at(|from| 0.1 * f64::from(from), "path", "path");
    assert_eq!(cause, "full-path");
    let not_found = "; looked for and not found: rate limit (tc) on the node itself, packet loss";
    assert!(text.contains("the path is full: on the way is") && text.contains(not_found), "{text}");
    assert!(action.contains("the switch port of n3") && !action.contains("not found"), "{action}");
    let (cause, text, same) = limited("path", "path");
    assert_eq!((cause.as_str(), same), ("rate-limit", action));
    let says = "the path is limited to about 0.19 Gbit/s, the same with 3 partners: a rate limit or a slower link is on the way";
    assert!(text.contains(says), "{text}");
}

#[test]
fn receive_buffers_below_a_segment_are_raised_to_those_of_the_peers_where_theirs_are_larger() {
    let mut records = pairs(|_, _| 4.8);
    for case in records.iter_mut().filter(|case| case.nodes[1] == "n3") {
        case.metrics.clear();
        (case.outcome, case.cause) = (Outcome::Failed, Some(Cause::IoError));
        case.reason = Some("raise the third value of net.ipv4.tcp_rmem".to_owned());
    }
    let raised = |site: &Site| {
        let (cause, _, action) = of_n3(&records, site);
        assert_eq!(cause, "window-below-segment");
        action
    };
    let small = with_setting("net.ipv4.tcp_rmem", ["4 KiB, 128 KiB, 6 MiB", "4 KiB, 8 KiB, 8 KiB"]);
    assert!(raised(&small).ends_with("set net.ipv4.tcp_rmem to 4 KiB, 128 KiB, 6 MiB"), "{}", raised(&small));
    let alike = with_setting("net.ipv4.tcp_rmem", ["4 KiB, 8 KiB, 8 KiB"; 2]);
    assert!(
        raised(&alike).contains("`sysctl -w net.ipv4.tcp_rmem=\"4096 131072 33554432\"`"),
        "{}",
        raised(&alike)
    );
}

#[test]
fn lost_large_packets_tell_whether_the_mtu_of_the_node_is_that_of_its_peers() {
    let mut records = pairs(|_, _| 4.8);
    for case in records.iter_mut().filter(|case| case.nodes[1] == "n3") {
        case.metrics.clear();
        (case.outcome, case.cause) = (Outcome::Failed, Some(Cause::IoError));
        case.reason = Some("packets of this size are lost on the way, or the way was cut since".to_owned());
        case.chosen.set("peer_interface", "eth0");
    }
    let with_mtu = |own: &str| {
        let mut site = with_setting("nic.mtu", ["9000", own]);
        site.nodes.iter_mut().for_each(|node| node.settings[0].subject = Subject::device("nic", "eth0"));
        of_n3(&records, &site)
    };
    let (cause, text, action) = with_mtu("9000");
    assert_eq!(cause, "large-packets");
    let says = "n3: large packets do not arrive at n3 and small ones do, although the MTU of eth0 is 9000, as on its peers: a \
                smaller MTU or a filter is on the way; n3 failed";
    assert!(text.starts_with(says), "{text}");
    for part in ["on n3: `nft list ruleset`", "MTU of its switch port", "`seatrial run net.mtu -w 'n[1,3]'`"]
    {
        assert!(action.contains(part), "{part}: {action}");
    }
    let (_, text, _) = with_mtu("1500");
    assert!(text.contains("do, and the MTU of eth0 is 1500, on its peers 9000: "), "{text}");
    let (_, text, _) = of_n3(&records, &site(|_| {}));
    assert!(text.contains("small ones do: a smaller MTU"), "what is not known is not told: {text}");
}

#[test]
fn the_file_system_of_a_case_that_was_not_planned_is_told_by_its_path() {
    use seatrial_model::machine::FileSystem;
    let scratch = FileSystem { mount: "/scratch".to_owned(), ..FileSystem::default() };
    let site = site(|node| node.machine.file_systems = Known::Known(vec![scratch.clone()]));
    let of = |node: &str| {
        let mut case = case(node, "fs:/scratch");
        let Ok(id) = format!("storage.file@{node}").parse();
        (case.case, case.group) = (id, "storage.file".to_owned());
        case.metrics.insert("throughput".to_owned(), metric(1.0, (1.0, 1.0), no_limit()));
        case
    };
    let mut refused = CaseRecord { subject: Subject::node(), ..of("n3") };
    refused.metrics.clear();
    refused.params.set("directory", "/scratch/seatrial");
    (refused.outcome, refused.cause) = (Outcome::Unmeasured, Some(Cause::Denied));
    refused.reason = Some("/scratch is mounted read-only".to_owned());
    let found = told(&[of("n1"), of("n2"), refused], &site);
    let [beside] = found.as_slice() else { panic!("{found:?}") };
    assert_eq!((beside.severity, beside.subject.as_str()), (Severity::Problem, "fs:/scratch"));
    assert!(beside.text.starts_with("/scratch: the file system is mounted read-only"), "{}", beside.text);
}

#[test]
fn acknowledgements_that_are_lost_are_told_of_a_node_that_is_not_slow() {
    let mut records = pairs(|_, _| 4.8);
    for case in records.iter_mut().filter(|case| case.nodes[0] == "n3") {
        let shares = LossShare { acknowledgements_lost: Some(0.66), lost: Some(0.0), ..LossShare::default() };
        LastFlows(vec![FlowLoss { shares, ..FlowLoss::default() }]).put(&mut case.evidence);
    }
    let (cause, text, action) = of_n3(&records, &site(|_| {}));
    assert_eq!(cause, "lost-acknowledgements");
    let says = "n3 loses acknowledgements that its partners send to it: 66 % of the acknowledgements are lost in 3 of";
    assert!(text.starts_with(says), "{text}");
    assert!(action.contains("small packets"), "{action}");
}

#[test]
fn what_the_network_of_the_node_lacks_or_does_otherwise_is_the_cause() {
    let far = with_setting("nic.irq_local", ["true", "false"]);
    let (cause, text, _) = of_n3(&slow_to_n3(), &far);
    assert_eq!(cause, "far-interrupts");
    assert!(
        text.contains(
            "throughput: interrupts of a network card go to CPUs far from it: nic.irq_local is false"
        )
    );
    let other = with_setting("net.ipv4.tcp_congestion_control", ["bbr", "reno"]);
    let from_n3 = pairs(|from, _| if from == 3 { 0.19 } else { 4.8 });
    assert_eq!(of_n3(&from_n3, &other).0, "congestion-control");
    assert_eq!(of_n3(&slow_to_n3(), &other).0, "unexplained", "only a sender has one");
    let mut bonded = site(|_| {});
    for (at, node) in bonded.nodes.iter_mut().enumerate() {
        let member = |name: &str, link: &str| BondMember {
            name: name.to_owned(),
            link: Known::Known(link.to_owned()),
            ..BondMember::default()
        };
        let second = if at == 2 { "down" } else { "up" };
        let members = vec![member("eth0", "up"), member("eth1", second)];
        let bond = Some(Bond { members, ..Bond::default() });
        node.machine.nics = Known::Known(vec![Nic { name: "bond0".to_owned(), bond, ..Nic::default() }]);
    }
    let (cause, text, action) = of_n3(&slow_to_n3(), &bonded);
    assert_eq!(cause, "missing-bond-member");
    assert!(text.contains("bond members up of nic:bond0 is 1, on 3 others 2"), "{text}");
    assert!(action.contains("/proc/net/bonding/bond0"), "{action}");
}

#[test]
fn a_quota_and_missing_cpus_are_causes_where_the_others_have_none() {
    let quota = CpuQuota { group: "/batch".to_owned(), quota_us: 20_000, period_us: 100_000 };
    let with_quota = |site: &mut Site, nodes: &[usize]| {
        for (at, node) in site.nodes.iter_mut().enumerate() {
            node.machine.cpu.quota = Known::Known(nodes.contains(&at).then(|| quota.clone()));
        }
    };
    let mut limited = site(|_| {});
    with_quota(&mut limited, &[2]);
    let (cause, text, _) = of_n3(&slow_to_n3(), &limited);
    assert_eq!(cause, "cpu-quota");
    assert!(
        text.starts_with("n3 receives at 3.96 % of its peers' throughput: a cgroup limits the CPU time: the cgroup /batch allows 0.2 CPUs; "),
        "{text}"
    );
    with_quota(&mut limited, &[0, 1, 2, 3]);
    assert_eq!(of_n3(&slow_to_n3(), &limited).0, "unexplained");
}

#[test]
fn cases_without_numbers_are_told_by_what_their_reasons_say() {
    let mut records = pairs(|_, _| 4.8);
    for case in records.iter_mut().filter(|case| case.nodes[1] == "n3") {
        case.metrics.clear();
        (case.outcome, case.cause) = (Outcome::Failed, Some(Cause::IoError));
        case.reason = Some("timed out: the request for a connection was not answered".to_owned());
    }
    let (cause, text, action) = of_n3(&records, &site(|_| {}));
    assert_eq!(cause, "firewall");
    assert!(text.starts_with("n3: a firewall drops requests for connections to n3"), "{text}");
    assert!(action.contains("nft list ruleset"), "{action}");
    let answer = "the peer cannot be reached: 10.77.0.3:50257: No route to host (os error 113)";
    records.iter_mut().for_each(|case| case.reason = case.reason.take().map(|_| answer.to_owned()));
    assert_eq!(of_n3(&records, &site(|_| {})).0, "rejected");
    let full = "the window has room for several segments, so acknowledgements are lost or late";
    records.iter_mut().for_each(|case| case.reason = case.reason.take().map(|_| full.to_owned()));
    let (cause, text, action) = of_n3(&records, &site(|_| {}));
    assert_eq!(cause, "lost-acknowledgements");
    assert!(text.starts_with("n3: acknowledgements are lost or late; n3 failed"), "{text}");
    assert!(action.contains("small packets") && !action.contains("tcp_rmem"), "{action}");
    // Settings that differ explain no case without a number.
    let values = ["4 KiB, 128 KiB, 32 MiB", "4 KiB, 4 KiB, 32 KiB"];
    records.iter_mut().for_each(|case| case.reason = case.reason.take().map(|_| "broken pipe".to_owned()));
    assert_eq!(of_n3(&records, &with_setting("net.ipv4.tcp_rmem", values)).0, "");
}

/// `records` with a line in the kernel log of n3, and of another node where `everywhere`.
fn logged(mut records: Vec<CaseRecord>, text: &str, everywhere: bool) -> Vec<CaseRecord> {
    for case in &mut records {
        let log = |text: Option<&str>| {
            let lines: Vec<_> =
                text.iter().map(|text| json!({ "sequence": 1, "level": "warning", "text": text })).collect();
            json!({ "kernel_log": { "lines": lines } })
        };
        let of = |node: &String| log((node == "n3" || everywhere).then_some(text));
        let probes: serde_json::Map<_, _> = case.nodes.iter().map(|node| (node.clone(), of(node))).collect();
        case.evidence.insert("probes".to_owned(), probes.into());
    }
    records
}

#[test]
fn a_line_in_the_kernel_log_of_the_node_alone_is_the_cause_where_it_concerns_the_benchmark() {
    let watchdog = "NETDEV WATCHDOG: eth0 (ice): transmit queue 3 timed out";
    let (cause, text, action) = of_n3(&logged(slow_to_n3(), watchdog, false), &site(|_| {}));
    assert_eq!(cause, "link-lost");
    assert!(
        text.contains(&format!(": the network card of n3 hung or lost its link: '{watchdog}'")),
        "{text}"
    );
    assert!(action.contains("ethtool"), "{action}");
    for (line, expected) in [
        ("pcieport 0000:00:1c.0: AER: Corrected error received: 0000:01:00.0", "pcie-errors"),
        ("Buffer I/O error on dev sda1, logical block 7", "unexplained"),
        ("mce: [Hardware Error]: Machine check events logged", "unexplained"),
    ] {
        assert_eq!(of_n3(&logged(slow_to_n3(), line, false), &site(|_| {})).0, expected, "{line}");
    }
    assert_eq!(of_n3(&logged(slow_to_n3(), watchdog, true), &site(|_| {})).0, "unexplained");
    let failed = || {
        let mut records = logged(vec![case("n3", "fs:/scratch")], "Buffer I/O error on dev sda1", false);
        records[0].bench = "storage.file".to_owned();
        (records[0].outcome, records[0].cause) = (Outcome::Failed, Some(Cause::IoError));
        records
    };
    let found = told(&failed(), &site(|_| {}));
    let causes: Vec<&str> = found.iter().filter_map(|finding| finding.cause.as_deref()).collect();
    assert_eq!(causes, ["disk-errors"]);
}

#[test]
fn a_slow_node_with_a_cause_tells_what_healing_brings() {
    let mut limited = pairs(|_, to| if to == 3 { 0.19 } else { 4.75 });
    // The shaper is a bound of the cases that it slows.
    for case in limited.iter_mut().filter(|case| case.nodes[1] == "n3") {
        case.metrics.get_mut("throughput").expect("measured").limit.value = Some(0.2);
    }
    let found = told(&limited, &site(shaped(200)));
    let finding = found.iter().find(|finding| finding.kind == "slow-node").expect("n3 is named");
    let gain = finding.gain.as_ref().expect("a gain");
    assert_eq!((gain.factor, gain.to.value(), gain.cases.len()), (25.0, 4.75, 3));
    let says = "without the cause 25 times the throughput is expected";
    assert!(finding.text.contains(says), "{}", finding.text);
    assert_eq!(finding.confidence, Some(Confidence::High));
}

#[test]
fn an_nfs_server_is_the_cause_of_the_node_that_waits_for_it_alone_and_of_no_node_where_all_do() {
    let of = |own: (u64, u64), others: u64| {
        let one = |node: u32| {
            let (rtt_ms, again) = if node == 3 { own } else { (others, 0) };
            let mut case = crate::nfs::fixture::written(&format!("n{node}"), rtt_ms, again);
            let rate = if node == 3 { 20.0 } else { 500.0 + f64::from(node) };
            case.metrics
                .insert("throughput".to_owned(), metric(rate, (0.99 * rate, 1.01 * rate), no_limit()));
            case
        };
        let records: Vec<CaseRecord> = (1..=8).map(one).collect();
        let mut found = told(&records, &Site::default());
        let outlier = Finding {
            node: Some("n3".to_owned()),
            case: Some(records[2].case.to_string()),
            ..Finding::new("outlier", Severity::Warning, Subject::node(), "n3 is slow")
        };
        let mut outliers = [outlier];
        explain_outliers(outliers.iter_mut(), &records, &Site::default(), &[]);
        found.extend(outliers);
        found
    };
    let found = of((84, 0), 1);
    let [outlier] = found.as_slice() else { panic!("{found:?}") };
    assert_eq!(outlier.cause.as_deref(), Some("slow-nfs-server"));
    assert!(
        outlier.text.starts_with("n3: the NFS server answers slowly: WRITE takes 84 ms"),
        "{}",
        outlier.text
    );
    assert_eq!(of((84, 5), 1)[0].cause.as_deref(), Some("nfs-retransmissions"));
    let found = of((84, 0), 80);
    let [server, outlier] = found.as_slice() else { panic!("{found:?}") };
    assert_eq!(
        (server.kind.as_str(), server.node.as_deref(), outlier.cause.as_deref()),
        ("slow-nfs-server", None, None)
    );
    let remedy = server.remedy.as_ref().expect("what to do");
    assert!(remedy.action.contains("/proc/fs/nfsd/threads"), "{remedy}");
}

#[test]
fn of_several_questions_the_cause_is_that_of_the_one_that_is_told() {
    let with = |flows: u64, mut records: Vec<CaseRecord>| {
        records.iter_mut().for_each(|case| case.params.set("flows", flows));
        records
    };
    let records = [with(1, pairs(|_, _| 4.8)), with(4, slow_to_n3())].concat();
    assert_eq!(of_n3(&records, &site(shaped(200))).0, "shaper");
}

#[test]
fn a_limit_of_a_control_group_is_the_cause_of_an_outlier_even_among_nodes_on_one_kernel() {
    let measured = |throttled: bool, spread: f64| -> Vec<CaseRecord> {
        let one = |node: u32| {
            let mut case = case(&format!("n{node}"), "fs:/scratch");
            let Ok(id) = format!("fs:/scratch@n{node}").parse();
            case.case = id;
            // So wide are the intervals of the others on a busy machine.
            let (rate, wide) = if node == 3 { (20.0, 0.01) } else { (500.0 + f64::from(node), spread) };
            let interval = (rate * (1.0 - wide), rate * (1.0 + wide));
            case.metrics.insert("throughput".to_owned(), metric(rate, interval, no_limit()));
            let limit = if node == 3 && throttled {
                json!({ "written_bytes_per_s": 20_000_000 })
            } else {
                json!(null)
            };
            case.evidence.insert("throttle".to_owned(), limit);
            case
        };
        (1..=4).map(one).collect()
    };
    let fleet = |records: &[CaseRecord], boot: Option<&str>| {
        let mut site = site(|_| {});
        for node in &mut site.nodes {
            node.machine.boot_id =
                boot.map_or(Known::unknown("denied"), |boot| Known::Known(boot.to_owned()));
        }
        let found = crate::fleet_findings(&site, &crate::judge::Assignment::default(), records, &[]);
        let outliers = found.into_iter().filter(|finding| finding.kind == "outlier");
        outliers.map(|finding| (finding.node.unwrap_or_default(), finding.cause)).collect::<Vec<_>>()
    };
    let (n3, cause) = ("n3".to_owned(), Some("throttled-device".to_owned()));
    assert_eq!(fleet(&measured(true, 0.01), Some("a")), [(n3.clone(), cause.clone())]);
    assert_eq!(fleet(&measured(true, 0.01), None), [(n3.clone(), cause.clone())]);
    assert_eq!(
        fleet(&measured(true, 0.9), Some("a")),
        [(n3.clone(), cause)],
        "worse than all at their worst"
    );
    assert_eq!(fleet(&measured(false, 0.9), None), []);
    assert_eq!(fleet(&measured(false, 0.01), None), [(n3, None)]);
    assert_eq!(fleet(&measured(false, 0.01), Some("a")), [], "noise of the kernel that all share");
}

#[test]
fn a_frozen_file_system_is_told_once_for_all_cases_on_it() {
    let hung = |node: &str, reason: &str| {
        let mut case = case(node, "fs:/scratch");
        (case.outcome, case.cause) = (Outcome::Failed, Some(Cause::Hang));
        case.reason = Some(reason.to_owned());
        case
    };
    let frozen = "writing has been pending for 28 s; its thread is in state D in percpu_rwsem_wait";
    let records = [hung("n3", frozen), hung("n3", frozen), hung("n2", "writing has been pending for 28 s")];
    let found = told(&records, &site(|_| {}));
    let [finding] = found.as_slice() else { panic!("{found:?}") };
    assert_eq!((finding.node.as_deref(), finding.evidence.len()), (Some("n3"), 2));
    assert!(finding.text.starts_with("/scratch: the file system is frozen (fsfreeze)"), "{}", finding.text);
    assert!(finding.full_text().contains("fsfreeze --unfreeze"));
}

#[test]
fn a_file_system_that_takes_no_files_is_told_unless_that_of_most_other_nodes_takes_none_either() {
    let of = |node: &str, reason: Option<&str>| {
        let mut case = case(node, "fs:/scratch");
        if let Some(reason) = reason {
            (case.outcome, case.cause) = (Outcome::Unmeasured, Some(Cause::Denied));
            case.reason = Some(reason.to_owned());
        }
        case
    };
    let causes = |records: &[CaseRecord]| -> Vec<(String, String, Severity)> {
        let all = told(records, &site(|_| {})).into_iter().filter(|finding| finding.kind == ALONE);
        all.map(|one| (one.node.unwrap_or_default(), one.cause.unwrap_or_default(), one.severity)).collect()
    };
    let read_only =
        "directory=/scratch: /dev/sda is mounted read-only at /scratch; look for its error in `dmesg`";
    let full = "the files take 16 MiB; /scratch has 0 B free, and 51 MiB of that is kept free for others: free space";
    for (reason, cause) in [(read_only, "read-only-file-system"), (full, "full-file-system")] {
        let one = [of("n1", None), of("n2", None), of("n3", Some(reason))];
        let wanted = |severity| [("n3".to_owned(), cause.to_owned(), severity)];
        assert_eq!(causes(&one), wanted(Severity::Problem));
        assert_eq!(causes(&one[2..]), wanted(Severity::Warning), "a node by itself");
        let most = [of("n1", Some(reason)), of("n2", None), of("n3", Some(reason))];
        assert_eq!(causes(&most), [], "the size or the directory that was asked for");
    }
    assert_eq!(causes(&[of("n1", None), of("n3", Some("the directory belongs to root"))]), []);
}

#[test]
fn every_rule_has_an_id_of_its_own_and_a_remedy_that_fits_a_line() {
    for rule in CAUSES {
        assert_eq!(CAUSES.iter().filter(|other| other.id == rule.id).count(), 1, "{}", rule.id);
        let remedy = Remedy::new(rule.actor, rule.action).to_string();
        assert!(remedy.len() <= 180 && !rule.action.is_empty(), "{}: {}", rule.id, remedy.len());
        assert_eq!(rule.seen.is_empty(), rule.id == "unexplained");
        // What can be typed: a command, or a file.
        let mut typed = rule.action.split('`').skip(1).step_by(2);
        let is_typed = |words: &str| words.contains([' ', '/', '{']) || words.chars().all(char::is_lowercase);
        let is_filled_in = ["{command}", "{tcp_rmem}"].iter().any(|place| rule.action.contains(place));
        let is_told = typed.any(|words| !words.is_empty() && is_typed(words)) || is_filled_in;
        assert!(is_told, "{}: {}", rule.id, rule.action);
        assert_eq!(rule.action.matches('`').count() % 2, 0, "{}", rule.id);
    }
}
