//! A run in one line that a scheduler keeps as the reason of a drained node.

use seatrial_model::record::Document;
use seatrial_model::{About, Verdict};

use crate::view::actions::with_warnings;
use crate::view::headline::by_verdict;
use crate::words::{clean, cut};

/// Characters of the line at most.
pub const LONGEST_LINE: usize = 200;

/// The verdict and what speaks against a pass, the worst first: `fail: memory-read on memory: 38 GB/s
/// ...; 2 more`.
pub fn line(document: &Document, abouts: &[&'static About]) -> String {
    let word = word(document.verdict);
    let all = with_warnings(document, abouts);
    let wanted = |verdict: Verdict| all.iter().filter(move |action| action.badge.tone == verdict);
    let tone = match document.verdict {
        Some(Verdict::Fail) => Verdict::Fail,
        Some(Verdict::Warn) => Verdict::Warn,
        Some(Verdict::Pass) => return cut(&format!("{word}: {}", by_verdict(document)), LONGEST_LINE),
        Some(Verdict::Unknown | Verdict::Skip) | None => Verdict::Unknown,
    };
    let told: Vec<String> = wanted(tone).map(|action| clean(&action.what)).collect();
    let Some(first) = told.first() else {
        return cut(&format!("{word}: {}", by_verdict(document)), LONGEST_LINE);
    };
    let more = if told.len() > 1 { format!("; {} more", told.len() - 1) } else { String::new() };
    let room = LONGEST_LINE - more.chars().count();
    let first = first.split_whitespace().collect::<Vec<_>>().join(" ");
    let first = first.trim_end_matches('.');
    format!("{}{more}", cut(&format!("{word}: {first}"), room))
}

/// A warning is a pass with a remark.
const fn word(verdict: Option<Verdict>) -> &'static str {
    match verdict {
        Some(Verdict::Pass) => "pass",
        Some(Verdict::Warn) => "pass, with a warning",
        Some(Verdict::Fail) => "fail",
        Some(Verdict::Unknown | Verdict::Skip) | None => "unknown",
    }
}
