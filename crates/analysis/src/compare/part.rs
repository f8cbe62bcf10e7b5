//! Parts of a run that are compared under a name: a node, a device, a file system, a value of a parameter.

use std::collections::{BTreeMap, BTreeSet};

use seatrial_model::name::{did_you_mean, nearest};
use seatrial_model::record::CaseRecord;
use seatrial_model::{Subject, Value};

use crate::same::class_of;

/// A part of a run.
#[derive(Clone, Debug, PartialEq)]
pub enum Part {
    Node(String),
    /// A subject such as `gpu:0`, on one node or on each.
    Subject {
        node: Option<String>,
        subject: String,
    },
    /// A file system by its mount point, or a directory in it.
    Path(String),
    Param(String, Value),
}

/// A part that a run does not have.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the run has no part '{what}'{}; its parts: {}", did_you_mean(nearest), known.join(", "))]
pub struct NoSuchPart {
    pub what: String,
    pub nearest: Option<String>,
    /// Nodes, subjects, directories, and parameters with several values.
    pub known: Vec<String>,
}

const SUBJECT_OF_PATHS: &str = "fs";
const PARAM_OF_PATHS: &str = "directory";

impl Part {
    /// The part `what` of the run with these `cases`: a node (`n1`), a subject (`gpu:0`, `n1/gpu:0`), a mount point or
    /// directory (`/scratch`), a parameter (`mtu=1500`).
    pub fn find(what: &str, cases: &[CaseRecord]) -> Result<Self, NoSuchPart> {
        let found =
            Self::candidates(what, cases).into_iter().find(|part| cases.iter().any(|case| part.has(case)));
        found.ok_or_else(|| {
            let known = known(cases);
            let nearest = nearest(what, known.iter().map(String::as_str)).map(str::to_owned);
            NoSuchPart { what: what.to_owned(), nearest, known }
        })
    }

    /// The meanings that `what` may have, the first that a run has holds.
    fn candidates(what: &str, cases: &[CaseRecord]) -> Vec<Self> {
        let mut found = vec![Self::Node(what.to_owned())];
        let path = what.strip_prefix("fs:").or(what.strip_prefix("directory=")).unwrap_or(what);
        if path.starts_with('/') {
            found.push(Self::Path(path.to_owned()));
        }
        found.push(Self::Subject { node: None, subject: what.to_owned() });
        if let Some((node, subject)) = what.split_once('/') {
            found.push(Self::Subject { node: Some(node.to_owned()), subject: subject.to_owned() });
        }
        if let Some((name, text)) = what.split_once('=') {
            let values = cases.iter().filter_map(|case| case.params.get(name));
            let value = values.into_iter().find(|value| value.to_string() == text);
            found.extend(value.map(|value| Self::Param(name.to_owned(), value.clone())));
        }
        found
    }

    /// Whether a case is about the part.
    pub(super) fn has(&self, case: &CaseRecord) -> bool {
        match self {
            Self::Node(name) => case.nodes.contains(name),
            Self::Subject { node, subject } => {
                class_of(case) == *subject && node.as_ref().is_none_or(|node| case.nodes.contains(node))
            }
            Self::Path(path) => {
                case.subject.as_str().strip_prefix("fs:") == Some(path)
                    || case.params.get(PARAM_OF_PATHS) == Some(&Value::from(path.as_str()))
            }
            Self::Param(name, value) => case.params.get(name) == Some(value),
        }
    }

    /// `case` with the name of a `position` instead of this part, and without the stable key of a device.
    pub(super) fn renamed(&self, mut case: CaseRecord, position: usize) -> CaseRecord {
        if !self.has(&case) {
            return case;
        }
        // No node and no device has a name with a blank.
        let to = format!("part {position}");
        match self {
            Self::Node(node) => rename_node(&mut case, node, &to),
            Self::Subject { node, subject } => {
                if let Some(node) = node {
                    rename_node(&mut case, node, &to);
                }
                rename_subject(&mut case, subject, &to);
            }
            Self::Path(_) => {
                if case.subject.kind() == SUBJECT_OF_PATHS {
                    case.subject = Subject::device(SUBJECT_OF_PATHS, &to);
                }
                if case.params.get(PARAM_OF_PATHS).is_some() {
                    case.params.set(PARAM_OF_PATHS, to.as_str());
                }
            }
            Self::Param(name, _) => case.params.set(name, to.as_str()),
        }
        if !matches!(self, Self::Param(..)) {
            case.key = None;
        }
        case
    }

    /// The kind; parts of two kinds cannot be compared.
    pub fn kind(&self) -> String {
        match self {
            Self::Node(_) => "node".to_owned(),
            Self::Subject { subject, .. } => {
                format!("subject {}", subject.split(':').next().unwrap_or_default())
            }
            Self::Path(_) => "directory".to_owned(),
            Self::Param(name, _) => format!("parameter {name}"),
        }
    }
}

fn rename_node(case: &mut CaseRecord, from: &str, to: &str) {
    let end = |end: &str| match end.split_once('/') {
        Some((node, rest)) if node == from => format!("{to}/{rest}"),
        None if end == from => to.to_owned(),
        _ => end.to_owned(),
    };
    let ends: Vec<String> = case.subject.as_str().split("->").map(end).collect();
    // Any text names a subject.
    case.subject = ends.join("->").parse().unwrap_or_else(|_| Subject::node());
    case.nodes.iter_mut().filter(|node| *node == from).for_each(|node| to.clone_into(node));
    // Other nodes have other partners in the same step.
    case.origin.step = None;
}

/// Renames the device of the subject, and the parameter that chose it.
fn rename_subject(case: &mut CaseRecord, from: &str, to: &str) {
    let (kind, device) = from.split_once(':').unwrap_or(("", from));
    case.subject = Subject::device(kind, to);
    let is_it = |(name, value): &(&str, &Value)| {
        value.to_string() == device && (*name == kind || device.contains(char::is_alphabetic))
    };
    let chosen_by: Vec<String> = case.params.iter().filter(is_it).map(|(name, _)| name.to_owned()).collect();
    chosen_by.iter().for_each(|name| case.params.set(name, to));
}

/// The names of all parts of a run.
fn known(cases: &[CaseRecord]) -> Vec<String> {
    let mut known = BTreeSet::new();
    let mut values: BTreeMap<&str, BTreeSet<String>> = BTreeMap::new();
    for case in cases {
        known.extend(case.nodes.iter().cloned());
        known.insert(class_of(case));
        for (name, value) in case.params.iter() {
            values.entry(name).or_default().insert(value.to_string());
        }
    }
    let several = values.into_iter().filter(|(_, values)| values.len() > 1);
    known.extend(
        several.flat_map(|(name, values)| values.into_iter().map(move |value| format!("{name}={value}"))),
    );
    known.into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare::{ComparedCases, compare};
    use crate::judge::fixture::{case, measured, params};

    fn about(node: &str, subject: &str, of: &[(&str, &str)]) -> CaseRecord {
        let mut record = case(node, subject);
        record.metrics = measured(node).metrics;
        record.params = params(of);
        record.case = format!("{}@{node}/{subject}", record.params).parse().unwrap();
        record
    }

    fn part(what: &str, cases: &[CaseRecord]) -> Part {
        Part::find(what, cases).unwrap()
    }

    /// The ids of the cases that are compared when `a` and `b` are parts of one run.
    fn pairs(cases: &[CaseRecord], a: &str, b: &str) -> Vec<(String, String)> {
        let (a, b) = ([part(a, cases)], [part(b, cases)]);
        let (first, second) =
            (ComparedCases::of_parts(cases, &a, &[&b[0]]), ComparedCases::of_parts(cases, &b, &[&a[0]]));
        let found = compare(&first, &second, None);
        let mut pairs: Vec<_> = found.differences.into_iter().map(|row| (row.a.case, row.b.case)).collect();
        pairs.dedup();
        pairs
    }

    fn named(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
        pairs.iter().map(|(a, b)| ((*a).to_owned(), (*b).to_owned())).collect()
    }

    #[test]
    fn two_nodes_of_one_run_are_compared_and_cases_between_them_left_out() {
        let pair = |one: &str, other: &str| {
            let mut record = about(one, &format!("{one}/eth0->{other}/eth0"), &[]);
            record.nodes.push(other.to_owned());
            record
        };
        let cases = [
            about("n1", "node", &[("kernel", "copy")]),
            about("n2", "node", &[("kernel", "copy")]),
            pair("n1", "n2"),
            pair("n1", "n3"),
            pair("n2", "n3"),
        ];
        let expected = [
            ("kernel=copy@n1/node", "kernel=copy@n2/node"),
            ("@n1/n1/eth0->n3/eth0", "@n2/n2/eth0->n3/eth0"),
        ];
        assert_eq!(pairs(&cases, "n1", "n2"), named(&expected));
    }

    #[test]
    fn two_cards_with_keys_and_parameters_of_their_own_are_compared() {
        let card = |node: &str, gpu: &str| {
            let mut record = about(node, &format!("gpu:{gpu}"), &[("gpu", gpu), ("size", "1 MiB")]);
            record.key = Some(format!("uuid of {node} {gpu}"));
            record
        };
        let cases = [card("n1", "0"), card("n1", "1"), card("n2", "0"), card("n2", "1")];
        let on_each = [
            ("gpu=0,size=1 MiB@n1/gpu:0", "gpu=1,size=1 MiB@n1/gpu:1"),
            ("gpu=0,size=1 MiB@n2/gpu:0", "gpu=1,size=1 MiB@n2/gpu:1"),
        ];
        assert_eq!(pairs(&cases, "gpu:0", "gpu:1"), named(&on_each));
        let across = [("gpu=0,size=1 MiB@n1/gpu:0", "gpu=1,size=1 MiB@n2/gpu:1")];
        assert_eq!(pairs(&cases, "n1/gpu:0", "n2/gpu:1"), named(&across));
    }

    #[test]
    fn directories_are_compared_whatever_their_file_systems() {
        let cases = [
            about("n1", "fs:/", &[("directory", "/var/tmp"), ("block", "4 KiB")]),
            about("n1", "fs:/scratch", &[("directory", "/scratch"), ("block", "4 KiB")]),
        ];
        let expected =
            [("block=4 KiB,directory=/var/tmp@n1/fs:/", "block=4 KiB,directory=/scratch@n1/fs:/scratch")];
        assert_eq!(pairs(&cases, "/var/tmp", "/scratch"), named(&expected));
        assert_eq!(pairs(&cases, "directory=/var/tmp", "fs:/scratch"), named(&expected));
    }

    #[test]
    fn two_values_of_a_parameter_are_compared() {
        let cases = [
            about("n1", "node", &[("mtu", "1500"), ("size", "1 B")]),
            about("n1", "node", &[("mtu", "9000"), ("size", "1 B")]),
            about("n1", "node", &[("mtu", "9000"), ("size", "2 B")]),
        ];
        let expected = [("mtu=1500,size=1 B@n1/node", "mtu=9000,size=1 B@n1/node")];
        assert_eq!(pairs(&cases, "mtu=1500", "mtu=9000"), named(&expected));
    }

    #[test]
    fn nodes_that_changed_their_names_are_compared_in_order_even_when_names_were_swapped() {
        let (old, new) = (
            [about("n1", "node", &[]), about("n2", "node", &[])],
            [about("n1", "node", &[]), about("n2", "node", &[])],
        );
        let parts = |cases: &[CaseRecord], names: [&str; 2]| names.map(|name| part(name, cases));
        let (a, b) = (parts(&old, ["n1", "n2"]), parts(&new, ["n2", "n1"]));
        let found =
            compare(&ComparedCases::of_parts(&old, &a, &[]), &ComparedCases::of_parts(&new, &b, &[]), None);
        let pairs: Vec<_> =
            found.differences.iter().map(|row| (row.a.nodes[0].as_str(), row.b.nodes[0].as_str())).collect();
        assert_eq!(pairs, [("n1", "n2"), ("n2", "n1")]);
    }

    #[test]
    fn a_part_that_is_not_there_is_refused_with_those_that_are() {
        let cases = [
            about("n1", "gpu:0", &[("size", "1 B"), ("mtu", "1500")]),
            about("n1", "gpu:1", &[("size", "2 B"), ("mtu", "1500")]),
        ];
        let error = Part::find("gpu:2", &cases).unwrap_err();
        assert_eq!(error.known, ["gpu:0", "gpu:1", "n1", "size=1 B", "size=2 B"]);
        assert!(error.to_string().starts_with("the run has no part 'gpu:2'; did you mean 'gpu:"), "{error}");
    }
}
