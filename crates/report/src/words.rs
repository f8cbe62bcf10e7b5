//! Words and signs that every view writes the same way.

use std::time::Duration;

use jiff::Timestamp;
use jiff::tz::TimeZone;
use seatrial_model::{Outcome, Severity, Verdict};

use crate::ink::{Ink, is_mark};

/// `text` of a record, safe for a terminal: control characters and invisible marks become blanks.
pub fn clean(text: &str) -> String {
    text.chars().map(|c| if c.is_control() || is_mark(c) { ' ' } else { c }).collect()
}

/// As `clean`, of a text that may have several lines.
pub fn clean_lines(text: &str) -> String {
    text.split('\n').map(clean).collect::<Vec<_>>().join("\n")
}

/// Sign and word, marked: the sign tells verdicts apart where colours are not seen, the word where signs are not known.
pub fn verdict(verdict: Verdict) -> String {
    ink(verdict).on(&format!("{} {verdict}", sign(verdict)))
}

/// The ink of a verdict.
pub fn ink(verdict: Verdict) -> Ink {
    match verdict {
        Verdict::Pass => Ink::Good,
        Verdict::Fail => Ink::Bad,
        Verdict::Warn | Verdict::Unknown => Ink::Doubt,
        Verdict::Skip => Ink::Faint,
    }
}

/// The sign of a verdict; each has a shape of its own.
pub fn sign(verdict: Verdict) -> char {
    match verdict {
        Verdict::Pass => '✓',
        Verdict::Warn => '!',
        Verdict::Fail => '✗',
        Verdict::Unknown => '?',
        Verdict::Skip => '–',
    }
}

/// Sign and word of how a case ended.
pub fn outcome(outcome: Outcome) -> String {
    match outcome {
        Outcome::Measured => "measured".to_owned(),
        Outcome::Failed => Ink::Bad.on("✗ failed"),
        Outcome::Unmeasured => Ink::Doubt.on("? unmeasured"),
        Outcome::Skipped => Ink::Faint.on("– skipped"),
    }
}

/// Sign and word of how much a finding matters.
pub fn severity(severity: Severity) -> String {
    match severity {
        Severity::Problem => Ink::Bad.on("✗ problem"),
        Severity::Warning => Ink::Doubt.on("! warning"),
        Severity::Info => Ink::Faint.on("· info"),
    }
}

/// `3 cases`, `1 case`.
pub fn count(number: usize, noun: &str) -> String {
    if number == 1 { format!("1 {noun}") } else { format!("{number} {noun}s") }
}

/// A span of time in at most two units: `840 ms`, `41 s`, `1 min 4 s`, `2 h 5 min`.
pub fn span(span: Duration) -> String {
    let seconds = span.as_secs();
    match seconds {
        0 => format!("{} ms", span.as_millis()),
        1..60 => format!("{seconds} s"),
        60..3600 => format!("{} min {} s", seconds / 60, seconds % 60),
        _ => format!("{} h {} min", seconds / 3600, seconds % 3600 / 60),
    }
}

/// A time for people: `2026-09-21 08:30 UTC`.
pub fn time(at: Timestamp) -> String {
    at.to_zoned(TimeZone::UTC).strftime("%Y-%m-%d %H:%M UTC").to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_of_a_record_cannot_steer_the_terminal() {
        assert_eq!(clean("a\u{1b}[31mb\nc\u{2062}"), "a [31mb c ");
        assert_eq!(clean_lines("a\u{1b}[2J\u{9b}\r\nb\n"), "a [2J  \nb\n");
    }

    #[test]
    fn spans_take_the_units_people_use() {
        let texts = [840, 41_000, 64_000, 7_500_000].map(|millis| span(Duration::from_millis(millis)));
        assert_eq!(texts, ["840 ms", "41 s", "1 min 4 s", "2 h 5 min"]);
    }
}
