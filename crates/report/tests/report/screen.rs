//! The first screen of four records: a laptop, a node with two GPUs, a fleet with three bad nodes, a virtual machine.

use std::path::Path;

use seatrial_model::record::Document;
use seatrial_report::terminal::{TerminalContext, render};
use seatrial_report::{Style, TextStyle};

use super::{fixture, golden};

/// The screen in `columns`, at most `lines` long.
#[track_caller]
fn screen(document: &Document, columns: u16, lines: usize) -> String {
    let folder = Path::new("/home/ada/.local/share/seatrial/runs/20260921-083015-bcdf");
    let abouts = fixture::abouts();
    let context = TerminalContext { folder: Some(folder), abouts: &abouts, ..TerminalContext::default() };
    let text = render(document, &context, TextStyle::new(Style::Plain, Some(columns)));
    assert!(text.lines().count() <= lines, "{} lines:\n{text}", text.lines().count());
    // Commands and paths are for copying.
    for line in text.lines().filter(|line| !line.contains("seatrial ") && !line.contains("page: ")) {
        assert!(line.chars().count() <= usize::from(columns), "{} columns: {line}", line.chars().count());
    }
    text
}

fn both(document: &Document, lines: usize) -> String {
    screen(document, 80, lines);
    screen(document, 100, lines)
}

#[test]
fn a_laptop() {
    golden!("screen_of_a_laptop", both(&fixture::host(), 40));
}

#[test]
fn a_virtual_machine() {
    golden!("screen_of_a_virtual_machine", both(&fixture::virtual_machine(), 40));
}

#[test]
fn a_node_with_two_gpus() {
    golden!("screen_of_two_gpus", both(&fixture::two_gpus(), 40));
}

#[test]
fn a_fleet_with_three_bad_nodes() {
    golden!("screen_of_a_fleet", both(&fixture::fleet_with_three_bad_nodes(), 60));
}
