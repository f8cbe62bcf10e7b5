//! Cells of a source table beside records made by hand.

use seatrial_model::profile::{NodeSet, Role, SourceRow};
use seatrial_model::{Quantity, Reason};
use serde_json::json;

use super::*;
use crate::judge::fixture::{case, limit, metric, no_limit, params};

fn quantity(text: &str) -> SourceValue {
    SourceValue::Quantity(text.parse::<Quantity>().expect("a quantity"))
}

fn of_memory() -> SourceSelection {
    SourceSelection {
        test: "memory".to_owned(),
        metric: "bandwidth".to_owned(),
        cases: params(&[]),
        at: params(&[]),
        on: params(&[]),
        roles: Vec::new(),
        step: None,
        class: None,
        of: Statistic::Median,
    }
}

fn cell(value: SourceValue, factor: f64, selection: SourceSelection) -> Option<SourceCell> {
    Some(SourceCell { value, factor, result: SourceResult::Selection(selection) })
}

fn profile(test: Test, cells: Vec<Option<SourceCell>>) -> Profile {
    let table = SourceTable {
        id: "t".to_owned(),
        title: "t".to_owned(),
        source: "s".to_owned(),
        corner: String::new(),
        columns: vec![String::new(); cells.len()],
        rows: vec![SourceRow { name: "r".to_owned(), cells }],
    };
    Profile { tests: vec![test], source_tables: vec![table], ..Profile::default() }
}

fn memory() -> Test {
    Test { id: "memory".to_owned(), bench: "mem.bandwidth".to_owned(), ..Test::default() }
}

/// The counterpart and the ratio of each cell of the only row.
fn compared(profile: &Profile, nodes: &[&str], records: &[CaseRecord]) -> Vec<(Counterpart, Option<f64>)> {
    let nodes: Vec<String> = nodes.iter().map(|node| (*node).to_owned()).collect();
    let tables = source_tables(profile, &nodes, records);
    let [table] = tables.as_slice() else { panic!("{tables:?}") };
    let cells = table.rows[0].iter().flatten();
    cells.map(|cell| (cell.counterpart.clone(), cell.ratio)).collect()
}

fn measured_at(node: &str, median: f64) -> CaseRecord {
    let mut case = case(node, "node");
    case.metrics.insert("bandwidth".to_owned(), metric(median, (median - 1.0, median + 1.0), limit(1000.0)));
    case
}

fn without(node: &str, cause: Cause, why: &str) -> CaseRecord {
    let mut case = case(node, "node");
    let reason = Reason::new(cause, why);
    (case.outcome, case.cause, case.reason) = (cause.outcome(), Some(cause), Some(reason.text));
    case
}

#[test]
fn a_number_is_given_in_the_unit_and_the_convention_of_the_document() {
    let cells = vec![
        cell(quantity("100 Gbit/s"), 1.0, of_memory()),
        cell(quantity("6250 MB/s"), 1.024, of_memory()),
        cell(SourceValue::Word("FAIL".to_owned()), 1.0, of_memory()),
    ];
    let found = compared(&profile(memory(), cells), &["n1"], &[measured_at("n1", 10.0)]);
    let number = |at: usize| match &found[at].0 {
        Counterpart::Number { value, unit, basis: Basis::Case(Some(ci95)), .. } => (*value, *unit, *ci95),
        other => panic!("{other:?}"),
    };
    // 10 GB/s are 80 Gbit/s; the interval is converted with the number.
    assert_eq!(number(0), (80.0, Unit::GigabitsPerSecond, (72.0, 88.0)));
    assert_eq!(found[0].1, Some(0.8));
    // In units of 1.024 MB/s.
    assert_eq!(number(1), (10_000.0 / 1.024, Unit::MegabytesPerSecond, (9000.0 / 1.024, 11_000.0 / 1.024)));
    assert_eq!(found[1].1, Some(10_000.0 / 1.024 / 6250.0));
    // Beside a word: the unit of the row, and no ratio.
    assert_eq!((number(2).1, found[2].1), (Unit::GigabitsPerSecond, None));
}

#[test]
fn of_several_cases_it_is_the_median_with_the_range() {
    let records = [measured_at("n1", 10.0), measured_at("n2", 30.0), measured_at("n3", 20.0)];
    let cells = vec![cell(quantity("10 GB/s"), 2.0, of_memory())];
    let found = compared(&profile(memory(), cells), &["n1", "n2", "n3"], &records);
    let Counterpart::Number { value, basis, case, .. } = &found[0].0 else { panic!("{found:?}") };
    assert_eq!((*value, basis, case), (10.0, &Basis::Cases(3, (5.0, 15.0)), &None));
    assert_eq!(found[0].1, Some(1.0));
}

#[test]
fn a_failed_case_is_a_failure_and_one_without_a_look_is_not_measured() {
    let of = |record: CaseRecord| {
        let cells = vec![cell(quantity("10 GB/s"), 1.0, of_memory())];
        compared(&profile(memory(), cells), &["n1"], &[record]).remove(0).0
    };
    let hung = of(without("n1", Cause::Hang, "no answer for 60 s"));
    assert!(
        matches!(&hung, Counterpart::Failed { cause: Some(Cause::Hang), why, .. } if why.contains("60 s")),
        "{hung:?}"
    );
    let denied = of(without("n1", Cause::Denied, "only root may"));
    assert_eq!(denied, Counterpart::NotMeasured("only root may".to_owned()));
}

#[test]
fn what_was_not_measured_says_why() {
    let mut wanted = of_memory();
    wanted.cases = params(&[("threads", "50")]);
    let head = SourceSelection { roles: vec!["head".to_owned()], ..of_memory() };
    let spare = SourceSelection { roles: vec!["spare".to_owned()], ..of_memory() };
    let other = SourceSelection { metric: "latency".to_owned(), ..of_memory() };
    let value = || quantity("10 GB/s");
    let cells = vec![
        cell(value(), 1.0, wanted),
        cell(value(), 1.0, head),
        cell(value(), 1.0, spare),
        cell(value(), 1.0, other),
        Some(SourceCell {
            value: value(),
            factor: 1.0,
            result: SourceResult::NotMeasured("scp is not measured".to_owned()),
        }),
    ];
    let test = Test { roles: vec!["production".to_owned(), "spare".to_owned()], ..memory() };
    let mut profile = profile(test, cells);
    let nodes = |nodes: &str| Role { nodes: nodes.parse::<NodeSet>().expect("nodes"), expect: None };
    profile.roles = [("head", "n1"), ("production", "n2"), ("spare", "")]
        .map(|(name, of)| (name.to_owned(), nodes(of)))
        .into_iter()
        .collect();
    let found = compared(&profile, &["n1", "n2"], &[measured_at("n1", 1.0), measured_at("n2", 2.0)]);
    let reasons: Vec<&str> = found
        .iter()
        .map(|(counterpart, _)| match counterpart {
            Counterpart::NotMeasured(why) => why.as_str(),
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(
        reasons,
        [
            "no case was run with threads=50",
            "test 'memory' is for production and spare alone",
            "no node has the role spare: `--role spare=NODES` gives it",
            "the case has no 'latency'",
            "scp is not measured",
        ]
    );
    let nothing = compared(&profile, &["n1", "n2"], &[]);
    assert_eq!(nothing[0].0, Counterpart::NotMeasured("nothing was run".to_owned()));
}

#[test]
fn a_subject_in_another_state_than_the_test_requires_is_not_compared() {
    let require = [(
        "fill_percent".to_owned(),
        Requirement { at_least: Some("85 %".parse().unwrap()), ..Requirement::default() },
    )];
    let test = Test { require: require.into_iter().collect(), ..memory() };
    let mut record = measured_at("n1", 10.0);
    record.facts.set("fill_percent", "20 %");
    let profile = profile(test, vec![cell(quantity("10 GB/s"), 1.0, of_memory())]);
    let found = compared(&profile, &["n1"], &[record.clone()]).remove(0).0;
    assert!(matches!(&found, Counterpart::NotMeasured(why) if why.contains("fill_percent")), "{found:?}");
    record.facts.set("fill_percent", "90 %");
    let found = compared(&profile, &["n1"], &[record]).remove(0).0;
    assert!(matches!(found, Counterpart::Number { .. }), "{found:?}");
}

/// Flow `at` of `flows` at the same time, with its rate in every trial.
fn flow(flows: u64, at: usize, rates: &[f64]) -> CaseRecord {
    let mut case = case(&format!("a{at}"), &format!("a{at}->b{at}"));
    case.nodes.push(format!("b{at}"));
    let Ok(id) = format!("mem.bandwidth@a{at}+b{at}#trunk.{flows}").parse();
    case.case = id;
    case.origin.pattern = Some("trunk".to_owned());
    case.origin.step = Some(flows);
    let mut metric = metric(rates[0], (rates[0], rates[0]), no_limit());
    metric.samples = Some(rates.iter().map(|rate| vec![*rate]).collect());
    metric.limit.value = Some(10.0);
    case.metrics.insert("bandwidth".to_owned(), metric);
    case.evidence.insert("together".to_owned(), json!({ "cases": vec![flows; rates.len()] }));
    case
}

#[test]
fn a_step_has_its_total_and_its_flows_by_class() {
    // Three repeats of two flows: one link each, shared, one link each.
    let records = [flow(1, 0, &[10.0; 3]), flow(2, 0, &[10.0, 5.0, 10.0]), flow(2, 1, &[10.0, 5.0, 9.0])];
    let of = |step: u64, class: Option<FlowClass>, of: Statistic| SourceSelection {
        step: Some(step),
        class,
        of,
        ..of_memory()
    };
    let cells = vec![
        cell(quantity("19.82 GB/s"), 1.0, of(2, None, Statistic::Median)),
        cell(quantity("20 GB/s"), 1.0, of(2, None, Statistic::Max)),
        cell(quantity("2"), 1.0, of(2, Some(FlowClass::Full), Statistic::Median)),
        cell(quantity("0"), 1.0, of(2, Some(FlowClass::Half), Statistic::Median)),
        cell(quantity("29 GB/s"), 1.0, of(3, None, Statistic::Median)),
    ];
    let test = Test { pattern: Some("trunk".to_owned()), ..memory() };
    let found = compared(&profile(test, cells), &["a0", "a1", "b0", "b1"], &records);
    let number = |at: usize| match &found[at].0 {
        Counterpart::Number { value, basis, .. } => (*value, basis.clone()),
        other => panic!("{other:?}"),
    };
    assert_eq!(number(0), (19.0, Basis::Repeats(3, (10.0, 20.0))));
    assert_eq!(number(1).0, 20.0);
    assert_eq!((number(2), found[2].1), ((2.0, Basis::Repeats(3, (0.0, 2.0))), Some(1.0)));
    // Nothing is a ratio to 0.
    assert_eq!((number(3).0, found[3].1), (0.0, None));
    assert_eq!(found[4].0, Counterpart::NotMeasured("the pattern had no step 3".to_owned()));
}

#[test]
fn a_step_that_lost_a_flow_has_no_total() {
    let mut records = vec![flow(2, 0, &[10.0]), flow(2, 1, &[10.0])];
    let test = Test { pattern: Some("trunk".to_owned()), ..memory() };
    let wanted = SourceSelection { step: Some(2), ..of_memory() };
    let profile = profile(test, vec![cell(quantity("20 GB/s"), 1.0, wanted)]);
    records[1].outcome = Outcome::Failed;
    records[1].metrics.clear();
    records[1].reason = Some("the connection was lost".to_owned());
    let found = compared(&profile, &["a0", "a1", "b0", "b1"], &records).remove(0).0;
    assert!(
        matches!(&found, Counterpart::Failed { why, .. } if why == "the connection was lost"),
        "{found:?}"
    );
}
