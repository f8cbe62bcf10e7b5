//! The first screen of four records: a laptop, a node with two GPUs, a fleet with three bad nodes, a virtual machine.

use std::path::Path;

use seatrial_model::record::Document;
use seatrial_model::{Actor, Cause, Finding, Remedy, Severity, Subject, Verdict, VerdictRecord};
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
fn the_first_lines_say_whether_the_machine_is_accepted_what_is_worst_and_who_does_what_first() {
    for (document, verdict, worst, first) in [
        (fixture::host(), "✗ FAIL  not accepted", "memory-triad is 45.9", "do (user)"),
        (
            fixture::two_gpus(),
            "✗ FAIL  not accepted",
            "gpu-host-to-device on GPU 1",
            "do (administrator, as root)",
        ),
        (
            fixture::fleet_with_three_bad_nodes(),
            "✗ FAIL  not accepted: n[13,41] fail (memory), n57 was not reached\n61 of 64 nodes may be used",
            "n[13,41]: memory-read is 144",
            "do (user, for n[13,41])",
        ),
        (
            fixture::virtual_machine(),
            "? UNKNOWN  not decided",
            "memory-read, memory-copy",
            "do (user): ask the provider",
        ),
    ] {
        let text = screen(&document, 80, 60);
        let head = &text[..text.find("\n verdict").expect("a table")];
        let places = [verdict, "\nTo act on\n", worst, first].map(|part| head.find(part));
        assert!(places.iter().all(Option::is_some) && places.is_sorted(), "{places:?}: {head}");
    }
}

#[test]
fn a_row_shows_the_number_that_fails_although_the_headline_passes() {
    let mut document = fixture::two_gpus();
    for record in document.verdicts.iter_mut().filter(|record| record.subject.as_str() == "gpu:1") {
        record.verdict = if record.criterion == "gpu-device-to-host" { Verdict::Fail } else { Verdict::Pass };
    }
    let text = screen(&document, 80, 40);
    let row = text.lines().find(|line| line.contains("✗ fail") && line.contains("GPU 1  ")).expect("a row");
    assert!(row.contains("gpu.host_copy d2h") && row.contains("27.9 GB/s"), "{row}");
}

#[test]
fn many_devices_of_a_kind_have_one_row_that_names_the_worst() {
    let text = screen(&fixture::gpus(16), 100, 40);
    let rows: Vec<&str> = text.lines().filter(|line| line.contains("GPUs, worst ")).collect();
    assert_eq!(rows.len(), 2, "{text}");
    assert!(
        rows[0].contains("✗ fail") && rows[0].contains("GPUs, worst GPU 1  gpu.host_copy h2d"),
        "{rows:?}"
    );
    assert!(!text.contains("more rows"), "{text}");
}

#[test]
fn what_to_do_is_never_cut() {
    let mut document = fixture::host();
    let action = "replace every part of the chain from the first to the last, as the vendor describes it in the \
                  manual, and measure again";
    for number in 0..9 {
        let text = format!("part {number} {}", "is slower than it should be, ".repeat(20));
        let finding = Finding::new("slow-part", Severity::Problem, Subject::node(), text);
        document.findings.push(finding.with_remedy(Remedy::new(Actor::Vendor, action)));
    }
    let text = screen(&document, 80, 40);
    let words: Vec<&str> = text.split_whitespace().collect();
    let told = words.join(" ");
    assert!(told.matches("do (vendor):").count() > 0, "{text}");
    assert_eq!(told.matches("do (vendor):").count(), told.matches(action).count(), "{text}");
}

#[test]
fn the_next_step_in_the_reason_of_a_refused_case_is_not_cut() {
    let reason = "worker 0 on n1: sched_setscheduler to fifo:7: Operation not permitted (os error 1); it takes a limit on \
                  real-time priorities that allows it (`ulimit -r`, `rtprio` in limits.conf) or the capability \
                  CAP_SYS_NICE, and a control group that may run real-time threads; or measure with -p sched=other";
    let mut document = fixture::host();
    let refused = fixture::without_numbers("n1", "add", Cause::Denied, reason);
    document.verdicts.push(fixture::judged(&refused, Verdict::Unknown, 55.0, Some(reason)));
    document.results.push(refused);
    let text = screen(&document, 80, 40);
    let told = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(told.contains("or measure with -p sched=other."), "{text}");
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

#[test]
fn the_value_of_a_setting_stands_in_the_column_of_what_was_measured() {
    let mut document = fixture::accepted();
    let governor = VerdictRecord {
        criterion: "cpu.governor".to_owned(),
        present: Some("powersave".to_owned()),
        measured: None,
        verdict: Verdict::Fail,
        ..document.verdicts.last().expect("a verdict on a setting").clone()
    };
    document.verdicts.push(governor);
    let text = screen(&document, 100, 60);
    let row = text.lines().find(|line| line.contains("cpu.governor ") && line.contains("= 9000"));
    assert!(row.is_some_and(|row| row.contains("powersave")), "{text}");
}
