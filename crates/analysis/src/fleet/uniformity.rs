//! `uniformity`: a node that differs from its peers.

use std::collections::BTreeMap;

use seatrial_model::record::CaseRecord;
use seatrial_model::setting::SettingAbout;
use seatrial_model::{Actor, Finding, Remedy, Severity, Subject};

use super::attributes::{attributes, command};
use super::class::Class;
use crate::finding::matrix::SlowSide;
use crate::finding::{CauseRule, cause_of_difference};

const KIND: &str = "uniformity";

/// Attributes named in one finding; more are counted.
const MOST_NAMED: usize = 6;

/// One finding per node that differs from the majority, and one per attribute without a majority.
pub(super) fn find(
    class: &Class<'_>,
    records: &[CaseRecord],
    settings: &[&'static SettingAbout],
) -> Vec<Finding> {
    if class.nodes.len() < 2 {
        return Vec::new();
    }
    let all: Vec<(&str, BTreeMap<String, String>)> =
        class.nodes.iter().map(|node| (node.name.as_str(), attributes(node))).collect();
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
                        let others = if most.len() == 1 {
                            "1 other".to_owned()
                        } else {
                            format!("{} others", most.len())
                        };
                        let host = class.nodes.iter().find(|host| host.name == *node);
                        let command = host.and_then(|host| command(host, name, usual, settings));
                        let text = format!("{name} is {value}, on {others} {usual}");
                        let cause = cause_of_difference(name, value, usual);
                        odd.entry(*node).or_default().push(Odd { text, command, cause });
                    }
                }
            }
            None => found.push(split(name, &by_value)),
        }
    }
    found.extend(odd.into_iter().map(|(node, what)| of_node(node, &what, records)));
    found
}

/// A difference; the command that takes it away, and the cause of low numbers that it can be, if they are known.
struct Odd {
    text: String,
    command: Option<String>,
    cause: Option<&'static CauseRule>,
}

fn of_node(node: &str, odd: &[Odd], records: &[CaseRecord]) -> Finding {
    let what: Vec<&str> = odd.iter().map(|odd| odd.text.as_str()).collect();
    let mut text = what.iter().take(MOST_NAMED).copied().collect::<Vec<_>>().join("; ");
    if what.len() > MOST_NAMED {
        text += &format!("; and {} more", what.len() - MOST_NAMED);
    }
    let causes = || odd.iter().filter_map(|odd| odd.cause);
    let followed = causes().map(|rule| (rule, followers(rule, node, records)));
    let told = followed.max_by_key(|(_, cases)| cases.len()).filter(|(_, cases)| !cases.is_empty());
    let cause = told.as_ref().map(|(rule, _)| *rule).or_else(|| causes().next());
    text += &cause.map_or(String::new(), |rule| format!("; this can slow {}", slowed(rule, node)));
    let evidence = told.map_or(Vec::new(), |(_, cases)| cases);
    if !evidence.is_empty() {
        let cases =
            if evidence.len() == 1 { "1 case".to_owned() } else { format!("{} cases", evidence.len()) };
        text += &format!("; what limits the flows of {cases} of this run follows from it");
    }
    let finding = Finding::new(KIND, Severity::Warning, Subject::node(), format!("{node}: {text}"));
    let remedy = match odd.iter().find_map(|odd| odd.command.as_ref()) {
        Some(command) => Remedy::of(Actor::Root, format!("make {node} like its peers: `{command}`")),
        None => {
            let of_cause = causes().find_map(|rule| rule.general_remedy(node));
            let first = what.first().copied().unwrap_or_default();
            let text = || format!("find out why {node} is not like its peers: {first}");
            of_cause.unwrap_or_else(|| Remedy::of(Actor::Administrator, text()))
        }
    };
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
    use seatrial_model::machine::{Dimm, Dimms, Known, Machine};
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
            "make n3 like its peers: `cpupower frequency-set -g performance`"
        );
        assert_eq!(
            action(8, &[]),
            "find out why n3 is not like its peers: cpu.governor is powersave, on 2 others performance"
        );
        assert!(action(7, &[]).contains("dmidecode -t memory"), "as the rule of missing memory says");
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
            "; this can slow what n3 sends; what limits the flows of 1 case of this run follows from it";
        assert!(small.text.ends_with(says), "{}", small.text);
        let large = told("4 KiB, 16 KiB, 8 MiB");
        assert_eq!((large.cause, large.evidence.len()), (None, 0), "a larger buffer slows nothing");
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
