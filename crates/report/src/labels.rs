//! Labels of table rows: only properties that differ between the rows are columns.

use std::collections::{BTreeMap, BTreeSet};

use seatrial_analysis::named_params;
use seatrial_model::record::CaseRecord;
use seatrial_model::{Params, Subject, Value, node_names};

use crate::grid::{GridColumn, Side};
use crate::words::clean;

/// Parameters with columns of their own; if more differ they share one.
const MOST_COLUMNS: usize = 4;

/// All properties that may tell a row from the others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Label {
    test: String,
    node: String,
    subject: String,
    params: BTreeMap<String, String>,
}

impl Label {
    /// The label of a case, with the plan's choices for parameters that were left open.
    pub fn of_case(case: &CaseRecord) -> Self {
        let chosen = |(name, value): (&str, &Value)| {
            let chosen = case.chosen.get(name).filter(|_| *value == Value::from("auto"));
            (clean(name), clean(&chosen.unwrap_or(value).to_string()))
        };
        // Two nodes may be measured in several steps of a pattern.
        let step = case.origin.step.map(|step| ("step".to_owned(), step.to_string()));
        let beside = case.origin.beside.as_ref().map(|beside| ("beside".to_owned(), beside.to_string()));
        Self {
            test: clean(&case.group),
            node: clean(&node_names(&case.nodes)),
            subject: clean(case.subject.as_str()),
            params: case.params.iter().map(chosen).chain(step).chain(beside).collect(),
        }
    }

    /// The same without the names of `nodes`: `n1/eth0->n2/eth0` is `eth0->eth0`.
    pub fn without_nodes(mut self, nodes: &[String]) -> Self {
        let end = |end: &str| {
            let (node, rest) = end.split_at(end.find('/').unwrap_or(end.len()));
            let is_node = nodes.iter().any(|known| clean(known) == node);
            if is_node { rest.trim_start_matches('/').to_owned() } else { end.to_owned() }
        };
        self.subject = self.subject.split("->").map(end).collect::<Vec<_>>().join("->");
        if self.subject == "->" {
            self.subject = "pair".to_owned();
        }
        self.node = String::new();
        self
    }

    pub fn subject(&self) -> &str {
        &self.subject
    }

    pub fn key(&self) -> String {
        format!("{self:?}")
    }

    pub fn new(nodes: &[String], subject: &Subject, params: &Params) -> Self {
        let texts = params.iter().map(|(name, value)| (clean(name), clean(&value.to_string())));
        Self {
            test: String::new(),
            node: clean(&node_names(nodes)),
            subject: clean(subject.as_str()),
            params: texts.collect(),
        }
    }
}

/// The nodes of a case: `n1->n2` of a pair with a direction.
pub fn ends_of(case: &CaseRecord) -> String {
    match case.nodes.as_slice() {
        [from, to] if case.subject.as_str().contains("->") => format!("{from}->{to}"),
        nodes => node_names(nodes),
    }
}

/// The name of a subject without nodes.
pub fn named(subject: &str, bench: &str) -> String {
    match subject.split_once(':') {
        Some(("nic", "lo")) => "loopback".to_owned(),
        Some(("gpu", index)) => format!("GPU {index}"),
        Some(("numa", node)) => format!("NUMA node {node}"),
        Some(("fs", "auto")) => "file system".to_owned(),
        Some((_, name)) if !name.is_empty() => name.to_owned(),
        _ if subject == "node" || subject.is_empty() => family(bench).to_owned(),
        _ => subject.to_owned(),
    }
}

/// What the benchmarks of a family measure.
pub fn family(bench: &str) -> &str {
    match bench.split('.').next().unwrap_or_default() {
        "mem" => "memory",
        "cpu" => "cores",
        "gpu" | "nccl" => "GPUs",
        "net" => "network",
        other => other,
    }
}

/// The label of each case among the others, in one line.
pub fn of_cases(cases: &[&CaseRecord]) -> Vec<String> {
    let all: Vec<Label> = cases.iter().map(|case| Label::of_case(case)).collect();
    let columns = columns(&all);
    let name = |(at, case): (usize, &&CaseRecord)| {
        let cells = columns.iter().map(|column| column.cells()[at].as_str()).filter(|cell| !cell.is_empty());
        let cells: Vec<&str> = cells.collect();
        if cells.is_empty() { case.subject.to_string() } else { cells.join(" ") }
    };
    cases.iter().enumerate().map(name).collect()
}

/// The columns that tell rows apart: zero for a single row, at least one for several.
pub fn columns(labels: &[Label]) -> Vec<GridColumn> {
    if labels.len() < 2 {
        return Vec::new();
    }
    let cells =
        |text: &dyn Fn(&Label) -> &str| labels.iter().map(|label| text(label).to_owned()).collect::<Vec<_>>();
    let differ = |cells: &Vec<String>| cells.iter().any(|cell| *cell != cells[0]);
    let mut fixed = vec![("node", cells(&|label| &label.node)), ("subject", cells(&|label| &label.subject))];
    fixed.retain(|(_, cells)| differ(cells));
    let names: BTreeSet<&String> = labels.iter().flat_map(|label| label.params.keys()).collect();
    let mut params: Vec<(&str, Vec<String>)> = Vec::new();
    for name in names {
        let cells = cells(&|label| label.params.get(name).map_or("", String::as_str));
        if differ(&cells) {
            params.push((name, cells));
        }
    }
    // Two tests of a profile may contain the same case; then the test tells them apart. It also stands for parameters
    // that are the same in all its cases, where too many differ.
    let tests = cells(&|label| &label.test);
    if params.len() > MOST_COLUMNS && differ(&tests) {
        params.retain(|(_, cells)| differ_within(&tests, cells));
    }
    let told: BTreeSet<Vec<&String>> = (0..labels.len())
        .map(|row| fixed.iter().chain(&params).map(|(_, cells)| &cells[row]).collect())
        .collect();
    if told.len() < labels.len() && differ(&tests) {
        fixed.insert(0, ("test", tests));
    }
    if fixed.is_empty() && params.is_empty() {
        fixed.push(("subject", cells(&|label| &label.subject)));
    }
    if params.len() > MOST_COLUMNS {
        params = vec![("parameters", share_one(&params))];
    }
    let columns = fixed.into_iter().chain(params);
    columns.map(|(name, cells)| GridColumn::new(name, side(&cells), cells)).collect()
}

/// A name for each of `items`, which are a benchmark, a label and nodes, among those of its benchmark:
/// `n1 kernel=triad`. Items that no label tells apart are named by their nodes.
pub fn names(items: &[(&str, Label, &[String])]) -> Vec<String> {
    let mut names = vec![String::new(); items.len()];
    let mut of_bench: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for (at, (bench, ..)) in items.iter().enumerate() {
        of_bench.entry(bench).or_default().push(at);
    }
    for places in of_bench.values() {
        let labels: Vec<Label> = places.iter().map(|at| items[*at].1.clone()).collect();
        let columns = columns(&labels);
        for (row, at) in places.iter().enumerate() {
            let told = columns.iter().filter(|column| !column.cells()[row].is_empty());
            let told = told.map(|column| match column.head() {
                "subject" | "node" | "parameters" => column.cells()[row].clone(),
                name => format!("{name}={}", column.cells()[row]),
            });
            names[*at] = told.collect::<Vec<_>>().join(" ");
        }
        // If only the metric differs, shows at least where they were measured.
        let is_told =
            columns.iter().any(|column| column.cells().iter().any(|cell| *cell != column.cells()[0]));
        if !is_told {
            places.iter().for_each(|at| names[*at] = clean(&items[*at].2.join("+")));
        }
    }
    names
}

/// Whether cells differ between rows of one test.
fn differ_within(tests: &[String], cells: &[String]) -> bool {
    let mut of_test = BTreeMap::new();
    tests.iter().zip(cells).any(|(test, cell)| of_test.entry(test).or_insert(cell) != &cell)
}

/// One cell per row for all of `params`.
fn share_one(params: &[(&str, Vec<String>)]) -> Vec<String> {
    let rows = params.first().map_or(0, |(_, cells)| cells.len());
    let pairs = |row: usize| {
        let told = params.iter().filter(|(_, cells)| !cells[row].is_empty());
        told.map(|(name, cells)| format!("{name}={}", cells[row])).collect::<Vec<_>>().join(" ")
    };
    (0..rows).map(pairs).collect()
}

/// Whole numbers are aligned right.
fn side(cells: &[String]) -> Side {
    let is_number = |cell: &String| cell.is_empty() || cell.parse::<f64>().is_ok();
    if cells.iter().all(is_number) { Side::Right } else { Side::Left }
}

/// The parameters that are not default and the same in all of `cases`.
pub fn shared_params(cases: &[&CaseRecord]) -> String {
    let shared = |pair: &String| cases.iter().all(|case| named_params(case).contains(pair));
    let pairs = cases.first().map(|case| named_params(case)).unwrap_or_default();
    pairs.into_iter().filter(shared).collect::<Vec<_>>().join(" ")
}
