//! Records that are large, odd or hostile, with exact numbers.

use std::collections::BTreeMap;

use seatrial_model::record::{Axis, CaseRecord, Document, MetricRecord, SeriesRecord, SeriesRow};
use seatrial_model::{
    Better, Bound, Bytes, Cause, Finding, LimitRecord, Outcome, Params, Quantity, Severity, Subject, Unit,
    Value, Verdict,
};

use super::fixture;

/// Text that would run or load something, or close its element, if it were not escaped.
pub const HOSTILE: [&str; 8] = [
    "<script>document.title='hit'</script>",
    "\"><img src=x onerror=\"document.title='hit'\">",
    "'><svg onload=document.title='hit'>",
    "</style></script><b>out",
    "javascript:document.title='hit'",
    "{{ 7*7 }}${7*7}$\\frac{1}{2}$",
    "a\nb\u{0}\u{202e}gnp.exe",
    "--><!-- &amp;lt;script&amp;gt;",
];

pub fn case(bench: &str, nodes: &[&str], params: Params) -> CaseRecord {
    let node = nodes.join("+");
    let Ok(id) = format!("{bench}@{node}/node[{params}]").parse();
    CaseRecord {
        case: id,
        bench: bench.to_owned(),
        group: bench.to_owned(),
        nodes: nodes.iter().map(|node| (*node).to_owned()).collect(),
        subject: Subject::node(),
        params,
        chosen: Params::default(),
        ..fixture::case("n1", "copy", "nt")
    }
}

/// A metric with its samples, all of them around `median`.
pub fn metric(unit: Unit, better: Better, median: f64, limit: LimitRecord) -> MetricRecord {
    let mut metric = MetricRecord::new(unit, better, &fixture::summary(median, 0.4), limit);
    let trial =
        |trial: u32| (0..12).map(|at| median * (1.0 + f64::from(at * 7 % 12 + trial) / 1e3)).collect();
    metric.samples = Some((0..3).map(trial).collect());
    metric.converged = true;
    metric
}

/// One case of `mem.bandwidth` that misses its bound.
pub fn alone() -> Document {
    let limit = fixture::limit(307.2);
    let mut record = fixture::measured("n1", "triad", "nt", 131.9, &limit);
    let found = metric(Unit::GigabytesPerSecond, Better::Higher, 131.9, limit);
    record.metrics.insert("bandwidth".to_owned(), found);
    let verdict = fixture::judged(&record, Verdict::Fail, 55.0, None);
    fixture::checked(fixture::document(&["n1"], vec![record]), vec![verdict])
}

/// One case of `mem.latency`: the time of a load over the size of the working set.
pub fn ladder() -> Document {
    let mut record = case("mem.latency", &["n1"], Params::default());
    let limit = LimitRecord::unknown("no hardware fact states it");
    let found = metric(Unit::Nanosecond, Better::Lower, 94.2, limit);
    record.metrics.insert("latency".to_owned(), found);
    let row = |power: i32| {
        let at = [("size".to_owned(), Value::Count(1 << power))].into_iter().collect();
        let time = [1.2, 3.6, 11.0, 94.0]
            [usize::from(power > 15) + usize::from(power > 20) + usize::from(power > 24)];
        SeriesRow { at, summary: fixture::summary(time, 0.5) }
    };
    let axes = vec![Axis { name: "size".to_owned(), unit: Unit::Byte }];
    let rows = (12..26).map(row).collect();
    let series = SeriesRecord { unit: Unit::Nanosecond, better: Better::Lower, axes, rows, column: None };
    record.series.insert("ladder".to_owned(), series);
    fixture::document(&["n1"], vec![record])
}

/// One case of `mem.loaded_latency`: the time of a load and the bandwidth, by the load.
pub fn loaded() -> Document {
    let mut record = case("mem.loaded_latency", &["n1"], Params::default());
    let unknown = LimitRecord::unknown("no hardware fact states it");
    record.metrics.insert("loaded".to_owned(), metric(Unit::Nanosecond, Better::Lower, 240.0, unknown));
    let bandwidth = metric(Unit::GigabytesPerSecond, Better::Higher, 230.0, fixture::limit(307.2));
    record.metrics.insert("bandwidth".to_owned(), bandwidth);
    let series = |unit: Unit, better: Better, value: fn(f64) -> f64| {
        let row = |load: u64| {
            let at = [("load".to_owned(), Value::Count(load))].into_iter().collect();
            SeriesRow { at, summary: fixture::summary(value(load as f64), 0.5) }
        };
        let axes = vec![Axis { name: "load".to_owned(), unit: Unit::Percent }];
        SeriesRecord { unit, better, axes, rows: (0..=100).step_by(20).map(row).collect(), column: None }
    };
    let curve = series(Unit::Nanosecond, Better::Lower, |load| 94.0 + (load / 43.0).exp2() * 30.0);
    let delivered = series(Unit::GigabytesPerSecond, Better::Higher, |load| 2.3 * load);
    record.series = BTreeMap::from([("curve".to_owned(), curve), ("delivered".to_owned(), delivered)]);
    fixture::document(&["n1"], vec![record])
}

/// One case of `net.pingpong`: the rate and the time of a message, by its size.
pub fn pingpong() -> Document {
    let mut record = case("net.pingpong", &["n1", "n2"], Params::default());
    let throughput = metric(Unit::GigabitsPerSecond, Better::Higher, 9.1, fixture::limit(9.41));
    record.metrics.insert("throughput".to_owned(), throughput);
    let series = |unit: Unit, better: Better, value: fn(f64) -> f64| {
        let row = |power: i32| {
            let at = [("size".to_owned(), Bytes(1 << power).into())].into_iter().collect();
            SeriesRow { at, summary: fixture::summary(value(f64::from(power).exp2()), 0.5) }
        };
        let axes = vec![Axis { name: "size".to_owned(), unit: Unit::Byte }];
        SeriesRecord { unit, better, axes, rows: (0..=24).step_by(4).map(row).collect(), column: None }
    };
    let time = |size: f64| 20.0 + size * 8e-3 / 9.4;
    let rates =
        series(Unit::GigabitsPerSecond, Better::Higher, |size| size * 8e-3 / (20.0 + size * 8e-3 / 9.4));
    let times = series(Unit::Microsecond, Better::Lower, time);
    record.series = BTreeMap::from([("by_size".to_owned(), rates), ("time_by_size".to_owned(), times)]);
    fixture::document(&["n1", "n2"], vec![record])
}

pub fn of_card() -> LimitRecord {
    let bound = |value: f64, formula: &str, provenance: &str| Bound {
        value: Quantity::new(value, Unit::GigabitsPerSecond).expect("finite"),
        formula: formula.to_owned(),
        provenance: provenance.to_owned(),
        nominal: None,
    };
    LimitRecord {
        nominal: None,
        value: Some(98.73),
        formula: Some("100 Gbit/s x 8928 / 9042, TCP over frames of 9000 B".to_owned()),
        provenance: Some("nic speed".to_owned()),
        reason: None,
        chain: vec![
            bound(126.03, "16 lanes x 8 GT/s x 128/130", "pcie link"),
            bound(100.0, "100000 Mbit/s", "nic speed"),
            bound(98.73, "100 Gbit/s x 8928 / 9042, TCP over frames of 9000 B", "framing"),
        ],
    }
}

/// `nodes` nodes with one case each of `metrics` metrics; every 23rd fails.
pub fn fleet(nodes: usize, metrics: usize) -> Document {
    let names: Vec<String> = (1..=nodes).map(|number| format!("node{number:04}.cluster")).collect();
    let (mut results, mut verdicts) = (Vec::new(), Vec::new());
    for (at, node) in names.iter().enumerate() {
        let mut record = case("mem.bandwidth", &[node], fixture::params(&[("kernel", "read")]));
        let verdict = if at % 23 == 7 { Verdict::Fail } else { Verdict::Pass };
        let slow = if verdict == Verdict::Fail { 0.7 } else { 1.0 };
        for number in 0..metrics {
            let value = (100.0 + number as f64) * slow * (1.0 + (at * 13 % 29) as f64 / 2e3);
            let name = if number == 0 { "bandwidth".to_owned() } else { format!("metric_{number:02}") };
            let metric = metric(Unit::GigabytesPerSecond, Better::Higher, value, fixture::limit(307.2));
            record.metrics.insert(name, metric);
        }
        verdicts.push(fixture::judged(&record, verdict, 30.0, None));
        results.push(record);
    }
    let nodes: Vec<&str> = names.iter().map(String::as_str).collect();
    fixture::checked(fixture::document(&nodes, results), verdicts)
}

/// Every pair of `nodes` nodes, of which the second is slow.
pub fn pairs(nodes: usize) -> Document {
    let names: Vec<String> = (1..=nodes).map(|number| format!("n{number}")).collect();
    let mut results = Vec::new();
    for (at, one) in names.iter().enumerate() {
        for (and, other) in names.iter().enumerate().skip(at + 1) {
            let is_slow = at == 1 || and == 1;
            let rate = if is_slow { 47.0 } else { 96.1 } * (1.0 + (at + and) as f64 / 1e3);
            let mut record = case("net.tcp_stream", &[one, other], fixture::params(&[("flows", "4")]));
            record.subject = format!("{one}/eth0->{other}/eth0").parse().unwrap_or_else(|_| Subject::node());
            let metric = metric(Unit::GigabitsPerSecond, Better::Higher, rate, of_card());
            record.metrics.insert("throughput".to_owned(), metric);
            results.push(record);
        }
    }
    let nodes: Vec<&str> = names.iter().map(String::as_str).collect();
    let mut document = fixture::document(&nodes, results);
    let mut slow =
        Finding::new("slow-node", Severity::Problem, Subject::node(), "n2 is 51 % behind the others");
    slow.node = Some("n2".to_owned());
    document.findings.push(slow);
    document
}

/// Operations by nodes and size: some hang, one size has its knee at 8 nodes.
pub fn sweep() -> Document {
    let mut results = Vec::new();
    for (column, size) in ["4 KiB", "64 KiB", "1 MiB"].iter().enumerate() {
        for threads in [1_u64, 2, 4, 8, 16, 32] {
            let mut params = fixture::params(&[("size", size)]);
            params.set("threads", Value::Count(threads));
            let mut record = case("storage.file", &["n1"], params);
            if column == 2 && threads > 8 {
                (record.outcome, record.cause) = (Outcome::Failed, Some(Cause::Hang));
                record.reason = Some("nothing moved for 20 s in phase measure".to_owned());
            } else {
                let rate = 120.0 * (column + 1) as f64 * (threads as f64).min(8.0).powf(0.9);
                let limit = LimitRecord::unknown("a file system over the network states no limit");
                let found = metric(Unit::MegabytesPerSecond, Better::Higher, rate, limit);
                record.metrics.insert("throughput".to_owned(), found);
            }
            results.push(record);
        }
    }
    let mut knee = Finding::new("knee", Severity::Info, Subject::node(), "saturated at threads=8");
    knee.case = Some(results[3].case.to_string());
    knee.value = Quantity::new(8.0, Unit::Count).ok();
    let mut document = fixture::document(&["n1"], results);
    document.findings.push(knee);
    document
}

/// One machine of the NCSA brief of 2005: single runs without intervals, half of which failed.
pub fn ncsa(machine: &str) -> Document {
    const BRIEF: &str = include_str!("../../../analysis/src/finding/fixtures/ncsa-2005.txt");
    let mut results = Vec::new();
    for line in BRIEF.lines().filter(|line| line.starts_with(machine)) {
        let [_, access, system, threads, block, rate] = line.split(' ').collect::<Vec<_>>()[..] else {
            continue;
        };
        let block = match block {
            "65K" => "64 KiB",
            "512K" => "512 KiB",
            "1MB" => "1 MiB",
            _ => "4 MiB",
        };
        let mut params = fixture::params(&[("block", block), ("pattern", access)]);
        params.set("threads", Value::Count(threads.parse().expect("a number")));
        let mut record = case("storage.file", &["login1"], params);
        record.subject = Subject::device("fs", system);
        match rate.parse() {
            Ok(rate) => {
                let limit = LimitRecord::unknown("a file system over the network states no limit");
                let mut found = metric(Unit::MegabytesPerSecond, Better::Higher, rate, limit);
                (found.ci95, found.samples) = (None, Some(vec![vec![rate]]));
                record.metrics.insert("throughput".to_owned(), found);
            }
            Err(_) => {
                (record.outcome, record.cause) = (Outcome::Failed, Some(Cause::Hang));
                record.reason = Some("nothing moved for 20 s in phase measure".to_owned());
            }
        }
        results.push(record);
    }
    let mut knee = Finding::new("knee", Severity::Info, Subject::node(), "saturated at threads=5");
    knee.case = results.iter().rev().find(|case| !case.metrics.is_empty()).map(|case| case.case.to_string());
    knee.value = Quantity::new(5.0, Unit::Count).ok();
    let mut document = fixture::document(&["login1"], results);
    document.findings.push(knee);
    document
}

pub fn latencies() -> Document {
    let mut results = Vec::new();
    for size in ["64 B", "64 KiB"] {
        let mut record = case("net.rr", &["n1", "n2"], fixture::params(&[("size", size)]));
        let far = if size == "64 B" { 1.0 } else { 6.0 };
        for (name, value) in [("round_trip", 11.2), ("p99", 14.9), ("p999", 31.0), ("p9999", 210.0)] {
            let limit = LimitRecord::unknown("no part of the way states how long it takes");
            record
                .metrics
                .insert(name.to_owned(), metric(Unit::Microsecond, Better::Lower, value * far, limit));
        }
        results.push(record);
    }
    fixture::document(&["n1", "n2"], results)
}

/// A record in which all untrusted text is hostile.
pub fn hostile() -> Document {
    let all: Vec<String> = HOSTILE.iter().map(|text| (*text).to_owned()).collect();
    let mut results = Vec::new();
    for (at, text) in HOSTILE.iter().enumerate() {
        let mut params = Params::default();
        params.set(text, *text);
        params.set("threads", Value::Count(1 << at));
        let mut record = case(text, &[text], params);
        record.subject = format!("nic:{text}").parse().unwrap_or_else(|_| Subject::node());
        record.key = Some((*text).to_owned());
        record.group = (*text).to_owned();
        record.evidence = BTreeMap::from([((*text).to_owned(), serde_json::json!({ *text: [text] }))]);
        let mut limit = of_card();
        limit.chain[1].formula = (*text).to_owned();
        limit.chain[1].provenance = (*text).to_owned();
        record
            .metrics
            .insert((*text).to_owned(), metric(Unit::GigabitsPerSecond, Better::Higher, 90.0, limit));
        let mut series = fixture::measured("n1", "copy", "nt", 90.0, &fixture::limit(100.0)).series;
        if let Some(series) = series.remove("by_threads") {
            record.series.insert((*text).to_owned(), series);
        }
        record.chosen.set(text, *text);
        if at % 2 == 1 {
            record.metrics.clear();
            (record.outcome, record.cause) = (Outcome::Failed, Some(Cause::Crash));
            record.reason = Some((*text).to_owned());
        }
        results.push(record);
    }
    let names: Vec<&str> = all.iter().map(String::as_str).collect();
    let verdicts = results
        .iter()
        .zip(HOSTILE)
        .map(|(record, text)| {
            let mut plain = fixture::measured("n1", "copy", "nt", 90.0, &fixture::limit(307.2));
            plain.nodes.clone_from(&record.nodes);
            let mut verdict = fixture::judged(&plain, Verdict::Fail, 50.0, Some(text));
            (verdict.criterion, verdict.test) = (text.to_owned(), text.to_owned());
            (verdict.bound, verdict.waiver) = (text.to_owned(), Some(text.to_owned()));
            (verdict.case, verdict.subject) = (Some(record.case.to_string()), record.subject.clone());
            verdict
        })
        .collect();
    let mut document = fixture::checked(fixture::document(&names, results), verdicts);
    document.run.id = HOSTILE[1].to_owned();
    document.run.command = all.clone();
    if let Some(profile) = &mut document.run.profile {
        (profile.id, profile.title) = (HOSTILE[0].to_owned(), HOSTILE[2].to_owned());
    }
    for text in HOSTILE {
        let mut finding = Finding::new(text, Severity::Problem, Subject::device("nic", text), text);
        finding.node = Some(text.to_owned());
        document.findings.push(finding);
    }
    document
}
