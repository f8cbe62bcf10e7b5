//! `uniformity`: a node that differs from its peers.

use std::collections::{BTreeMap, BTreeSet};

use seatrial_model::record::CaseRecord;
use seatrial_model::setting::SettingAbout;
use seatrial_model::{Actor, Finding, Remedy, Severity, Subject, Unit};
use seatrial_stats::median;

use super::attributes::{DISKS, attributes};
use super::class::Class;
use crate::beside_peers::beside_peers;
use crate::finding::matrix::{SlowSide, shortfall};
use crate::finding::{CauseRule, Observation, cause_of_difference};
use crate::number::quantity;

pub(crate) const KIND: &str = "uniformity";

/// Attributes named in one finding; more are counted.
const MOST_NAMED: usize = 6;

/// Least difference, as a logarithm, between the numbers of a node and those of the others that is told.
const LEAST: f64 = 0.1;

/// One finding per node that differs from the majority, and one per attribute without a majority.
pub(super) fn find(
    class: &Class<'_>,
    records: &[CaseRecord],
    settings: &[&'static SettingAbout],
) -> Vec<Finding> {
    if class.nodes.len() < 2 {
        return Vec::new();
    }
    let mut all: Vec<(&str, BTreeMap<String, String>)> =
        class.nodes.iter().map(|node| (node.name.as_str(), attributes(node))).collect();
    // A node whose disks could be read has none of a model that it does not name.
    let is_disks = |name: &&String| name.starts_with(DISKS);
    let models: BTreeSet<String> =
        all.iter().flat_map(|(_, has)| has.keys()).filter(is_disks).cloned().collect();
    for (node, (_, has)) in class.nodes.iter().zip(&mut all) {
        if node.machine.disks.known().is_some() {
            for model in &models {
                has.entry(model.clone()).or_insert_with(|| "0".to_owned());
            }
        }
    }
    let mut names: Vec<&String> = all.iter().flat_map(|(_, has)| has.keys()).collect();
    names.sort_unstable();
    names.dedup();
    let mut odd: BTreeMap<&str, Vec<Odd>> = BTreeMap::new();
    let mut found = Vec::new();
    for name in names {
        let mut by_value: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        for (node, has) in &all {
            if let Some(value) = has.get(name) {
                by_value.entry(value).or_default().push(node);
            }
        }
        let told: usize = by_value.values().map(Vec::len).sum();
        if by_value.len() < 2 {
            continue;
        }
        match by_value.iter().find(|(_, nodes)| 2 * nodes.len() > told) {
            Some((usual, most)) => {
                for (value, nodes) in by_value.iter().filter(|(value, _)| *value != usual) {
                    for node in nodes {
                        let Some(host) = class.nodes.iter().find(|host| host.name == *node) else { continue };
                        let usual = (*usual, most.len());
                        let seen = Observation::of_difference(host, name, value, usual, settings);
                        let cause = cause_of_difference(name, value, usual.0);
                        odd.entry(*node).or_default().push(Odd { seen, cause });
                    }
                }
            }
            None => found.push(split(name, &by_value)),
        }
    }
    found.extend(odd.into_iter().map(|(node, what)| of_node(node, &what, records)));
    found
}

/// A difference, and the cause of low numbers that it can be, if that is known.
struct Odd {
    seen: Observation,
    cause: Option<&'static CauseRule>,
}

fn of_node(node: &str, odd: &[Odd], records: &[CaseRecord]) -> Finding {
    let what: Vec<&str> = odd.iter().map(|odd| odd.seen.text.as_str()).collect();
    let mut text = what.iter().take(MOST_NAMED).copied().collect::<Vec<_>>().join("; ");
    if what.len() > MOST_NAMED {
        text += &format!("; and {} more", what.len() - MOST_NAMED);
    }
    let causes = || odd.iter().filter_map(|odd| odd.cause);
    let followed = causes().map(|rule| (rule, followers(rule, node, records)));
    let told = followed.max_by_key(|(_, cases)| cases.len()).filter(|(_, cases)| !cases.is_empty());
    let lowered = causes().find_map(|rule| Some((rule, lowered(rule, node, records)?)));
    let cause = lowered.as_ref().map(|(rule, _)| *rule);
    let cause = cause.or(told.as_ref().map(|(rule, _)| *rule)).or_else(|| causes().next());
    text += &cause.map_or(String::new(), |rule| format!("; this can slow {}", slowed(rule, node)));
    let evidence = told.map_or(Vec::new(), |(_, cases)| cases);
    if !evidence.is_empty() {
        let cases =
            if evidence.len() == 1 { "1 case".to_owned() } else { format!("{} cases", evidence.len()) };
        text += &format!("; this also explains what limits the flows of {cases} of this run");
    }
    let evidence = evidence.into_iter().chain(lowered.iter().map(|(_, (metric, _))| (*metric).to_owned()));
    let evidence = evidence.collect();
    let (value, text) = match lowered {
        Some((_, (metric, percent))) => (
            quantity(percent, Unit::Percent),
            format!("{node} has {}: {text}", beside_peers(percent, metric)),
        ),
        None => (None, format!("{node}: {text}")),
    };
    let finding = Finding { value, ..Finding::new(KIND, Severity::Warning, Subject::node(), text) };
    let is_told = |odd: &&Odd| odd.cause.map(|rule| rule.id) == cause.map(|rule| rule.id);
    let of_cause = |odd: &Odd| odd.cause?.general_remedy(node, &odd.seen);
    let by_command = |odd: &Odd| {
        let command = Some(&odd.seen.command).filter(|command| !command.is_empty())?;
        Some(Remedy::of(Actor::Root, format!("on {node}, as on its peers: {command}")))
    };
    let remedy = odd.iter().filter(is_told).find_map(of_cause).or_else(|| odd.iter().find_map(of_cause));
    let remedy = remedy.or_else(|| odd.iter().find_map(by_command)).unwrap_or_else(|| {
        let first = what.first().copied().unwrap_or_default();
        Remedy::of(Actor::Administrator, format!("find out why {node} is not like its peers: {first}"))
    });
    let cause = cause.map(|rule| rule.id.to_owned());
    Finding { node: Some(node.to_owned()), cause, evidence, ..finding }.with_remedy(remedy)
}

/// What the cause can make slow.
fn slowed(rule: &CauseRule, node: &str) -> String {
    match (rule.side, rule.families) {
        (SlowSide::Sends, _) => format!("what {node} sends"),
        (SlowSide::Receives, _) => format!("what {node} receives"),
        (SlowSide::Both, []) => format!("all benchmarks of {node}"),
        (SlowSide::Both, families) => format!("benchmarks of {} on {node}", families.join(", ")),
    }
}

/// The cases of the node with a finding about a limit that follows from the cause.
fn followers(rule: &CauseRule, node: &str, records: &[CaseRecord]) -> Vec<String> {
    let own = records.iter().filter(|case| rule.side.has_node(node, &case.nodes));
    let follows = |case: &&CaseRecord| case.findings.iter().any(|finding| rule.explains(&finding.kind));
    own.filter(follows).map(|case| case.case.to_string()).collect()
}

/// The metric of the pairs that the cause can slow, and how far it is from that of the other pairs, in percent: where each pair of
/// the node is worse than each other pair of the question.
fn lowered<'a>(rule: &CauseRule, node: &str, records: &'a [CaseRecord]) -> Option<(&'a str, f64)> {
    let measured = |case: &'a CaseRecord| Some((case, case.headline()?)).filter(|_| case.nodes.len() == 2);
    let mut groups: BTreeMap<(&str, &str), [Vec<f64>; 2]> = BTreeMap::new();
    let mut better = BTreeMap::new();
    for (case, (metric, headline)) in
        records.iter().filter_map(measured).filter(|(case, _)| rule.is_of(&case.bench))
    {
        let is_own = rule.side.has_node(node, &case.nodes);
        groups.entry((&case.group, metric)).or_default()[usize::from(!is_own)].push(headline.median);
        better.insert(metric, headline.better);
    }
    groups.into_iter().find_map(|((_, metric), [own, others])| {
        let better = *better.get(metric)?;
        let is_worse = |own: &f64| others.iter().all(|other| shortfall(better, *own, *other) > 0.0);
        let (usual, value) = (median(&others)?, median(&own)?);
        (own.len() > 1
            && others.len() > 1
            && own.iter().all(is_worse)
            && shortfall(better, value, usual) > LEAST)
            .then(|| (metric, 100.0 * (value - usual) / usual.abs()))
    })
}

fn split(name: &str, by_value: &BTreeMap<&str, Vec<&str>>) -> Finding {
    let told: Vec<String> =
        by_value.iter().map(|(value, nodes)| format!("{value} on {}", some_of(nodes))).collect();
    let text = format!("{name} differs and no value has the majority: {}", told.join("; "));
    Finding::new(KIND, Severity::Warning, Subject::node(), text)
}

fn some_of(nodes: &[&str]) -> String {
    match nodes {
        few if few.len() <= 4 => few.join(", "),
        many => format!("{} and {} more", many[0], many.len() - 1),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use seatrial_model::machine::{Dimm, Dimms, Disk, DiskBus, Known, Machine};
    use seatrial_model::setting::{ApplyCommand, Present, Privilege, SettingReading};
    use seatrial_model::{Kind, Params, SiteNode, Value};

    fn node(name: &str, modules: usize, governor: &str) -> SiteNode {
        let dimms = Dimms { modules: vec![Dimm::default(); modules], ..Dimms::default() };
        let machine = Machine { dimms: Known::Known(dimms), ..Machine::default() };
        let reading = SettingReading {
            setting: "cpu.governor".to_owned(),
            subject: Subject::node(),
            facts: Params::default(),
            present: Present::Value(Value::from(governor)),
            note: None,
            counted: None,
            counted_before: None,
            counted_after: None,
        };
        SiteNode { settings: vec![reading], ..SiteNode::new(name, machine) }
    }

    fn texts(nodes: &[SiteNode]) -> Vec<String> {
        find(&Class { nodes: nodes.iter().collect() }, &[], &[])
            .into_iter()
            .map(|finding| finding.text)
            .collect()
    }

    #[test]
    fn the_one_that_differs_is_named_with_what_the_others_are() {
        let mut nodes: Vec<_> = (1..=16).map(|n| node(&format!("n{n}"), 16, "performance")).collect();
        nodes[6] = node("n7", 15, "powersave");
        assert_eq!(
            texts(&nodes),
            [
                "n7: cpu.governor is powersave, on 15 others performance; memory modules is 15, on 15 others 16; this \
                 can slow benchmarks of mem, cpu, net, rdma, mpi on n7"
            ]
        );
    }

    #[test]
    fn a_node_that_lost_its_only_disk_of_a_model_is_named_unless_its_disks_are_unknown() {
        let with = |name: &str, disks: Known<Vec<Disk>>| {
            let mut node = node(name, 16, "performance");
            node.machine.disks = disks;
            node
        };
        let one = || {
            let disk = Disk { bus: DiskBus::Nvme, model: Known::Known("A".to_owned()), ..Disk::default() };
            Known::Known(vec![disk])
        };
        let found = |third| texts(&[with("n1", one()), with("n2", one()), with("n3", third)]);
        let lost = found(Known::Known(Vec::new()));
        assert!(lost.len() == 1 && lost[0].starts_with("n3: disks A is 0, on 2 others 1"), "{lost:?}");
        assert_eq!(found(Known::unknown("denied")), [""; 0]);
    }

    #[test]
    fn what_to_do_is_the_command_of_the_setting_where_it_has_one() {
        static GOVERNOR: SettingAbout = SettingAbout {
            id: "cpu.governor",
            title: "",
            doc: "",
            kind: Kind::Text,
            unit: "",
            fields: &[],
            unlimited: None,
            subject: "node",
            facts: &[],
            source: "",
            apply: &[ApplyCommand::always("cpupower frequency-set -g {value}")],
            privilege: Privilege::Root,
            remedy: "",
            traps: "",
        };
        let action = |modules: usize, settings: &[&'static SettingAbout]| {
            let sound = |name: &str| node(name, 8, "performance");
            let nodes = [sound("n1"), sound("n2"), node("n3", modules, "powersave")];
            let class = Class { nodes: nodes.iter().collect() };
            find(&class, &[], settings)[0].remedy.as_ref().expect("there is something to do").action.clone()
        };
        assert_eq!(
            action(7, &[&GOVERNOR]),
            "on n3, as on its peers: `cpupower frequency-set -g performance`; look where the other nodes have it from (tuned, \
             cpupower, firmware setup)"
        );
        assert_eq!(
            action(8, &[]),
            "find out why n3 is not like its peers: cpu.governor is powersave, on 2 others performance"
        );
        assert!(action(7, &[]).contains("dmidecode -t memory"), "as the rule of missing memory says");
    }

    #[test]
    fn what_to_do_about_an_mtu_is_what_its_cause_says_with_what_keeps_the_value() {
        static MTU: SettingAbout = SettingAbout {
            id: "nic.mtu",
            title: "",
            doc: "",
            kind: Kind::Count(68, 65535),
            unit: "",
            fields: &[],
            unlimited: None,
            subject: "nic",
            facts: &[],
            source: "",
            apply: &[ApplyCommand {
                file: "/sys/class/net/{name}/mtu",
                ..ApplyCommand::always("ip link set dev {name} mtu {value}")
            }],
            privilege: Privilege::NetAdmin,
            remedy: "",
            traps: "",
        };
        let with_mtu = |name: &str, mtu: &str| {
            let mut node = node(name, 8, mtu);
            node.settings[0].setting = "nic.mtu".to_owned();
            node.settings[0].subject = Subject::device("nic", "eth0");
            node
        };
        let nodes = [with_mtu("n1", "9000"), with_mtu("n2", "9000"), with_mtu("n3", "1500")];
        let found = find(&Class { nodes: nodes.iter().collect() }, &[], &[&MTU]);
        assert_eq!(
            found[0].remedy.as_ref().expect("there is something to do").action,
            "on n3, as on its peers (its switch port must allow packets of this size): `ip link set dev eth0 mtu 9000` until \
             the next boot; to keep the value: `seatrial settings apply nic.mtu@eth0=9000 --persist -w n3`"
        );
    }

    #[test]
    fn what_a_difference_can_slow_is_told_with_the_cases_that_it_limits() {
        let buffer = |name: &str, value: &str| {
            let mut node = node(name, 8, "performance");
            node.settings[0].setting = "net.ipv4.tcp_wmem".to_owned();
            node.settings[0].present = Present::Value(Value::from(value));
            node
        };
        let case = |from: &str, to: &str, kind: &str| {
            let mut case = crate::judge::fixture::case(from, &format!("{from}->{to}"));
            let Ok(id) = format!("{from}+{to}").parse();
            case.case = id;
            case.nodes.push(to.to_owned());
            case.findings.push(Finding::new(kind, Severity::Warning, case.subject.clone(), "slow"));
            case
        };
        let records = [
            case("n3", "n1", "limited-by-application"),
            case("n3", "n2", "limited-by-sender-starved"),
            case("n1", "n3", "limited-by-application"),
        ];
        let told = |own: &str| {
            let usual = "4 KiB, 16 KiB, 4 MiB";
            let nodes = [buffer("n1", usual), buffer("n2", usual), buffer("n3", own)];
            let class = Class { nodes: nodes.iter().collect() };
            find(&class, &records, &[]).remove(0)
        };
        let small = told("4 KiB, 8 KiB, 8 KiB");
        assert_eq!(small.cause.as_deref(), Some("small-send-buffer"));
        assert_eq!(small.evidence, ["n3+n1"]);
        let says =
            "; this can slow what n3 sends; this also explains what limits the flows of 1 case of this run";
        assert!(small.text.ends_with(says), "{}", small.text);
        let large = told("4 KiB, 16 KiB, 8 MiB");
        assert_eq!((large.cause, large.evidence.len()), (None, 0), "a larger buffer slows nothing");
    }

    #[test]
    fn what_the_pairs_of_the_node_lack_is_told_first_where_every_one_is_slower_than_every_other() {
        let buffer = |name: &str, value: &str| {
            let mut node = node(name, 8, "performance");
            node.settings[0].setting = "net.ipv4.tcp_rmem".to_owned();
            node.settings[0].present = Present::Value(Value::from(value));
            node
        };
        let told = |rate: fn(u32, u32) -> f64| {
            let of = |from: u32, to: u32| {
                let mut case = crate::judge::fixture::case(&format!("n{from}"), &format!("n{from}->n{to}"));
                case.nodes.push(format!("n{to}"));
                case.bench = "net.tcp_stream".to_owned();
                let (rate, no_limit) = (rate(from, to), crate::judge::fixture::no_limit());
                let metric = crate::judge::fixture::metric(rate, (0.1 * rate, 2.0 * rate), no_limit);
                case.metrics.insert("throughput".to_owned(), metric);
                case
            };
            let pairs =
                (1..=3).flat_map(|from| (1..=3).map(move |to| (from, to))).filter(|(from, to)| from != to);
            let records: Vec<CaseRecord> = pairs.map(|(from, to)| of(from, to)).collect();
            let usual = "4 KiB, 128 KiB, 32 MiB";
            let nodes = [buffer("n1", usual), buffer("n2", usual), buffer("n3", "4 KiB, 8 KiB, 16 KiB")];
            find(&Class { nodes: nodes.iter().collect() }, &records, &[]).remove(0)
        };
        let slow = told(|_, to| if to == 3 { 2.0 } else { 16.0 });
        assert!(
            slow.text.starts_with("n3 has 12 % of its peers' throughput: net.ipv4.tcp_rmem is"),
            "{}",
            slow.text
        );
        assert_eq!(crate::loss(&slow).as_deref(), Some("12 % of its peers' throughput"));
        for harmless in [told(|_, _| 16.0), told(|from, to| if to == 3 && from == 1 { 2.0 } else { 16.0 })] {
            assert!(harmless.text.starts_with("n3: net.ipv4.tcp_rmem is"), "{}", harmless.text);
            assert_eq!((crate::loss(&harmless), harmless.evidence.len()), (None, 0));
        }
        let sending = told(|from, _| if from == 3 { 2.0 } else { 16.0 });
        assert_eq!(crate::loss(&sending), None, "a receive buffer slows what the node receives");
    }

    #[test]
    fn counts_of_errors_are_no_difference() {
        let with_errors = |name: &str, count: u64| {
            let mut node = node(name, 8, "performance");
            node.settings[0].setting = "state.memory_corrected".to_owned();
            node.settings[0].present = Present::Value(Value::Count(count));
            node
        };
        assert!(texts(&[with_errors("n1", 0), with_errors("n2", 0), with_errors("n3", 9)]).is_empty());
    }

    #[test]
    fn without_a_majority_nobody_is_the_odd_one() {
        let nodes = [node("n1", 8, "performance"), node("n2", 8, "powersave")];
        assert_eq!(
            texts(&nodes),
            ["cpu.governor differs and no value has the majority: performance on n1; powersave on n2"]
        );
    }

    #[test]
    fn what_could_not_be_read_is_no_difference() {
        let mut silent = node("n3", 8, "performance");
        silent.machine.dimms = Known::unknown("denied");
        silent.settings[0].present = Present::Unreadable("denied".to_owned());
        assert!(texts(&[node("n1", 8, "performance"), node("n2", 8, "performance"), silent]).is_empty());
        assert!(texts(&[node("n1", 8, "performance")]).is_empty());
    }
}
