//! Series of one case that share a table: a row per size, as nccl-tests prints them.

use seatrial_model::record::{CaseRecord, Document, MetricRecord, SeriesColumn, SeriesRecord, SeriesRow};
use seatrial_model::{Better, Bytes, LimitRecord, Unit, Value};
use seatrial_report::terminal::{Content, TerminalContext, render};
use seatrial_report::{Style, TextStyle};

use super::{fixture, golden};

/// Sizes of a sweep with the time of an operation in microseconds.
const TIMES: [(u64, f64); 11] = [
    (8, 9.1),
    (64, 9.3),
    (512, 12.0),
    (4 << 10, 12.2),
    (32 << 10, 11.4),
    (256 << 10, 12.4),
    (2 << 20, 27.8),
    (16 << 20, 77.2),
    (128 << 20, 469.0),
    (1 << 30, 3233.0),
    (8 << 30, 25_400.0),
];

fn column(unit: Unit, better: Better, place: u32, title: &str, of: impl Fn(u64, f64) -> f64) -> SeriesRecord {
    let row = |&(size, time): &(u64, f64)| SeriesRow {
        at: [("size".to_owned(), Value::from(Bytes(size)))].into_iter().collect(),
        summary: fixture::summary(of(size, time), 0.4),
    };
    let rows = TIMES.iter().map(row).collect();
    let axes = fixture::series(vec![("size", Unit::Byte)], Vec::new()).axes;
    SeriesRecord { unit, better, axes, rows, column: Some(SeriesColumn { place, title: title.to_owned() }) }
}

/// An all-reduce of so many GPUs.
fn all_reduce(ranks: u64) -> Document {
    let mut record = CaseRecord {
        bench: "nccl.collective".to_owned(),
        group: "nccl.all_reduce".to_owned(),
        case: "nccl.all_reduce:nccl.collective@n1/node".parse().expect("an id"),
        ..fixture::case("n1", "", "")
    };
    record.params = [("operation", "all_reduce"), ("type", "fp32")]
        .map(|(name, value)| (name.to_owned(), Value::from(value)))
        .into_iter()
        .collect();
    record.chosen = Default::default();
    let rate = |size: u64, time: f64| size as f64 / time / 1e3;
    let limit = fixture::limit_from(478.0, "18 active NVLinks x 26562 MB/s", "nvml; RING");
    let (largest, slowest) = TIMES[10];
    let unknown = || LimitRecord::unknown("no hardware fact bounds it");
    let metric =
        |unit, better, value, limit| MetricRecord::new(unit, better, &fixture::summary(value, 0.4), limit);
    let rates = (Unit::GigabytesPerSecond, Better::Higher);
    let all = [
        ("busbw", metric(rates.0, rates.1, rate(largest, slowest), limit)),
        ("algbw", metric(rates.0, rates.1, rate(largest, slowest), unknown())),
        ("latency", metric(Unit::Microsecond, Better::Lower, 9.1, unknown())),
        ("half", metric(Unit::Byte, Better::Lower, f64::from(16 << 20), unknown())),
        ("init", metric(Unit::Second, Better::Lower, 0.5, unknown())),
    ];
    record.metrics.extend(all.map(|(name, metric)| (name.to_owned(), metric)));
    record.headline = Some("busbw".to_owned());
    let columns = [
        ("curve", column(rates.0, rates.1, 4, "busbw", rate)),
        ("algbw_by_size", column(rates.0, rates.1, 3, "algbw", rate)),
        ("time_by_size", column(Unit::Microsecond, Better::Lower, 2, "time", |_, time| time)),
        ("count_by_size", column(Unit::Count, Better::None, 1, "count", |size, _| size as f64 / 4.0)),
        ("wrong_by_size", column(Unit::Count, Better::Lower, 5, "wrong", |_, _| 0.0)),
    ];
    record.series = columns.map(|(name, series)| (name.to_owned(), series)).into();
    let along = |name: &str, count: u64| {
        let row = |at: u64| SeriesRow {
            at: [(name.to_owned(), Value::Count(at))].into_iter().collect(),
            summary: fixture::summary(25_400.0, 0.4),
        };
        let series = fixture::series(vec![(name, Unit::Count)], (0..count).map(row).collect());
        SeriesRecord { unit: Unit::Microsecond, better: Better::Lower, ..series }
    };
    record.series.insert("by_rank".to_owned(), along("rank", ranks));
    record.series.insert("by_iteration".to_owned(), along("iteration", 20));
    fixture::document(&["n1"], vec![record])
}

fn text(content: Content<'_>, ranks: u64, columns: u16) -> String {
    let context = TerminalContext { content, ..TerminalContext::default() };
    render(&all_reduce(ranks), &context, TextStyle::new(Style::Plain, Some(columns)))
}

#[test]
fn the_screen_has_a_row_for_each_size_with_its_interval_and_its_share_of_the_limit() {
    for (ranks, columns) in [(8, 80), (8, 100), (128, 80)] {
        let screen = text(Content::Screen, ranks, columns);
        assert!(screen.lines().count() <= 40, "{} lines", screen.lines().count());
        let largest = screen.lines().find(|line| line.contains("8 GiB") && line.contains("25400.00"));
        let largest = largest.unwrap_or_else(|| panic!("{columns}: {screen}"));
        for cell in ["fp32", "2147483648", "338.19", "±0.4%", "71%", " 0"] {
            assert!(largest.contains(cell), "{columns}: {cell} in {largest}");
        }
        // Further series are shown where there is room.
        assert_eq!(screen.contains("by_rank"), ranks == 8, "{screen}");
    }
    golden!("all_reduce_by_size", text(Content::Screen, 8, 80));
    let details = text(Content::Details, 128, 80);
    assert!(details.contains("by_iteration") && details.contains("by_rank"), "{details}");
    assert!(!details.contains("curve ·"), "its column has it: {details}");
}

#[test]
fn a_series_over_a_long_time_is_shown_at_a_few_times_and_one_over_ranks_is_whole() {
    let over_time = |count: u64, step: f64| {
        let row = |at: u64| SeriesRow {
            at: [("time".to_owned(), Value::Number(at as f64 * step))].into_iter().collect(),
            summary: fixture::summary(10.0, 0.4),
        };
        fixture::series(vec![("time", Unit::Second)], (0..count).map(row).collect())
    };
    let mut document =
        fixture::document(&["n1", "n2"], ["n1", "n2"].map(|node| fixture::case(node, "copy", "nt")).into());
    // Of copies that took 20 s and 57 s.
    for (case, series) in document.results.iter_mut().zip([over_time(200, 0.1), over_time(190, 0.3)]) {
        case.series = [("by_time".to_owned(), series)].into();
    }
    let context = TerminalContext { content: Content::Details, ..TerminalContext::default() };
    let details = render(&document, &context, TextStyle::new(Style::Plain, Some(100)));
    let of_time = &details[details.find("by_time").expect("the series")..];
    assert!(of_time.contains("one in 10 of 190 times; all are in the CSV and JSON forms"), "{details}");
    assert!(of_time.contains("   54\n"), "{details}");
    assert!(of_time.lines().count() < 20, "{details}");
}
