//! The content of a comparison page, without a browser.

use super::compared::{baseline, candidate, hostile, page, page_of};
use super::page::between;
use super::scripted;

/// The rows of the first table of differences.
fn rows(page: &str) -> Vec<&str> {
    let table = between(page, "<caption>The worst first", "</table>");
    table.split("<tr").skip(2).collect()
}

#[test]
fn the_worst_stands_first_and_every_difference_has_its_picture() {
    let page = page();
    let rows = rows(&page);
    let called = |row: &&str| {
        ["worse", "cannot tell", "same", "better", "not comparable"]
            .into_iter()
            .find(|word| row.contains(&format!("</b> {word}</span>")))
            .expect("a word")
    };
    let calls: Vec<&str> = rows.iter().map(called).collect();
    let expected = ["worse", "cannot tell", "same", "same", "better", "not comparable", "not comparable"];
    assert_eq!(calls, expected);
    let drawn: Vec<usize> = rows.iter().map(|row| row.matches("class=\"gain\"").count()).collect();
    assert_eq!(drawn, [1, 1, 1, 1, 1, 0, 0]);
    for said in ["218.9", "131.9", "-40%", "var(--fail)", "mem.bandwidth"] {
        assert!(rows[0].contains(said), "no {said} in {}", rows[0]);
    }
    // A shorter round trip is drawn on the good side of the middle.
    assert!(rows[4].contains("-19%") && rows[4].contains("var(--pass)"), "{}", rows[4]);
    let (before, _) = rows[4].split_once(" 11.0a").expect("a dot");
    let x: f64 = before.rsplit('M').next().expect("its place").parse().expect("a number");
    assert!(x > 150.0, "{}", rows[4]);
    assert!(page.contains("a change below"), "the smallest difference is not told");
    assert!(
        between(&page, "<h1>", "</h1>").contains("1 worse, 1 better, 2 the same, 1 cannot be told apart")
    );
}

#[test]
fn what_ended_otherwise_and_what_changed_stand_beside_the_numbers() {
    let page = page();
    let ended = between(&page, "<h3>Cases that ended otherwise</h3>", "</ol>");
    assert!(ended.contains("fails now") && ended.contains("nothing moved for 20 s"), "{ended}");
    let changed = between(&page, "<h3 id=\"compared-1-changed\">", "</table>");
    for said in ["cpu.governor", "powersave", "15 x 32 GiB", "n[1-3]"] {
        assert!(changed.contains(said), "no {said} in {changed}");
    }
    let only = between(&page, "<h3>In one run only</h3>", "</ul>");
    assert!(only.contains("kernel=add") && only.contains("kernel=read"), "{only}");
    assert!(page.contains("Welch&#39;s t test") || page.contains("Welch's t test"), "by which test");
    let runs = between(&page, "<caption>The runs</caption>", "</table>");
    assert!(runs.contains("the baseline") && runs.contains("2026-09-21 08:30 UTC"), "{runs}");
}

#[test]
fn each_of_several_runs_is_held_against_the_first() {
    let (first, other) = (baseline(), candidate());
    let page = page_of(&first, &[&first, &other]);
    assert_eq!(page.matches("<caption>The worst first").count(), 2);
    assert!(between(&page, "<h1>", "</h1>").contains("1 of 2 worse than 20260921-083015-bcdf"));
    let links: Vec<&str> =
        page.split("href=\"#").skip(1).filter_map(|piece| piece.split('"').next()).collect();
    for link in links {
        assert!(page.contains(&format!("id=\"{link}\"")), "{link} leads nowhere");
    }
}

#[test]
fn runs_without_a_common_case_are_a_page_that_says_so() {
    let empty = super::fixture::document(&["n1"], Vec::new());
    let page = page_of(&baseline(), &[&empty]);
    assert!(between(&page, "<h1>", "</h1>").contains("have no measured case in common"));
    assert!(!page.contains("<caption>The worst first"));
}

#[test]
fn names_from_outside_stay_text_when_they_are_compared() {
    let page = hostile();
    assert_eq!(page.matches("<script").count(), 1, "only our own script");
    assert_eq!(page.matches("<style").count(), 1, "only our own style");
    for tag in ["<img", "<svg onload", "<b>out"] {
        assert!(!page.contains(tag), "{tag}");
    }
    assert!(!page.contains('\u{202e}') && !page.contains('\u{0}'));
}

#[test]
fn two_runs_of_a_thousand_nodes_with_twenty_metrics_are_a_page_below_1_mb() {
    let (first, mut other) = (scripted::fleet(1000, 20), scripted::fleet(1000, 20));
    for case in other.results.iter_mut().skip(990) {
        for samples in case.metrics.values_mut().flat_map(|metric| metric.samples.iter_mut().flatten()) {
            samples.iter_mut().for_each(|value| *value *= 0.5);
        }
    }
    let page = page_of(&first, &[&other]);
    assert!(page.len() < 1_000_000, "{} bytes", page.len());
    let rows = rows(&page);
    assert_eq!(rows.len(), 500);
    // Ten nodes with twenty metrics each are half as fast, and come first.
    assert!(rows[..200].iter().all(|row| row.contains("-50%")), "{}", rows[0]);
    assert!(!rows[200].contains("-50%"), "{}", rows[200]);
    assert!(page.contains("19500 more rows in the JSON form"), "the others are not told of");
}
