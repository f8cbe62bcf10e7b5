//! Pages of compared runs, with exact numbers.

use seatrial_analysis::{Changed, ComparedCases, Comparison, apart, compare, curves};
use seatrial_model::record::{CaseRecord, Document, MetricRecord};
use seatrial_model::{Better, Cause, LimitRecord, Outcome, Unit};
use seatrial_report::compare::Compared;
use seatrial_report::html::{ComparedSide, write_comparison};

use super::fixture;
use super::scripted::{HOSTILE, case};

fn metric(unit: Unit, better: Better, trials: &[f64]) -> MetricRecord {
    let median = trials[trials.len() / 2];
    let limit = LimitRecord::unknown("nothing states it");
    let mut metric = MetricRecord::new(unit, better, &fixture::summary(median, 0.4), limit);
    metric.samples = Some(trials.iter().map(|median| vec![*median; 3]).collect());
    metric
}

fn kernel(node: &str, kernel: &str, trials: &[f64]) -> CaseRecord {
    let mut record = case("mem.bandwidth", &[node], fixture::params(&[("kernel", kernel), ("store", "nt")]));
    let found = metric(Unit::GigabytesPerSecond, Better::Higher, trials);
    record.metrics.insert("bandwidth".to_owned(), found);
    record
}

fn round_trip(one: &str, other: &str, trials: &[f64]) -> CaseRecord {
    let mut record = case("net.rr", &[one, other], fixture::params(&[("size", "64 B")]));
    record.metrics.insert("round_trip".to_owned(), metric(Unit::Microsecond, Better::Lower, trials));
    record.metrics.insert("exchanges".to_owned(), metric(Unit::Count, Better::None, trials));
    record
}

fn failed(mut record: CaseRecord, why: &str) -> CaseRecord {
    (record.outcome, record.cause) = (Outcome::Failed, Some(Cause::Hang));
    record.reason = Some(why.to_owned());
    record.metrics.clear();
    record
}

fn document(id: &str, results: Vec<CaseRecord>) -> Document {
    let mut document = fixture::document(&["n1", "n2", "n3"], results);
    document.run.id = id.to_owned();
    document
}

pub fn baseline() -> Document {
    let results = vec![
        kernel("n1", "copy", &[214.1, 214.2, 214.4]),
        kernel("n2", "copy", &[213.9, 214.0, 214.3]),
        kernel("n1", "triad", &[218.6, 218.9, 219.1]),
        kernel("n2", "scale", &[213.0, 217.1, 219.4]),
        kernel("n3", "write", &[171.0, 171.2, 171.3]),
        kernel("n3", "add", &[219.2, 219.4, 219.5]),
        round_trip("n1", "n2", &[8.11, 8.12, 8.15]),
    ];
    document("20260921-083015-bcdf", results)
}

/// The same cases later: one is worse, one better, one the same, one cannot be told, and one hangs.
pub fn candidate() -> Document {
    let results = vec![
        kernel("n1", "copy", &[214.2, 214.3, 214.5]),
        kernel("n2", "copy", &[213.8, 214.1, 214.2]),
        kernel("n1", "triad", &[131.6, 131.9, 132.3]),
        kernel("n2", "scale", &[210.2, 214.9, 218.0]),
        failed(kernel("n3", "write", &[171.0]), "nothing moved for 20 s in phase measure"),
        kernel("n3", "read", &[236.0, 236.1, 236.4]),
        round_trip("n1", "n2", &[6.54, 6.55, 6.57]),
    ];
    document("20260922-114502-ghjk", results)
}

/// The result of `seatrial compare` for two runs.
pub fn between(a: &Document, b: &Document) -> Comparison {
    let nodes = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
    let changed = |what: &str, before: &str, after: &str, on: &[&str]| Changed {
        what: what.to_owned(),
        before: before.to_owned(),
        after: after.to_owned(),
        nodes: nodes(on),
    };
    Comparison {
        changed: vec![
            changed("cpu.governor", "performance", "powersave", &["n1"]),
            changed("memory modules", "16 x 32 GiB DDR5 4800 MT/s", "15 x 32 GiB DDR5 4800 MT/s", &["n1"]),
            changed("nic.mtu of nic:eth0", "1500", "9000", &["n1", "n2", "n3"]),
        ],
        ..compare(&ComparedCases::all(&a.results), &ComparedCases::all(&b.results), Some(0.01))
    }
}

pub fn page_of(first: &Document, others: &[&Document]) -> String {
    let comparisons: Vec<Comparison> = others.iter().map(|other| between(first, other)).collect();
    let documents: Vec<&Document> = [first].into_iter().chain(others.iter().copied()).collect();
    let names: Vec<String> = documents.iter().map(|document| document.run.id.clone()).collect();
    let cases: Vec<_> = documents.iter().map(|document| ComparedCases::all(&document.results)).collect();
    let apart = apart(&cases, &comparisons);
    let compared = Compared {
        names: &names,
        legend: &apart.texts.unwrap_or_else(|| names.clone()),
        comparisons: &comparisons,
        curves: &curves(&cases, &apart.params),
        per_price: &[],
        price_unit: "",
    };
    let sides: Vec<ComparedSide<'_>> = documents
        .iter()
        .map(|document| ComparedSide { name: &document.run.id, of: String::new(), info: Some(&document.run) })
        .collect();
    let command = ["seatrial", "compare", &first.run.id].map(str::to_owned);
    let mut out = Vec::new();
    write_comparison(&compared, &sides, &command, &mut out).expect("memory takes all");
    String::from_utf8(out).expect("text")
}

pub fn page() -> String {
    page_of(&baseline(), &[&candidate()])
}

/// Two runs in which all untrusted text is hostile.
pub fn hostile() -> String {
    let results = |rate: f64| -> Vec<CaseRecord> {
        let record = |(at, text): (usize, &&str)| {
            let mut record = case(text, &[text], fixture::params(&[(text, text)]));
            let found = metric(Unit::GigabytesPerSecond, Better::Higher, &[rate, rate + 0.1, rate + 0.2]);
            record.metrics.insert((*text).to_owned(), found);
            if at % 3 == 2 && rate < 60.0 { failed(record, text) } else { record }
        };
        HOSTILE.iter().enumerate().map(record).collect()
    };
    let (mut a, mut b) = (document(HOSTILE[0], results(60.0)), document(HOSTILE[1], results(50.0)));
    a.run.command = HOSTILE.map(str::to_owned).to_vec();
    b.run.nodes = HOSTILE.map(str::to_owned).to_vec();
    page_of(&a, &[&b])
}
