//! The tables of the NCSA brief of 2005, and what the rules find in them.

use seatrial_model::record::CaseRecord;
use seatrial_model::{About, Cause, Finding, Kind, MetricSpec, Outcome, ParamSpec, Unit};

use super::load::load_findings;
use super::sweep::{Table, tables};
use crate::judge::fixture::{case, metric, no_limit};

const THREADS: ParamSpec = ParamSpec::new("threads", Kind::Load(1, 1024), "1").doc("");

const ABOUT: About = About {
    id: "mem.bandwidth",
    params: &[THREADS],
    metrics: &[MetricSpec::higher_is_better("throughput", Unit::MegabytesPerSecond).doc("")],
    ..About::WORKER
};

/// The rows of one machine: single runs, so without intervals.
pub(super) fn machine(name: &str) -> Vec<CaseRecord> {
    let rows = include_str!("fixtures/ncsa-2005.txt").lines().filter(|line| !line.starts_with('#'));
    let rows = rows.map(|line| line.split_whitespace().collect::<Vec<_>>());
    rows.filter(|row| row[0] == name).map(|row| record(&row)).collect()
}

fn record(row: &[&str]) -> CaseRecord {
    let [machine, access, system, threads, block, rate] = row else { panic!("{row:?}") };
    let mut case = case(machine, &format!("fs:{system}"));
    let block = match *block {
        "65K" => "64 KiB",
        "512K" => "512 KiB",
        "1MB" => "1 MiB",
        _ => "4 MiB",
    };
    let pattern = if *access == "Serial" { "seq" } else { "random" };
    case.params.set("threads", threads.parse::<u64>().expect("threads"));
    case.params.set("block", block);
    case.params.set("pattern", pattern);
    let Ok(id) = format!("{machine}[{}]", case.params).parse();
    case.case = id;
    match rate.parse::<f64>() {
        Ok(rate) => {
            let mut metric = metric(rate, (rate, rate), no_limit());
            (metric.unit, metric.ci95) = (Unit::MegabytesPerSecond, None);
            case.metrics.insert("throughput".to_owned(), metric);
        }
        Err(_) => {
            (case.outcome, case.cause) = (Outcome::Failed, Some(Cause::Hang));
            case.reason = Some("the file system hung".to_owned());
        }
    }
    case
}

fn found(name: &str, kind: &str) -> Vec<Finding> {
    let all = load_findings(&machine(name), &[&ABOUT]);
    all.into_iter().filter(|finding| finding.kind == kind).collect()
}

/// The only text of `kind` about this block and pattern.
#[track_caller]
fn text(name: &str, kind: &str, block: &str, pattern: &str) -> String {
    let prefix = format!("block={block}, pattern={pattern}: ");
    let mut texts: Vec<String> = found(name, kind)
        .into_iter()
        .filter_map(|finding| finding.text.strip_prefix(&prefix).map(str::to_owned))
        .collect();
    assert_eq!(texts.len(), 1, "{prefix}{texts:?}");
    texts.remove(0)
}

#[track_caller]
fn says(name: &str, kind: &str, block: &str, pattern: &str, wanted: &str) {
    let text = text(name, kind, block, pattern);
    assert!(text.starts_with(wanted), "{text}");
}

#[test]
fn tungsten_saturates_at_five_threads() {
    for (block, rate) in [("512 KiB", "123"), ("4 MiB", "123")] {
        let wanted = format!("saturated at threads=5: throughput is {rate} MB/s");
        says("Tungsten", "knee", block, "seq", &wanted);
    }
    says(
        "Tungsten",
        "knee",
        "1 MiB",
        "seq",
        "saturated at threads=5: throughput is 124 MB/s, and a higher load",
    );
    says("Tungsten", "knee", "64 KiB", "random", "saturated at threads=5: throughput is 1.87 MB/s");
    says(
        "Tungsten",
        "knee",
        "64 KiB",
        "seq",
        "saturation is not reached: throughput still grows to 122 MB/s",
    );
}

#[test]
fn tungsten_works_with_ten_threads_and_at_random_with_small_blocks_alone() {
    says(
        "Tungsten",
        "highest-working",
        "64 KiB",
        "seq",
        "the highest working threads is 10; failed: 20 (hang), 40 (hang), 80 (hang)",
    );
    says(
        "Tungsten",
        "highest-working",
        "1 MiB",
        "random",
        "no value of threads worked, the lowest tried was 1; failed: 1 (hang), 5 (hang)",
    );
    let random =
        found("Tungsten", "knee").into_iter().filter(|finding| finding.text.contains("pattern=random"));
    assert_eq!(random.count(), 1, "nothing is said of what never ran");
}

#[test]
fn cobalt_is_fastest_with_twenty_threads_whatever_the_brief_says() {
    // The brief: "with 80 threads and a 4MB buffer size, the system achieved peak performance".
    says(
        "Cobalt",
        "knee",
        "4 MiB",
        "seq",
        "saturated at threads=20: throughput is 1703 MB/s, and a higher load",
    );
    let peaks = found("Cobalt", "peak");
    let serial = peaks.iter().find(|finding| finding.text.contains("seq")).expect("a peak");
    assert_eq!(serial.text, "pattern=seq: the highest throughput is 1703 MB/s with block=4 MiB, threads=20");
    for block in ["64 KiB", "512 KiB", "1 MiB"] {
        says("Cobalt", "knee", block, "seq", "saturation is not reached");
    }
}

#[test]
fn mercury_falls_levels_off_and_peaks_as_its_table_has_it() {
    says(
        "Mercury",
        "knee",
        "64 KiB",
        "seq",
        "falling beyond threads=1: throughput is 85 MB/s there and 32 MB/s with threads=10, -62 %",
    );
    says(
        "Mercury",
        "knee",
        "512 KiB",
        "random",
        "falling beyond threads=40: throughput is 288.9 MB/s there and 228.3 MB/s with threads=80, -21 %",
    );
    says(
        "Mercury",
        "knee",
        "4 MiB",
        "random",
        "saturated at threads=10: throughput is 95.2 MB/s, and at most 98.9 MB/s (threads=50)",
    );
    says("Mercury", "knee", "1 MiB", "random", "saturation is not reached");
    let peaks: Vec<String> = found("Mercury", "peak").into_iter().map(|finding| finding.text).collect();
    let random = "pattern=random: the highest throughput is 517.9 MB/s with block=1 MiB, threads=60";
    assert!(peaks.iter().any(|text| text == random), "{peaks:?}");
    // The brief says that serial access "was not able to be measured"; its table has twelve values.
    assert!(
        peaks.iter().any(|text| text.contains("pattern=seq: the highest throughput is 185 MB/s")),
        "{peaks:?}"
    );
}

#[test]
fn the_highest_working_number_of_threads_is_named_with_what_failed() {
    says(
        "Mercury",
        "highest-working",
        "1 MiB",
        "random",
        "the highest working threads is 60; failed: 80 (hang)",
    );
    says(
        "Mercury",
        "highest-working",
        "4 MiB",
        "random",
        "the highest working threads is 50; failed: 60 (hang), 80 (hang)",
    );
    assert!(found("Cobalt", "highest-working").is_empty());
}

#[test]
fn blocks_of_four_mebibytes_are_slower_at_random_as_the_brief_says() {
    let found = found("Mercury", "larger-is-slower");
    let [random] = found.as_slice() else { panic!("{found:?}") };
    let wanted = "pattern=random: the largest block is slower at 4 of 8 values of threads: ";
    assert!(random.text.starts_with(wanted), "{}", random.text);
    assert!(
        random.text.ends_with("402.5 MB/s with block=1 MiB, 83.3 MB/s with block=4 MiB (threads=40), -79 %"),
        "{}",
        random.text
    );
}

#[test]
fn a_curve_that_levels_off_at_its_end_promises_nothing_of_more() {
    let mut records = machine("Cobalt");
    records.retain(|case| case.params.get("block") == Some(&"64 KiB".into()));
    for case in &mut records {
        let threads = case.params.count("threads").expect("threads");
        let metric = case.metrics.get_mut("throughput").expect("a rate");
        metric.median = if threads == 80 { 108.0 } else { 100.0 * threads as f64 / 40.0 };
    }
    let found = load_findings(&records, &[&ABOUT]);
    let knee = found.iter().find(|finding| finding.kind == "knee").expect("a knee");
    assert!(
        knee.text.contains("at threads=80: throughput is 108 MB/s, and the last doubling brought"),
        "{}",
        knee.text
    );
}

#[test]
fn loads_that_span_less_than_a_doubling_still_grow_or_level_off() {
    let knee = |points: [(u64, f64); 3]| {
        let mut records = machine("Cobalt");
        records.truncate(3);
        for (case, (threads, rate)) in records.iter_mut().zip(points) {
            for (name, value) in [("block", "64 KiB"), ("pattern", "seq")] {
                case.params.set(name, value);
            }
            case.params.set("threads", threads);
            case.metrics.get_mut("throughput").expect("a rate").median = rate;
        }
        let found = load_findings(&records, &[&ABOUT]).into_iter().find(|finding| finding.kind == "knee");
        found.expect("a knee").text
    };
    let growing = knee([(24, 100.0), (32, 133.0), (40, 167.0)]);
    assert!(growing.starts_with("saturation is not reached"), "{growing}");
    let level = knee([(21, 94.0), (30, 94.5), (40, 100.0)]);
    assert!(
        level.starts_with("saturated at threads=40")
            && level.contains("the loads measured brought no more than 10 % per doubling"),
        "{level}"
    );
}

#[test]
fn a_load_that_failed_below_one_that_works_is_no_bound() {
    let mut records = machine("Cobalt");
    let five = records.iter_mut().find(|case| case.params.count("threads") == Ok(5)).expect("five threads");
    five.metrics.clear();
    (five.outcome, five.cause) = (Outcome::Failed, Some(Cause::Crash));
    let found = load_findings(&records, &[&ABOUT]);
    assert!(found.iter().all(|finding| finding.kind != "highest-working"), "{found:?}");
}

#[test]
fn single_values_are_told_as_such() {
    assert!(text("Cobalt", "knee", "4 MiB", "seq").contains("(told from values without an interval)"));
}

#[test]
fn each_pattern_is_a_table_of_threads_by_blocks_with_its_failures() {
    let tables = tables(&machine("Mercury"));
    let [seq, random] = [0, 1].map(|at| &tables[at]);
    assert_eq!(
        (seq.fixed.to_string(), random.fixed.to_string()),
        ("pattern=seq".into(), "pattern=random".into())
    );
    let names = |table: &Table| {
        let of =
            |values: &[seatrial_model::Value]| values.iter().map(ToString::to_string).collect::<Vec<_>>();
        (of(&table.down.1), of(&table.across.1))
    };
    let (down, across) = names(random);
    assert_eq!(down, ["1", "5", "10", "20", "40", "50", "60", "80"]);
    assert_eq!(across, ["64 KiB", "512 KiB", "1 MiB", "4 MiB"]);
    assert_eq!(names(seq).0, ["1", "5", "10", "20", "40", "80"], "50 and 60 were tried at random only");
    let cell = |row: usize, column: usize| random.cells.get(&(row, column));
    assert_eq!(cell(5, 3).and_then(|cell| cell.value), Some(98.9));
    assert_eq!(cell(7, 3).map(|cell| cell.outcome), Some(Outcome::Failed));
    assert_eq!(cell(5, 2), None, "nobody tried 50 threads there");
    assert_eq!(random.peak().map(|(at, _)| at), Some((6, 2)));
}
