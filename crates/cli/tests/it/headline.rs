//! The headline metric is first on terminal and page, with its own limit, for every benchmark.

use seatrial_model::record::{CaseRecord, Document, MetricRecord, RunInfo, SCHEMA_VERSION, Summary};
use seatrial_model::{About, Bound, Budget, Case, Limit, Params, Quantity, Subject};
use seatrial_report::{TextStyle, html, terminal};

/// A case of `about` with all declared metrics, each with its own limit.
fn measured(about: &About) -> CaseRecord {
    let case = Case::new(about, "n1", Subject::node(), &Params::default(), Budget::NOTHING);
    let mut record = CaseRecord::measured(&case);
    record.headline = about.metrics.first().map(|metric| metric.name.to_owned());
    for metric in about.metrics {
        let bound = Bound {
            value: Quantity::new(80.0, metric.unit).expect("a number"),
            formula: format!("derivation of {}", metric.name),
            provenance: "test".to_owned(),
            nominal: None,
        };
        let limit = Limit::Chain(vec![bound]).record(metric.better, metric.unit).expect("of one unit");
        let summary = Summary { ci95: Some((59.5, 60.5)), ..seatrial_testkit::summary(60.0) };
        let found = MetricRecord::new(metric.unit, metric.better, &summary, limit);
        record.metrics.insert(metric.name.to_owned(), found);
    }
    record
}

fn document(record: CaseRecord) -> Document {
    let run: RunInfo = serde_json::from_value(serde_json::json!({
        "id": "20260921-083015-bcdf", "seatrial": "0.1.0", "command": ["seatrial", "run", record.bench],
        "options": null, "profile": null, "nodes": ["n1"], "started": "2026-09-21T08:30:15Z", "ended": null,
    }))
    .expect("a run");
    let results = vec![record];
    Document {
        schema: SCHEMA_VERSION,
        run,
        results,
        findings: Vec::new(),
        verdicts: Vec::new(),
        verdict: None,
    }
}

fn first<'a>(text: &str, names: &[&'a str]) -> Option<&'a str> {
    let is_of_name = |letter: char| letter.is_alphanumeric() || letter == '_';
    text.split(|letter| !is_of_name(letter)).find_map(|word| names.iter().copied().find(|name| *name == word))
}

#[test]
fn every_benchmark_is_known_by_the_metric_that_it_declares_first() {
    for about in seatrial_registry::REGISTRY.abouts() {
        let names: Vec<&str> = about.metrics.iter().map(|metric| metric.name).collect();
        let document = document(measured(about));
        let derivation = format!("derivation of {}", names[0]);

        let text = terminal::render(&document, &terminal::TerminalContext::default(), TextStyle::default());
        let table = text.split(about.id).last().expect("a table");
        assert_eq!(first(table, &names), Some(names[0]), "{}:\n{text}", about.id);
        assert!(text.contains(&derivation), "{}:\n{text}", about.id);

        let mut page = Vec::new();
        html::write(&document, &html::PageContext::default(), &mut page).expect("written");
        let page = String::from_utf8(page).expect("text");
        let heads: String = page.split("<th").skip(1).filter_map(|rest| rest.split("</th>").next()).collect();
        assert_eq!(first(&heads, &names), Some(names[0]), "{}: {heads}", about.id);
        assert!(page.contains(&derivation), "{}", about.id);
    }
}

#[test]
fn metrics_are_written_in_the_order_in_which_they_are_declared() {
    let about = seatrial_registry::REGISTRY.find("net.tcp_stream").expect("shipped").about;
    let text = serde_json::to_string(&measured(about)).expect("written");
    let read: CaseRecord = serde_json::from_str(&text).expect("read");
    let names: Vec<&str> = read.metrics.keys().map(String::as_str).collect();
    let declared: Vec<&str> = about.metrics.iter().map(|metric| metric.name).collect();
    assert_eq!(names, declared);
    assert_eq!(read.headline().expect("measured").0, "throughput");
}
