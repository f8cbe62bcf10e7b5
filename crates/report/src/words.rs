//! Words and signs that all views share.

use std::time::Duration;

use askama::Template;
use jiff::Timestamp;
use jiff::tz::TimeZone;
use seatrial_model::profile::fold;
use seatrial_model::{Better, Outcome, Quantity, Severity, Unit, Verdict};

use crate::ink::{Ink, is_mark};
use crate::number::plain;

/// `text` of a record, safe for a terminal: control characters and invisible marks become blanks.
pub fn clean(text: &str) -> String {
    text.chars().map(|c| if c.is_control() || is_mark(c) { ' ' } else { c }).collect()
}

/// As `clean`, for a text that may have several lines.
pub fn clean_lines(text: &str) -> String {
    text.split('\n').map(clean).collect::<Vec<_>>().join("\n")
}

/// A sign, a word, and the verdict that gives both their colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Template)]
#[template(path = "badge.html")]
pub struct Badge {
    /// Tells badges apart without colours.
    pub sign: char,
    /// Tells badges apart without signs.
    pub word: &'static str,
    pub tone: Verdict,
}

impl From<Verdict> for Badge {
    fn from(verdict: Verdict) -> Self {
        let sign = match verdict {
            Verdict::Pass => '✓',
            Verdict::Warn => '!',
            Verdict::Fail => '✗',
            Verdict::Unknown => '?',
            Verdict::Skip => '–',
        };
        Self { sign, word: verdict.word(), tone: verdict }
    }
}

impl From<Outcome> for Badge {
    fn from(outcome: Outcome) -> Self {
        let (word, tone) = match outcome {
            // A number that nothing judges is no pass.
            Outcome::Measured => ("measured", Verdict::Skip),
            Outcome::Failed => ("failed", tone(outcome)),
            Outcome::Unmeasured => ("unmeasured", tone(outcome)),
            Outcome::Skipped => ("skipped", tone(outcome)),
        };
        Self { word, ..tone.into() }
    }
}

impl From<Severity> for Badge {
    fn from(severity: Severity) -> Self {
        let (sign, word, tone) = match severity {
            Severity::Problem => ('✗', "problem", Verdict::Fail),
            Severity::Warning => ('!', "warning", Verdict::Warn),
            Severity::Info => ('·', "info", Verdict::Skip),
        };
        Self { sign, word, tone }
    }
}

impl Badge {
    /// Of numbers without a verdict beside numbers with one.
    pub const NOT_JUDGED: Self = Self { sign: '–', word: "not judged", tone: Verdict::Skip };

    /// The CSS class.
    pub fn class(self) -> &'static str {
        self.tone.word()
    }

    /// Sign and word, marked with their colour.
    pub fn marked(self) -> String {
        ink(self.tone).on(format!("{} {}", self.sign, self.word).trim_end())
    }
}

/// The verdict that an outcome corresponds to: a case with numbers passes.
pub fn tone(outcome: Outcome) -> Verdict {
    match outcome {
        Outcome::Failed => Verdict::Fail,
        Outcome::Unmeasured => Verdict::Unknown,
        Outcome::Measured => Verdict::Pass,
        Outcome::Skipped => Verdict::Skip,
    }
}

pub fn ink(verdict: Verdict) -> Ink {
    match verdict {
        Verdict::Pass => Ink::Good,
        Verdict::Fail => Ink::Bad,
        Verdict::Warn | Verdict::Unknown => Ink::Doubt,
        Verdict::Skip => Ink::Faint,
    }
}

/// The unit after a number, with a blank; empty for counts.
pub fn unit(unit: Unit) -> String {
    if unit == Unit::Count { String::new() } else { format!(" {unit}") }
}

/// The unit after the name of a number: ` in GB/s`; empty for counts.
pub fn in_unit(of: Unit) -> String {
    if of == Unit::Count { String::new() } else { format!(" in {of}") }
}

/// Which direction is good, after a unit.
pub const fn direction(better: Better) -> &'static str {
    match better {
        Better::Higher => ", higher is better",
        Better::Lower => ", lower is better",
        Better::None => "",
    }
}

pub fn quantity(value: f64, of: Unit) -> String {
    format!("{}{}", plain(value), unit(of))
}

/// A quantity for people; the exact value is in the data beside it.
pub fn rounded(value: Quantity) -> String {
    match value.unit() {
        // Whole counts are exact: an MTU of 65535 is not 65500.
        Unit::Count if value.value().fract() == 0.0 => value.value().to_string(),
        Unit::Count => plain(value.value()),
        unit => quantity(value.value(), unit),
    }
}

/// `verdict` of a document as in its first line: `✗ FAIL`.
pub fn verdict_title(verdict: Verdict) -> String {
    ink(verdict).on(&format!("{} {}", Badge::from(verdict).sign, verdict.word().to_uppercase()))
}

/// `3 cases`, `1 case`.
pub fn count(number: usize, noun: &str) -> String {
    if number == 1 { format!("1 {noun}") } else { format!("{number} {noun}s") }
}

/// `2 of 9 criteria not met, 1 could not be judged`: the first number has the total.
pub fn counted<const N: usize>(all: usize, of: &str, told: [(usize, &str); N]) -> String {
    let mut told = told.into_iter().filter(|(number, _)| *number > 0);
    let first = told.next().map(|(number, phrase)| {
        [&format!("{number} of {all}"), of, phrase]
            .into_iter()
            .filter(|word| !word.is_empty())
            .collect::<Vec<_>>()
            .join(" ")
    });
    let rest = told.map(|(number, phrase)| format!("{number} {phrase}"));
    first.into_iter().chain(rest).collect::<Vec<_>>().join(", ")
}

/// The nodes folded into one name; if that is longer than `longest` characters, their number.
pub fn set_of(nodes: &[&str], longest: usize) -> String {
    let folded = fold(nodes);
    if folded.chars().count() > longest { count(nodes.len(), "node") } else { folded }
}

/// `text` cut after `most` characters, with an ellipsis.
pub fn cut(text: &str, most: usize) -> String {
    if text.chars().count() <= most {
        return text.to_owned();
    }
    text.chars().take(most.saturating_sub(1)).chain(['…']).collect()
}

/// `text` in at most `room` characters, cut in the middle: of a path both ends tell something.
pub fn cut_middle(text: &str, room: usize) -> String {
    let length = text.chars().count();
    if length <= room {
        return text.to_owned();
    }
    let Some(kept) = room.checked_sub(1) else { return String::new() };
    let (front, back) = (kept - kept / 2, kept / 2);
    text.chars().take(front).chain(['…']).chain(text.chars().skip(length - back)).collect()
}

/// A clause that is longer is cut: it is no sentence that anybody reads.
const LONGEST_CLAUSE: usize = 400;

/// The clauses of `text` that have room in `most` characters, with an ellipsis for the others; the first one whatever `most`
/// is. What stands in parentheses is left out as a whole.
pub fn cut_clauses(text: &str, most: usize) -> String {
    if text.chars().count() <= most {
        return text.to_owned();
    }
    let length = |end: &usize| text[..*end].chars().count() + 3;
    let ends = || clause_ends(text);
    let last = ends().take_while(|end| length(end) <= most).last();
    match last.or_else(|| ends().next()).filter(|end| length(end) <= most.max(LONGEST_CLAUSE)) {
        Some(end) if end == text.len() => text.to_owned(),
        Some(end) if text[end..].starts_with(' ') => format!("{} …", &text[..end]),
        Some(end) => format!("{}; …", &text[..end]),
        None => cut(text, most),
    }
}

/// Where clauses of `text` end: before `; ` and ` (` outside of parentheses, and at the end.
fn clause_ends(text: &str) -> impl Iterator<Item = usize> {
    let mut depth = 0_u32;
    let ends = text.char_indices().filter(move |(at, character)| {
        let is_end = depth == 0 && ["; ", " ("].iter().any(|end| text[*at..].starts_with(end));
        match character {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            _ => {}
        }
        is_end
    });
    ends.map(|(at, _)| at).chain([text.len()])
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
    fn a_sentence_is_cut_between_clauses_and_never_within_one() {
        let text = "n2: the path is full; n2 receives slowly; 97 % below the others";
        assert_eq!(cut_clauses(text, 80), text);
        assert_eq!(cut_clauses(text, 50), "n2: the path is full; n2 receives slowly; …");
        assert_eq!(cut_clauses(text, 30), "n2: the path is full; …");
        assert_eq!(cut_clauses(text, 10), "n2: the path is full; …");
        assert_eq!(cut_clauses("one clause of some length", 10), "one clause of some length");
        let remark = "false; it drifts (state.clock; see there); set it";
        assert_eq!(cut_clauses(remark, 43), "false; it drifts …");
        assert_eq!(cut_clauses(remark, 48), "false; it drifts (state.clock; see there); …");
    }

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

    #[test]
    fn whole_counts_are_exact_and_others_have_significant_digits() {
        let text = |value| rounded(Quantity::new(value, Unit::Count).expect("a count"));
        assert_eq!([65535.0, 1.167790821863246].map(text), ["65535", "1.17"]);
    }

    #[test]
    fn long_text_is_cut_with_a_sign() {
        assert_eq!((cut("abcdef", 4), cut("abcd", 4)), ("abc…".to_owned(), "abcd".to_owned()));
    }
}
