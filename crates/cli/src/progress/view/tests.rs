//! The view on terminals of several widths, at fixed times.

use seatrial_model::record::CaseRecord;
use seatrial_model::{About, Budget, Case, Cause, Event, Nanos, Params, Reason, Subject};

use super::*;

fn case(number: usize, node: &str, bench: &str, seconds: u64) -> Case {
    let Ok(id) = format!("{bench}@{node}/node[repeat={number}]").parse();
    let budget = Budget {
        trials: 1,
        max_trials: 3,
        measure: Nanos::secs(seconds),
        prepare: Nanos::secs(1),
        precision_percent: 2.0,
        ..Budget::NOTHING
    };
    let case = Case::new(&About::WORKER, node, Subject::node(), &Params::default(), budget);
    Case { id, bench: bench.to_owned(), group: bench.to_owned(), ..case }
}

fn note(live: &mut Live, event: &Event, now: u64) {
    live.note(event, Duration::from_secs(now), |_| "12.3 GB/s ±1.0 %".to_owned());
}

fn planned(cases: &[Case]) -> Live {
    let mut live = Live::default();
    note(&mut live, &Event::RoundPlanned { cases: cases.to_vec(), estimate: Nanos(0) }, 0);
    live
}

fn start(live: &mut Live, case: &Case, now: u64) {
    note(live, &Event::CaseStarted { case: case.id.clone() }, now);
    note(live, &Event::PhaseEntered { case: case.id.clone(), trial: 0, phase: Phase::Measure }, now);
}

fn finish(live: &mut Live, case: &Case, cause: Option<Cause>, now: u64) {
    let record = match cause {
        None => CaseRecord::measured(case),
        Some(cause) => CaseRecord::without_numbers(case, &Reason::new(cause, "because it is a test")),
    };
    note(live, &Event::CaseEnded { record: Box::new(record) }, now);
}

fn shown(live: &Live, now: u64, width: usize) -> Vec<String> {
    let room = Room { width, height: 24, colored: false };
    let lines = lines(live, Duration::from_secs(now), room);
    for line in &lines {
        assert!(line.chars().count() <= width, "{} columns: {line}", line.chars().count());
    }
    lines
}

#[test]
fn a_few_cases_have_a_line_each_with_a_bar_and_the_time_left() {
    let cases =
        [case(1, "n1", "storage.file", 20), case(2, "n2", "mem.bandwidth", 10), case(3, "n3", "net.rr", 10)];
    let mut live = planned(&cases);
    start(&mut live, &cases[0], 0);
    start(&mut live, &cases[1], 0);
    finish(&mut live, &cases[1], None, 10);
    start(&mut live, &cases[2], 10);
    assert_eq!(
        shown(&live, 15, 80),
        [
            "━━━━━━━━──────────────── 1/3 · 1 measured · about 30 s left",
            "net.rr@n3/node[repeat=3]                trial 1/1 measuring ━━━━────        5 s",
            "storage.file@n1/node[repeat=1]          trial 1/1 measuring ━━━━━━──        5 s",
            "done  mem.bandwidth@n2/node[repeat=2]  12.3 GB/s ±1.0 %",
        ]
    );
    // A case beyond its estimate shows by how much.
    assert!(shown(&live, 25, 80)[2].ends_with("━━━━━━━━       +5 s"), "{:?}", shown(&live, 25, 80));
}

#[test]
fn what_failed_stands_among_the_last_results_and_is_counted() {
    let cases: Vec<Case> = (0..4).map(|number| case(number, "n1", "mem.bandwidth", 1)).collect();
    let mut live = planned(&cases);
    let causes = [Some(Cause::Hang), Some(Cause::Denied), Some(Cause::Inapplicable), None];
    for (case, cause) in cases.iter().zip(causes) {
        start(&mut live, case, 0);
        finish(&mut live, case, cause, 1);
    }
    let lines = shown(&live, 4, 80);
    assert!(lines[0].contains("4/4 · 1 measured · 1 failed · 1 unmeasured · 1 skipped"), "{lines:?}");
    let words: Vec<&str> = lines[1..].iter().map(|line| &line[..4]).collect();
    assert_eq!(words, ["done", "skip", "none"], "the newest first, three of them");
}

/// A thousand nodes: some done, one hung, the others measuring or waiting.
fn fleet() -> Live {
    let cases: Vec<Case> =
        (1..=1000).map(|number| case(number, &format!("n{number:04}"), "net.rr", 30)).collect();
    let mut live = planned(&cases);
    cases.iter().take(700).for_each(|case| start(&mut live, case, 0));
    for case in &cases[100..400] {
        finish(&mut live, case, (case.nodes[0] == "n0333").then_some(Cause::Crash), 40);
    }
    for case in &cases[400..699] {
        note(&mut live, &Event::PhaseEntered { case: case.id.clone(), trial: 1, phase: Phase::Verify }, 41);
    }
    live
}

#[test]
fn a_thousand_nodes_fit_on_a_board_of_eighty_columns() {
    let live = fleet();
    let lines = shown(&live, 50, 80);
    assert_eq!(lines[0].split(" · ").next(), Some("━━━━━━━───────────────── 300/1000"));
    assert_eq!(
        lines[1..],
        [
            "running  400 · 300 waiting · 101 measuring · 299 verifies",
            "on       n[0001-0100,0401-0700]",
            "measuring 400 net.rr",
            "slowest  net.rr@n0001/node[repeat=1]  measuring for 50 s, 20 s late",
            "slowest  net.rr@n0002/node[repeat=2]  measuring for 50 s, 20 s late",
            "slowest  net.rr@n0003/node[repeat=3]  measuring for 50 s, 20 s late",
            "done  net.rr@n0400/node[repeat=400]  12.3 GB/s ±1.0 %",
            "done  net.rr@n0399/node[repeat=399]  12.3 GB/s ±1.0 %",
            "done  net.rr@n0398/node[repeat=398]  12.3 GB/s ±1.0 %",
        ]
    );
    assert!(lines[0].contains("299 measured · 1 failed"), "{}", lines[0]);
}

#[test]
fn no_line_is_wider_than_the_terminal_and_no_view_higher_however_small_it_is() {
    let long = "a-node-with-a-name-that-somebody-thought-to-be-a-good-idea-at-the-time.example.org";
    let cases = [case(1, long, "storage.file", 20), case(2, &long.repeat(3), "net.rr", 10)];
    let mut few = planned(&cases);
    start(&mut few, &cases[0], 0);
    finish(&mut few, &cases[1], Some(Cause::Hang), 1);
    for width in 0..200 {
        for live in [&few, &fleet()] {
            let lines = shown(live, 3000, width);
            assert!(!lines.is_empty());
        }
    }
    for height in 0..8 {
        let lines = lines(&fleet(), Duration::ZERO, Room { width: 80, height, colored: true });
        assert!(lines.len() <= height.saturating_sub(1).max(1), "{height}: {lines:?}");
    }
    assert_eq!(
        lines(&Live::default(), Duration::ZERO, Room { width: 80, height: 24, colored: true }),
        [""; 0]
    );
}

#[test]
fn a_name_cannot_move_the_cursor_and_colour_is_asked_for() {
    let evil = case(1, "n1\u{1b}[2J\r\n", "net.rr", 10);
    let mut live = planned(std::slice::from_ref(&evil));
    start(&mut live, &evil, 0);
    let text = shown(&live, 1, 80).join("");
    assert!(!text.contains('\u{1b}') && !text.contains('\n'), "{text:?}");
    let colored = lines(&live, Duration::ZERO, Room { width: 80, height: 24, colored: true }).join("");
    assert!(!colored.contains("\u{1b}[2J"), "{colored:?}");
    finish(&mut live, &evil, Some(Cause::Hang), 1);
    let colored = lines(&live, Duration::ZERO, Room { width: 80, height: 24, colored: true }).join("");
    assert!(colored.contains("\u{1b}[31mFAIL\u{1b}[0m"), "{colored:?}");
}

#[test]
fn times_are_said_as_people_say_them() {
    let said = |seconds| span(Duration::from_secs(seconds));
    assert_eq!([said(0), said(59), said(200), said(7500)], ["0 s", "59 s", "3 min 20 s", "2 h 5 min"]);
}
