//! The source tables of the shipped profiles on records made by hand: every cell finds the result that it names.

use std::collections::BTreeMap;

use jiff::civil::date;
use seatrial_analysis::{Basis, Counterpart, source_tables};
use seatrial_model::profile::{
    Profile, SourceCell, SourceResult, SourceSelection, SourceValue, Statistic, Test,
};
use seatrial_model::record::{CaseRecord, Document, MetricRecord, RunInfo, SCHEMA_VERSION, Summary};
use seatrial_model::{About, Budget, Case, Cause, LimitRecord, Params, Quantity, Reason, Subject, Unit};
use seatrial_report::terminal::{Content, TerminalContext, render};
use seatrial_report::{Style, TextStyle};
use serde_json::json;

use super::load;

/// What is composed as a share of the document's number.
const SHARE: f64 = 0.5;

fn shipped(name: &str) -> Profile {
    let source = seatrial_profile::Source::Shipped(name.to_owned());
    load(&source, date(2026, 3, 1)).unwrap_or_else(|found| panic!("{}", found.render(false))).profile
}

fn about(test: &Test) -> &'static About {
    seatrial_registry::REGISTRY.abouts().find(|about| about.id == test.bench).expect("a benchmark")
}

/// The case that `selection` names, on the only node, which has every role.
fn case(profile: &Profile, selection: &SourceSelection) -> Case {
    let test = profile.test(&selection.test).expect("the test");
    let about = about(test);
    let mut params = Params::default();
    for spec in about.params {
        let run = test.params.get(spec.name).and_then(|values| values.first());
        let text = run.cloned().unwrap_or_else(|| spec.default_value().to_string());
        params.set(spec.name, spec.parse(&text).expect("a value"));
    }
    selection.cases.iter().for_each(|(name, value)| params.set(name, value.clone()));
    let mut case =
        Case::new(about, "n1", Subject::node(), &params, Budget::NOTHING).in_group(about, &test.id);
    for (name, value) in test.on.iter().chain(selection.on.iter()) {
        case.facts.set(name, value.clone());
    }
    for (name, requirement) in &test.require {
        let met = requirement
            .equals
            .clone()
            .or(requirement.at_least.map(|least| least.to_string().as_str().into()));
        case.facts.set(name, met.expect("a value that is enough"));
    }
    case
}

fn metric(value: f64, unit: Unit, about: &About, name: &str) -> MetricRecord {
    let spec = about.metrics.iter().find(|spec| spec.name == name).expect("the metric");
    let summary = Summary { ci95: Some((0.99 * value, 1.01 * value)), ..seatrial_testkit::summary(value) };
    let unknown = LimitRecord::unknown("not of interest here");
    MetricRecord { converged: true, ..MetricRecord::new(unit, spec.better, &summary, unknown) }
}

/// The unit in which the benchmark records `name`.
fn unit(about: &About, name: &str) -> Unit {
    about.metrics.iter().find(|spec| spec.name == name).expect("the metric").unit
}

/// The cells of `profile` that name a result which no step has.
fn selected(profile: &Profile) -> Vec<(&SourceCell, &SourceSelection)> {
    let cells = profile.source_tables.iter().flat_map(|table| &table.rows).flat_map(|row| &row.cells);
    let of_cases = cells.flatten().filter_map(|cell| match &cell.result {
        SourceResult::Selection(selection) if selection.step.is_none() => Some((cell, selection)),
        _ => None,
    });
    of_cases.collect()
}

/// A case for each question of the tables: with half of the first number that the document prints for it, or failed where it
/// prints FAIL alone.
fn composed(profile: &Profile) -> Vec<CaseRecord> {
    let mut cases: BTreeMap<String, (CaseRecord, bool)> = BTreeMap::new();
    for (cell, selection) in selected(profile) {
        let case = case(profile, selection);
        let about = about(profile.test(&selection.test).expect("the test"));
        let key = format!("{} {} {}", selection.test, case.params, case.facts);
        let (record, has_failed) = cases.entry(key).or_insert_with(|| (CaseRecord::measured(&case), true));
        let SourceValue::Quantity(printed) = cell.value else { continue };
        *has_failed = false;
        let of = unit(about, &selection.metric);
        // In base units, so that the test does not convert as the analysis does.
        let value = SHARE * cell.factor * printed.base() / of.factor();
        record
            .metrics
            .entry(selection.metric.clone())
            .or_insert_with(|| metric(value, of, about, &selection.metric));
    }
    let failed = |(record, has_failed): (CaseRecord, bool)| {
        let why = Reason::new(Cause::Hang, "no answer for 60 s");
        if has_failed {
            CaseRecord {
                outcome: why.cause.outcome(),
                cause: Some(why.cause),
                reason: Some(why.text),
                ..record
            }
        } else {
            record
        }
    };
    cases.into_values().map(failed).collect()
}

/// Flows of `test` at the same time; each with its rate in Gbit/s in every trial, on a line of 9.91 Gbit/s.
fn step(profile: &Profile, test: &str, rates: &[f64]) -> Vec<CaseRecord> {
    let of = profile.source_tables.iter().flat_map(|table| &table.rows).flat_map(|row| &row.cells).flatten();
    let selection = of.filter_map(|cell| match &cell.result {
        SourceResult::Selection(selection) if selection.test == test => Some(selection),
        _ => None,
    });
    let selection = selection.into_iter().next().expect("a cell");
    let about = about(profile.test(test).expect("the test"));
    let flow = |(at, rate): (usize, &f64)| {
        let mut case = case(profile, selection);
        let Ok(id) = format!("{}/{at}#trunk.{}", case.id, rates.len()).parse();
        case.id = id;
        case.origin.pattern = Some("trunk".to_owned());
        case.origin.step = Some(rates.len() as u64);
        let mut record = CaseRecord::measured(&case);
        record.headline = Some("throughput".to_owned());
        let mut metric = metric(*rate, Unit::GigabitsPerSecond, about, "throughput");
        metric.samples = Some(vec![vec![*rate]; 2]);
        metric.limit.value = Some(9.91);
        record.metrics.insert("throughput".to_owned(), metric);
        record.evidence.insert("together".to_owned(), json!({ "cases": [rates.len(), rates.len()] }));
        record
    };
    rates.iter().enumerate().map(flow).collect()
}

fn document(results: Vec<CaseRecord>) -> Document {
    Document {
        schema: SCHEMA_VERSION,
        run: RunInfo {
            id: "20260301-083015-bcdf".to_owned(),
            seatrial: "0.1.0".to_owned(),
            command: Vec::new(),
            options: None,
            profile: None,
            nodes: vec!["n1".to_owned()],
            started: "2026-03-01T08:30:15Z".parse().expect("a time"),
            paused_seconds: 0.0,
            ended: None,
        },
        results,
        findings: Vec::new(),
        verdicts: Vec::new(),
        verdict: None,
    }
}

fn text(profile: &Profile, results: Vec<CaseRecord>, width: u16) -> String {
    let context = TerminalContext { content: Content::SourceTables(profile), ..TerminalContext::default() };
    render(&document(results), &context, TextStyle::new(Style::Plain, Some(width)))
}

const WITH_TABLES: [&str; 5] = ["cobalt2-2018", "dragnet", "discov-net", "ncsa-io", "transfer-study"];

#[test]
fn every_cell_finds_its_result_in_the_unit_of_the_document() {
    for name in WITH_TABLES {
        let profile = shipped(name);
        let results = composed(&profile);
        assert!(!results.is_empty(), "{name}");
        let mut first: BTreeMap<String, f64> = BTreeMap::new();
        for table in source_tables(&profile, &["n1".to_owned()], &results) {
            for (row, cells) in table.table.rows.iter().zip(&table.rows) {
                for cell in cells.iter().flatten() {
                    let place = format!("{name}: {}: {}", table.table.id, row.name);
                    let SourceResult::Selection(selection) = &cell.printed.result else {
                        assert!(matches!(cell.counterpart, Counterpart::NotMeasured(_)), "{place}");
                        continue;
                    };
                    match (&cell.counterpart, &cell.printed.value) {
                        (Counterpart::Number { value, unit, basis, .. }, SourceValue::Quantity(printed)) => {
                            assert_eq!(*unit, printed.unit(), "{place}");
                            // Several cells may compare with one result.
                            let key = format!(
                                "{} {} {} {}",
                                selection.test, selection.metric, selection.cases, selection.on
                            );
                            let shown = value * cell.printed.factor * printed.unit().factor();
                            let wanted = *first.entry(key).or_insert(shown);
                            assert!((shown - wanted).abs() <= 1e-9 * wanted, "{place}: {shown} {wanted}");
                            let ratio = value / printed.value();
                            match cell.ratio {
                                Some(found) => assert!((found - ratio).abs() < 1e-9, "{place}"),
                                None => assert_eq!(printed.value(), 0.0, "{place}"),
                            }
                            let is_median = selection.of == Statistic::Median;
                            assert!(
                                matches!(basis, Basis::Case(ci) if ci.is_some() == is_median),
                                "{place}: {basis:?}"
                            );
                        }
                        // A number beside FAIL: one machine of the document failed where another one worked.
                        (
                            Counterpart::Failed { .. } | Counterpart::Number { .. },
                            SourceValue::Word(word),
                        ) => {
                            assert_eq!(word, "FAIL", "{place}");
                        }
                        (Counterpart::NotMeasured(why), _) => {
                            let is_elsewhere = why.contains("is for production alone");
                            assert!(is_elsewhere || selection.step.is_some(), "{place}: {why}");
                        }
                        (found, printed) => panic!("{place}: {found:?} beside {printed:?}"),
                    }
                }
            }
        }
    }
}

/// The row of `text` that begins with `label`, as words without the references to notes.
fn row<'a>(text: &'a str, label: &str) -> Vec<&'a str> {
    let line = text.lines().find(|line| line.trim_start().starts_with(label));
    line.unwrap_or_else(|| panic!("no {label} in\n{text}"))
        .split_whitespace()
        .filter(|word| !word.starts_with('['))
        .collect()
}

fn ends_with(text: &str, label: &str, end: &[&str]) {
    let found = row(text, label);
    assert!(found.ends_with(end), "{found:?} does not end with {end:?}");
}

#[test]
fn numbers_are_those_that_the_document_would_print() {
    let profile = shipped("dragnet");
    let mut results = composed(&profile);
    for (test, metric, value) in [
        ("ipoib-tcp-latency", "round_trip", 12.66),
        ("gpu-link", "h2d", 10.80),
        ("rdma-write-poll-latency", "latency", 1.85),
        ("dragproc-write", "throughput", 513.8),
    ] {
        let own = results.iter_mut().filter(|record| record.group == test);
        own.for_each(|record| {
            let found = record.metrics.get_mut(metric).expect("the metric");
            (found.median, found.ci95) = (value, None);
        });
    }
    let text = text(&profile, results, 100);
    // Half of a round trip; MB/s of 1.024 MB/s; ns; MiB/s.
    ends_with(&text, "tcp_lat", &["6.33", "us", "±?", "6.33", "us", "1.00"]);
    ends_with(&text, "device 2, host to device", &["10546.9", "±?", "10547.1", "1.00"]);
    ends_with(&text, "rc_rdma_write_poll_lat", &["1850", "ns", "±?", "925", "ns", "2.00"]);
    ends_with(&text, "dragproc, dd, from", &["490", "±?", "490", "1.00"]);
    ends_with(&text, "standard", &["not", "measured", "2.4"]);
}

#[test]
fn the_tables_of_dragnet_with_a_trunk() {
    let profile = shipped("dragnet");
    let mut results = composed(&profile);
    results.extend(step(&profile, "trunk-out", &[9.91]));
    results.extend(step(&profile, "trunk-out", &[9.91, 9.91]));
    results.extend(step(&profile, "trunk-out", &[9.9, 9.9, 4.98, 4.98]));
    results.extend(step(&profile, "trunk-in", &[3.30, 3.31, 3.31]));
    insta::assert_snapshot!("source_tables_of_dragnet", text(&profile, results, 80));
}

#[test]
fn a_matrix_shows_failures_of_either_side() {
    let profile = shipped("ncsa-io");
    let text = text(&profile, composed(&profile), 80);
    // Cobalt worked where Tungsten did not, so that the composed file system works, too.
    let tungsten = text.split("Tungsten, Lustre, serial").nth(1).expect("the table");
    assert!(row(tungsten, "80").starts_with(&["80", "218", "FAIL"]), "{tungsten}");
    let random = text.split("where 80 threads failed").nth(1).expect("the table");
    ends_with(random, "60 threads, 4 MiB", &["FAIL", "FAIL"]);
    assert!(text.contains("no answer for 60 s"), "{text}");
}

#[test]
fn every_table_fits_its_terminal() {
    for name in WITH_TABLES {
        let profile = shipped(name);
        for (results, width) in [(composed(&profile), 80), (composed(&profile), 100), (Vec::new(), 80)] {
            let text = text(&profile, results, width);
            for line in text.lines() {
                assert!(line.chars().count() <= usize::from(width), "{name}, {width} columns: {line}");
            }
        }
    }
}

#[test]
fn a_run_without_results_has_every_row_and_the_reason() {
    let profile = shipped("discov-net");
    let text = text(&profile, Vec::new(), 80);
    ends_with(&text, "throughput", &["not", "measured", "900", "Mbit/s"]);
    assert!(text.contains("nothing here has"), "{text}");
    let printed = |quantity: &str| quantity.parse::<Quantity>().expect("a quantity").to_string();
    for quantity in ["25 us", "62 us", "75 us", "1890 Mbit/s", "3 Gbit/s"] {
        assert!(text.contains(&printed(quantity)), "{quantity} in\n{text}");
    }
}

/// The tests that the tables in docs/profiles.md name.
const TESTS_OF_DOCS: &str = r#"
[[test]]
id = "stream"
use = "net.tcp_stream"
[[test]]
id = "latency"
use = "net.rr"
[[test]]
id = "files"
use = "storage.file"
params = { threads = [1, 5, 10], block = ["64 KiB", "1 MiB"], pattern = "random" }
[[test]]
id = "uplink"
use = "net.tcp_stream"
pattern = "trunk"
"#;

#[test]
fn the_tables_in_the_docs_are_right() {
    let page = include_str!("../../../../../docs/profiles.md");
    let section = page.split("## Tables of a document").nth(1).expect("the section");
    let block = section.split("```toml\n").nth(1).and_then(|rest| rest.split("```").next()).expect("a block");
    let text = format!("{TESTS_OF_DOCS}{block}");
    let source = seatrial_profile::Source::Text { name: "docs".to_owned(), text };
    let profile =
        load(&source, date(2026, 3, 1)).unwrap_or_else(|found| panic!("{}", found.render(false))).profile;
    assert_eq!(profile.source_tables.len(), 3);
}
