//! JUnit XML for Jenkins, GitLab and other CI systems.
//!
//! A node is a suite. If a profile judged the run, each criterion on a case is a test; otherwise each case is. Fail
//! is `failure`, unknown is `error`, skip is `skipped`, and a warning passes with its reason as output: JUnit has no
//! warnings. The numbers are properties of the test, which Jenkins, GitLab and pytest read.

use std::collections::{BTreeMap, HashSet};
use std::io::{self, Write};
use std::time::Duration;

use quick_junit::{NonSuccessKind, Property, Report, TestCase, TestCaseStatus, TestSuite};
use seatrial_model::record::CaseRecord;
use seatrial_model::{node_names, Outcome, Verdict, VerdictRecord};

use super::{About, Export, Material, judged, nodes_of};
use crate::view::cases::by_id;
use crate::view::values::value_of;

pub struct JUnit;

/// The suite of results without a node.
const RUN: &str = "run";

impl Export for JUnit {
    fn about(&self) -> &'static About {
        &About {
            flag: "junit",
            value: "FILE",
            help: "JUnit XML: a node is a suite, a criterion a test, unknown is an error, numbers are properties",
            bare: false,
        }
    }

    fn write(&self, run: &Material<'_>, out: &mut (dyn Write + Send)) -> io::Result<()> {
        let mut text = Vec::new();
        // Through memory: the error of the XML writer hides the error of the system.
        report(run).serialize(&mut text).map_err(io::Error::other)?;
        out.write_all(&text)
    }
}

fn report(run: &Material<'_>) -> Report {
    let document = run.document;
    let info = &document.run;
    let mut suites: BTreeMap<String, TestSuite> = BTreeMap::new();
    // In the order of the run; a node without tests gets an empty suite.
    let mut order: Vec<String> = Vec::new();
    let mut add = |name: String, test: Option<TestCase>| {
        let suite = suites.entry(name).or_insert_with_key(|name| {
            order.push(name.clone());
            let mut suite = TestSuite::new(name);
            // The XML schema of JUnit demands a local time without an offset; UTC is common to all nodes.
            let started = info.started.strftime("%Y-%m-%dT%H:%M:%S").to_string();
            suite.extra.insert("timestamp".into(), started.as_str().into());
            suite
        });
        if let Some(test) = test {
            suite.add_test_case(test);
        }
    };
    for node in &info.nodes {
        add(node.clone(), None);
    }
    if document.verdicts.is_empty() {
        for record in &document.results {
            add(suite_name(&node_names(&record.nodes)), Some(of_case(record)));
        }
        // Measured cases are not criteria that are met.
        if let Some(profile) = &info.profile {
            let text = "no criterion was judged: the run did not complete";
            let test = TestCase::new(&profile.id, unsuccessful(NonSuccessKind::Error, "unknown", text));
            add(RUN.to_owned(), Some(test));
        }
    } else {
        let records = by_id(document);
        let mut timed: HashSet<&str> = HashSet::new();
        for verdict in &document.verdicts {
            let record = verdict.case.as_deref().and_then(|id| records.get(id)).copied();
            // Several criteria may judge one case, whose time counts once.
            let timed = record.filter(|record| timed.insert(record.case.as_str()));
            add(suite_name(&nodes_of(verdict, &records)), Some(of_verdict(verdict, record, timed)));
        }
    }
    let mut report = Report::new(format!("seatrial {}", info.id));
    if let Some(ended) = &info.ended {
        // Absent when the clock was set back in between.
        if let Ok(took) = Duration::try_from(ended.at.duration_since(info.started)) {
            report.set_time(took);
        }
    }
    for name in &order {
        let Some(mut suite) = suites.remove(name) else { continue };
        suite.set_time(suite.test_cases.iter().filter_map(|test| test.time).sum());
        suite.add_property(Property::new("run", &info.id));
        suite.add_property(Property::new("seatrial", &info.seatrial));
        if let Some(profile) = &info.profile {
            suite.add_property(Property::new("profile", &profile.id));
        }
        report.add_test_suite(suite);
    }
    report
}

fn suite_name(nodes: &str) -> String {
    if nodes.is_empty() { RUN.to_owned() } else { nodes.to_owned() }
}

fn of_verdict(verdict: &VerdictRecord, record: Option<&CaseRecord>, timed: Option<&CaseRecord>) -> TestCase {
    let against = match value_of(verdict) {
        Some(measured) => format!("{measured}, wanted {}", verdict.bound),
        None => format!("wanted {}", verdict.bound),
    };
    let reason = verdict.reason.as_deref().unwrap_or_default();
    let message = if reason.is_empty() { against } else { format!("{against}: {reason}") };
    let status = match verdict.verdict {
        Verdict::Pass | Verdict::Warn => TestCaseStatus::success(),
        Verdict::Fail => unsuccessful(NonSuccessKind::Failure, verdict.verdict.word(), &message),
        Verdict::Unknown => unsuccessful(NonSuccessKind::Error, verdict.verdict.word(), &message),
        Verdict::Skip => skipped(&message),
    };
    let mut test = TestCase::new(format!("{}: {}", verdict.criterion, judged(verdict)), status);
    test.set_classname(if verdict.test.is_empty() { "settings" } else { verdict.test.as_str() });
    if verdict.verdict == Verdict::Warn {
        test.set_system_out(format!("warn: {message}"));
    }
    set_time(&mut test, timed);
    let mut tell = |name: &str, value: Option<String>| {
        if let Some(value) = value {
            test.add_property(Property::new(name, value));
        }
    };
    tell("criterion", Some(verdict.criterion.clone()));
    tell("subject", Some(verdict.subject.to_string()));
    tell("key", record.and_then(|record| record.key.clone()));
    tell("verdict", Some(verdict.verdict.word().to_owned()));
    tell("measured", verdict.measured.map(|measured| measured.to_string()));
    tell("interval", verdict.interval.map(|(low, high)| format!("{low} to {high}")));
    tell("bound", Some(verdict.bound.clone()));
    tell("margin_percent", verdict.margin_percent.map(|margin| margin.to_string()));
    tell("waiver", verdict.waiver.clone());
    test
}

fn of_case(record: &CaseRecord) -> TestCase {
    let reason = record.reason.as_deref().unwrap_or("the record does not say why");
    let status = match record.outcome {
        Outcome::Measured => TestCaseStatus::success(),
        Outcome::Failed => unsuccessful(NonSuccessKind::Failure, "failed", reason),
        Outcome::Unmeasured => unsuccessful(NonSuccessKind::Error, "unmeasured", reason),
        Outcome::Skipped => skipped(reason),
    };
    let mut test = TestCase::new(record.case.as_str(), status);
    test.set_classname(&record.group);
    set_time(&mut test, Some(record));
    for (name, metric) in &record.metrics {
        let value = |number: f64| format!("{number} {}", metric.unit);
        test.add_property(Property::new(name, value(metric.median)));
        if let Some((low, high)) = metric.ci95 {
            test.add_property(Property::new(format!("{name}.interval"), format!("{low} to {}", value(high))));
        }
        if let Some(limit) = metric.limit.value {
            test.add_property(Property::new(format!("{name}.limit"), value(limit)));
        }
    }
    test
}

fn set_time(test: &mut TestCase, record: Option<&CaseRecord>) {
    let time = record.map(|record| record.seconds).map_or(Ok(Duration::ZERO), Duration::try_from_secs_f64);
    // A negative time would be a defect of the record; the test then has no time.
    if let Ok(time) = time {
        test.set_time(time);
    }
}

fn unsuccessful(kind: NonSuccessKind, ty: &str, message: &str) -> TestCaseStatus {
    let mut status = TestCaseStatus::non_success(kind);
    status.set_type(ty).set_message(message);
    status
}

fn skipped(message: &str) -> TestCaseStatus {
    let mut status = TestCaseStatus::skipped();
    status.set_message(message);
    status
}
