//! The text of a terminal with all tables.

use std::path::Path;

use seatrial_model::record::Document;
use seatrial_model::{Cause, Finding, Outcome, Severity, Subject, Verdict};
use seatrial_report::terminal::{Content, TerminalContext, render};
use seatrial_report::{Style, TextStyle};

use super::{fixture, golden};

const DETAILS: TerminalContext<'_> =
    TerminalContext { folder: None, abouts: &[], next: &[], content: Content::Details };

fn plain(document: &Document) -> String {
    let context = TerminalContext {
        folder: Some(Path::new("/home/ada/.local/share/seatrial/runs/20260921-083015-bcdf")),
        ..DETAILS
    };
    let text = render(document, &context, TextStyle::default());
    let is_copied =
        |line: &str| ["kept in", "seatrial run", "seatrial check"].iter().any(|word| line.contains(word));
    for line in text.lines().filter(|line| !is_copied(line)) {
        assert!(line.chars().count() <= 80, "{} columns: {line}", line.chars().count());
        assert_eq!(line, line.trim_end());
    }
    text
}

#[test]
fn check_of_one_machine() {
    golden!("check_of_one_machine", plain(&fixture::host()));
}

#[test]
fn check_in_which_nothing_could_be_judged() {
    golden!("check_in_which_nothing_could_be_judged", plain(&fixture::virtual_machine()));
}

#[test]
fn check_of_a_fleet() {
    golden!("check_of_a_fleet", plain(&fixture::fleet()));
}

#[test]
fn check_of_a_fleet_that_passes() {
    golden!("check_of_a_fleet_that_passes", plain(&fixture::fleet_of(64, |_| Verdict::Pass)));
}

#[test]
fn check_of_a_thousand_nodes() {
    let document = fixture::fleet_of(1000, |number| match number {
        _ if number % 23 == 0 => Verdict::Fail,
        _ if number % 97 == 0 => Verdict::Unknown,
        _ => Verdict::Pass,
    });
    let text = plain(&document);
    assert!(text.lines().count() <= 100, "{} lines:\n{text}", text.lines().count());
    golden!("check_of_a_thousand_nodes", text);
}

#[test]
fn run_in_which_a_partner_was_lost() {
    golden!("run_in_which_a_partner_was_lost", plain(&fixture::lost_partner()));
}

#[test]
fn a_case_that_the_end_of_a_job_interrupted_counts_for_each_of_its_nodes() {
    let mut document = fixture::lost_partner();
    document.findings.clear();
    let lost = &mut document.results[0];
    (lost.outcome, lost.cause) = (Outcome::Unmeasured, Some(Cause::Interrupted));
    let text = plain(&document);
    let table = &text[text.find(" outcome").expect("the table of nodes")..];
    let row = |node: &str| table.lines().find(|line| line.contains(&format!(" {node} "))).unwrap_or(table);
    for (node, measured) in [("n1", "1 of 2"), ("n2", "0 of 1")] {
        assert!(row(node).contains(measured), "{node}: {text}");
    }
}

#[test]
fn a_check_of_a_few_nodes_has_a_row_each() {
    let document = fixture::fleet_of(3, |number| if number == 2 { Verdict::Fail } else { Verdict::Pass });
    golden!("check_of_three_nodes", plain(&document));
}

#[test]
fn run_of_one_case() {
    let limit = fixture::limit(307.2);
    golden!(
        "run_of_one_case",
        plain(&fixture::document(&["n1"], vec![fixture::measured("n1", "triad", "nt", 218.9, &limit)]))
    );
}

#[test]
fn run_with_every_way_to_end() {
    golden!("run_with_every_way_to_end", plain(&fixture::mixed()));
}

#[test]
fn run_of_the_matrix_of_nodes() {
    golden!("run_of_the_matrix_of_nodes", plain(&fixture::matrix()));
}

#[test]
fn run_in_which_nothing_was_measured() {
    let mut document = fixture::document(&[], Vec::new());
    document.run.ended = None;
    golden!("run_in_which_nothing_was_measured", plain(&document));
}

#[test]
fn colour_changes_nothing_but_colour() {
    for document in [fixture::host(), fixture::fleet(), fixture::mixed()] {
        let coloured = render(&document, &DETAILS, TextStyle::new(Style::Coloured, None));
        let plain = render(&document, &DETAILS, TextStyle::default());
        assert!(coloured.contains("\u{1b}[") && !plain.contains('\u{1b}'));
        assert_eq!(without_escapes(&coloured), plain);
    }
}

/// Removes text from ESC to `m`.
fn without_escapes(text: &str) -> String {
    let mut pieces = text.split('\u{1b}');
    let first = pieces.next().unwrap_or_default().to_owned();
    pieces.fold(first, |text, piece| text + piece.split_once('m').map_or("", |(_, rest)| rest))
}

#[test]
fn a_wider_terminal_takes_all_metrics_side_by_side() {
    let text = render(&fixture::host(), &DETAILS, TextStyle::new(Style::Plain, Some(140)));
    let head = text.lines().find(|line| line.contains("bandwidth_all")).unwrap();
    assert!(head.contains("traffic") && head.contains("verdict"), "{head}");
}

#[test]
fn a_record_cannot_steer_the_terminal() {
    let mut document = fixture::mixed();
    document.results[1].reason = Some("\u{1b}]0;owned\u{7}\u{1b}[2J".to_owned());
    document.findings.push(Finding::new(
        "\u{1b}[31m",
        Severity::Info,
        Subject::device("nic", "\u{1b}[2K"),
        "a\u{8}b",
    ));
    document.run.nodes = vec!["\u{9b}31m".to_owned()];
    let text = render(&document, &DETAILS, TextStyle::default());
    assert!(text.chars().all(|c| c == '\n' || !c.is_control()), "{text:?}");
}

#[test]
fn the_command_that_repeats_a_row_is_ready_to_paste() {
    let mut document = fixture::host();
    document.run.nodes = vec!["n1".to_owned(), "n2".to_owned()];
    let text = render(&document, &DETAILS, TextStyle::default());
    assert!(text.contains("seatrial run mem.bandwidth -p kernel=triad -p store=nt -w n1\n"), "{text}");
}

#[test]
fn every_waiver_is_shown_even_where_passes_are_counted_only() {
    let mut document = fixture::fleet();
    let passed = document.verdicts.iter().position(|record| record.verdict == Verdict::Pass).unwrap();
    document.verdicts[passed].waiver =
        Some("waived by ada until 2026-12-31: new DIMMs are ordered".to_owned());
    let text = render(&document, &DETAILS, TextStyle::default());
    assert!(text.contains("waived by ada until 2026-12-31"), "{text}");
}

#[test]
fn a_failed_case_is_offered_for_another_try() {
    let record = fixture::without_numbers("n1", "scale", Cause::Hang, "no answer for 30 s");
    let text = render(&fixture::document(&["n1"], vec![record]), &DETAILS, TextStyle::default());
    assert!(text.contains("-p kernel=scale -p store=nt\n"), "{text}");
}

#[test]
fn the_limit_beside_a_metric_is_its_own() {
    let document = fixture::shaped();
    let text = plain(&document);
    let head = text
        .lines()
        .find(|line| line.contains("throughput  limit  of it"))
        .unwrap_or_else(|| panic!("{text}"));
    assert!(head.find("throughput") < head.find("slowest"), "{text}");
    let row = text.lines().find(|line| line.contains("n3->n4")).unwrap_or_else(|| panic!("{text}"));
    assert!(row.contains("78%") && !row.contains("63%"), "{text}");
    assert!(text.contains("limit of throughput: 200 Mbit/s"), "{text}");
}

#[test]
fn what_is_met_has_a_line_a_criterion_with_bound_place_value_and_margin() {
    let text = plain(&fixture::accepted());
    let line = |criterion: &str| {
        let line = text.lines().find(|line| line.contains(criterion)).unwrap_or_else(|| panic!("{text}"));
        line.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    assert_eq!(line("memory-copy"), "✓ pass memory-copy 4 of 4 n2 200 GB/s ±0.4% ≥ 169 GB/s +18%");
    assert_eq!(line("nic.mtu"), "✓ pass nic.mtu 4 of 4 all 9000 = 9000");
    assert!(!text.contains(" more"), "{text}");
}

#[test]
fn a_node_with_a_problem_comes_first_and_the_first_line_says_so() {
    let text = plain(&fixture::with_slow_node());
    assert!(text.starts_with("n3: slow node; 4 cases measured\n"), "{text}");
    let nodes: Vec<&str> =
        text.lines().skip_while(|line| !line.starts_with(" outcome")).skip(2).take(2).collect();
    assert!(nodes[0].starts_with(" ✗ problem     n3") && nodes[1].starts_with(" – no problem  n1"), "{text}");
}
