//! Cases that differ in one parameter: their series over many sizes beside each other, with differences.

use seatrial_model::record::{CaseRecord, Document, SeriesRecord, SeriesRow};
use seatrial_model::{Better, Bytes, Unit, Value};
use seatrial_report::terminal::{Content, TerminalContext, render};
use seatrial_report::{Style, TextStyle};

use super::fixture;

/// The powers of two from 1 B to 16 MiB, and three times each.
fn sizes() -> impl Iterator<Item = u64> {
    (0..=24).flat_map(|power| [1 << power, 3 << power])
}

fn series(unit: Unit, better: Better, of: impl Fn(u64) -> f64) -> SeriesRecord {
    let row = |size: u64| SeriesRow {
        at: [("size".to_owned(), Value::from(Bytes(size)))].into_iter().collect(),
        summary: fixture::summary(of(size), 0.4),
    };
    let rows = sizes().map(row).collect();
    SeriesRecord { unit, better, rows, ..fixture::series(vec![("size", Unit::Byte)], Vec::new()) }
}

/// A message over `transport`: so many microseconds, and a nanosecond for each byte.
fn case(transport: &str, latency: f64) -> CaseRecord {
    let mut record = CaseRecord {
        bench: "net.pingpong".to_owned(),
        group: "net.pingpong".to_owned(),
        ..fixture::case("n1", "", "")
    };
    record.case = format!("net.pingpong@n1+n2/n1->n2[transport={transport}]").parse().expect("an id");
    record.nodes = vec!["n1".to_owned(), "n2".to_owned()];
    record.params = [("transport".to_owned(), Value::from(transport))].into_iter().collect();
    record.chosen = Default::default();
    let us = move |size: u64| latency + size as f64 / 1e3;
    record.series = [
        ("time_by_size".to_owned(), series(Unit::Microsecond, Better::Lower, us)),
        (
            "by_size".to_owned(),
            series(Unit::GigabitsPerSecond, Better::Higher, move |size| 8e-3 * size as f64 / us(size)),
        ),
    ]
    .into();
    record
}

fn details(cases: Vec<CaseRecord>, columns: u16) -> String {
    let document: Document = fixture::document(&["n1", "n2"], cases);
    let context = TerminalContext { content: Content::Details, ..TerminalContext::default() };
    render(&document, &context, TextStyle::new(Style::Plain, Some(columns)))
}

#[test]
fn transports_stand_side_by_side_with_the_cost_of_each_over_the_one_before() {
    let text = details(vec![case("tcp", 20.0), case("verbs", 2.0), case("mpi", 2.5)], 140);
    assert!(text.contains("time_by_size and by_size by transport"), "{text}");
    let row = |size: &str| {
        let is_it = |line: &&str| line.trim_start().starts_with(size);
        let line = text.lines().find(is_it).unwrap_or_else(|| panic!("{size} in {text}"));
        line.trim_start()[size.len()..].split_whitespace().map(str::to_owned).collect::<Vec<_>>()
    };
    let small = row("1 B ");
    assert_eq!(&small[..5], ["20.00", "2.00", "-18.00", "2.50", "+0.50"], "{text}");
    assert_eq!(&small[5..], ["0.0004", "0.0040", "10.0x", "0.0032", "-20%"], "{text}");
    let large = row("16 MiB ");
    assert_eq!(&large[..5], ["16797.22", "16779.22", "-18.00", "16779.72", "+0.50"], "{text}");
    assert!(text.contains("13 of 50 places; all are in the CSV and JSON forms"), "{text}");
    assert_eq!(text.matches("16 MiB").count(), 1, "no second table has them: {text}");
}

#[test]
fn a_narrow_terminal_has_the_sizes_beside_every_column_and_one_case_or_two_parameters_have_no_such_table() {
    let text = details(vec![case("tcp", 20.0), case("verbs", 2.0), case("mpi", 2.5)], 80);
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    assert_eq!(text.lines().filter(|line| line.trim_start().starts_with("4 KiB ")).count(), 2, "{text}");
    assert!(!details(vec![case("tcp", 20.0)], 100).contains("by transport"));
    let mut other = case("mpi", 2.5);
    other.params.set("buffers", "different");
    assert!(!details(vec![case("tcp", 20.0), other], 100).contains("by transport"));
}
