//! Runs side by side.

use seatrial_analysis::{Change, Changed, Comparison, Difference, Ended, Side};
use seatrial_model::{Better, Subject, Unit};
use seatrial_report::compare::{CompareContent, Compared};
use seatrial_report::{Style, TextStyle};
use seatrial_stats::Verdict;

use super::fixture::params;
use super::golden;

const NAMES: [&str; 2] = ["bcdf", "ghjk"];

/// The sides `names`, each but the first with one of `comparisons`.
fn with<T>(names: &[&str], comparisons: &[Comparison], of: impl FnOnce(&Compared<'_>) -> T) -> T {
    let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
    of(&Compared { names: &names, legend: &names, comparisons, curves: &[], per_price: &[], price_unit: "" })
}

fn render(names: [&str; 2], comparison: &Comparison, style: TextStyle) -> String {
    with(&names, std::slice::from_ref(comparison), |compared| {
        seatrial_report::compare::render(compared, CompareContent::Details, style)
    })
}

fn row(kernel: &str, before: f64, after: Option<f64>, change: Result<(Verdict, f64), &str>) -> Difference {
    let side = |value: Option<f64>| Side {
        case: format!("mem.bandwidth@n1/node[kernel={kernel}]"),
        nodes: vec!["n1".to_owned()],
        value,
    };
    let percent = after.map_or(0.0, |after| 100.0 * (after / before - 1.0));
    Difference {
        bench: "mem.bandwidth".to_owned(),
        subject: Subject::node(),
        params: params(&[("kernel", kernel), ("store", "nt")]),
        metric: "bandwidth".to_owned(),
        is_headline: true,
        unit: Unit::GigabytesPerSecond,
        better: Better::Higher,
        a: side(Some(before)),
        b: side(after),
        change: change.map_err(str::to_owned).map(|(verdict, half)| Change {
            verdict,
            p: Some(0.01),
            may_be_chance: false,
            percent: Some(percent),
            interval: Some((percent - half, percent + half)),
            smallest_percent: Some(half * 1.3),
            is_zero_split: false,
        }),
    }
}

fn comparison() -> Comparison {
    let mut latency = row("", 812.0, Some(655.0), Ok((Verdict::Better, 1.2)));
    (latency.bench, latency.metric) = ("net.tcp_rr".to_owned(), "latency".to_owned());
    (latency.unit, latency.better) = (Unit::Microsecond, Better::Lower);
    Comparison {
        differences: vec![
            row("copy", 214.2, Some(214.5), Ok((Verdict::Same, 0.3))),
            row("triad", 218.9, Some(131.9), Ok((Verdict::Worse, 0.8))),
            row("scale", 217.1, Some(214.9), Ok((Verdict::CannotTell, 1.9))),
            row("add", 219.4, None, Err("the second run has no numbers: stopped by SIGINT")),
            latency,
        ],
        only_a: vec!["mem.bandwidth@n1/node[kernel=read]".to_owned()],
        only_b: (0..9).map(|number| format!("toy.echo@n{number}/node[]")).collect(),
        same_within: Some(0.01),
        ..Comparison::default()
    }
}

#[test]
fn several_metrics_are_one_table_of_what_matters_first() {
    let mut comparison = comparison();
    let mut second = row("read", 3.0, Some(1.5), Ok((Verdict::CannotTell, 80.0)));
    (second.metric, second.is_headline) = ("one_core".to_owned(), false);
    comparison.differences.push(second.clone());
    second.change = row("", 3.0, Some(1.5), Ok((Verdict::Worse, 2.0))).change;
    second.metric = "slowest_core".to_owned();
    comparison.differences.push(second);
    let text = with(&NAMES, std::slice::from_ref(&comparison), |compared| {
        seatrial_report::compare::render(compared, CompareContent::Summary, TextStyle::default())
    });
    golden!("summary_of_two_runs", text);
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
}

#[test]
fn runs_with_long_names_leave_room_for_what_it_comes_to() {
    let names = ["20260921-083015-bcdf", "20260922-114502-ghjk"];
    let text = render(names, &comparison(), TextStyle::default());
    assert!(text.lines().skip(1).all(|line| line.chars().count() <= 80), "{text}");
    for whole in ["▼ worse", "▲ better", "? cannot tell", "? not comparable"] {
        assert!(text.contains(whole), "no '{whole}' in one line of\n{text}");
    }
}

#[test]
fn two_runs() {
    let text = render(NAMES, &comparison(), TextStyle::default());
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    golden!("two_runs", text);
}

#[test]
fn worse_is_told_by_word_and_sign_not_by_colour_alone() {
    let text = render(NAMES, &comparison(), TextStyle::new(Style::Coloured, None));
    assert!(text.contains("▼ worse") && text.contains("▲ better"), "{text}");
}

#[test]
fn runs_without_a_common_case_say_so() {
    let text = render(NAMES, &Comparison::default(), TextStyle::default());
    assert_eq!(text, "nothing to compare: bcdf and ghjk have no measured case in common\n");
}

#[test]
fn two_runs_of_a_cluster_on_which_something_else_changed() {
    let mut comparison = comparison();
    comparison.broken =
        vec![Ended { case: "mem.bandwidth@n2/node".to_owned(), reason: "the worker hung".to_owned() }];
    comparison.changed = vec![Changed {
        what: "nic.mtu of nic:eth0".to_owned(),
        before: "1500".to_owned(),
        after: "9000".to_owned(),
        nodes: vec!["n1".to_owned(), "n2".to_owned()],
    }];
    if let Ok(change) = &mut comparison.differences[1].change {
        (change.verdict, change.may_be_chance) = (Verdict::CannotTell, true);
    }
    let text = render(NAMES, &comparison, TextStyle::default());
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    for told in
        ["fails now", "the worker hung", "nic.mtu of nic:eth0", "n[1-2]", "come by chance", "within 1.0%"]
    {
        let flat = text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(flat.contains(told), "no '{told}' in\n{text}");
    }
}
