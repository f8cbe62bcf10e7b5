//! JSON and CSV.

use seatrial_model::record::{Document, schema};
use seatrial_report::csv::header;
use seatrial_report::json::Spacing;
use seatrial_report::{csv, json};
use serde_json::{Value, json};

use super::{fixture, golden};

fn all() -> [Document; 5] {
    [fixture::host(), fixture::virtual_machine(), fixture::fleet(), fixture::mixed(), fixture::matrix()]
}

fn written(document: &Document, spacing: Spacing) -> String {
    let mut out = Vec::new();
    json::write(document, spacing, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

#[test]
fn json_is_the_record_and_nothing_else() {
    for document in all() {
        let text = written(&document, Spacing::Compact);
        assert!(text.ends_with("}\n") && text.lines().count() == 1);
        assert_eq!(serde_json::from_str::<Document>(&text).unwrap(), document);
        let pretty = written(&document, Spacing::Pretty);
        assert!(pretty.lines().count() > 10);
        assert_eq!(serde_json::from_str::<Document>(&pretty).unwrap(), document);
    }
}

#[test]
fn every_record_validates_against_the_published_schema() {
    let schema = serde_json::to_value(schema()).unwrap();
    let validator = jsonschema::validator_for(&schema).unwrap();
    for document in all() {
        let value: Value = serde_json::from_str(&written(&document, Spacing::Compact)).unwrap();
        let errors: Vec<String> = validator.iter_errors(&value).map(|error| error.to_string()).collect();
        assert_eq!(errors, [""; 0]);
    }
}

#[test]
fn a_broken_record_does_not_validate() {
    let schema = serde_json::to_value(schema()).unwrap();
    let validator = jsonschema::validator_for(&schema).unwrap();
    let good: Value = serde_json::from_str(&written(&fixture::host(), Spacing::Compact)).unwrap();
    let breaks: [(&str, Value); 6] = [
        ("/schema", json!("one")),
        ("/results/0/outcome", json!("superb")),
        ("/results/0/metrics/bandwidth/median", json!("fast")),
        ("/results/0/metrics/bandwidth/ci95", json!([1.0])),
        ("/verdicts/0/verdict", json!("perhaps")),
        ("/results", Value::Null),
    ];
    for (place, wrong) in breaks {
        let mut broken = good.clone();
        *broken.pointer_mut(place).unwrap() = wrong;
        assert!(!validator.is_valid(&broken), "{place}");
    }
    let mut incomplete = good;
    incomplete.as_object_mut().unwrap().remove("verdict");
    incomplete["results"][0].as_object_mut().unwrap().remove("metrics");
    assert!(!validator.is_valid(&incomplete), "a case without metrics");
}

fn rows(document: &Document) -> Vec<Vec<String>> {
    let mut out = Vec::new();
    csv::write(document, &mut out).unwrap();
    let mut reader = ::csv::Reader::from_reader(out.as_slice());
    assert_eq!(reader.headers().unwrap(), header());
    reader.records().map(|row| row.unwrap().iter().map(str::to_owned).collect()).collect()
}

fn field<'a>(row: &'a [String], name: &str) -> &'a str {
    &row[header().iter().position(|column| *column == name).unwrap()]
}

#[test]
fn csv_has_a_row_a_metric_and_a_row_a_place_of_a_series() {
    let rows = rows(&fixture::host());
    assert_eq!(rows.len(), 7 * (3 + 4));
    let triad = rows.iter().find(|row| field(row, "case").contains("triad,store=nt")).unwrap();
    let shown = ["name", "unit", "median", "lo", "hi", "limit", "verdict"].map(|name| field(triad, name));
    assert_eq!(shown, ["bandwidth", "GB/s", "45.93", "44.50617", "47.35383", "89.6", "fail"]);
    let place = rows.iter().find(|row| field(row, "kind") == "series").unwrap();
    assert_eq!((field(place, "name"), field(place, "at")), ("by_threads", "threads=1"));
    assert_eq!(field(place, "limit"), "");
}

#[test]
fn csv_keeps_cases_without_numbers() {
    let rows = rows(&fixture::mixed());
    let crash = rows.iter().find(|row| field(row, "cause") == "crash").unwrap();
    assert_eq!((field(crash, "outcome"), field(crash, "kind"), field(crash, "median")), ("failed", "", ""));
    assert!(field(crash, "reason").contains("SIGBUS"));
}

#[test]
fn the_header_of_csv_is_stable() {
    golden!("csv_header", header().join(","));
}
