//! Text of a record, made safe to stand in a sentence; the words themselves are those of the terminal.

use askama::Template;
use seatrial_model::profile::fold;
use seatrial_model::{Outcome, Severity, Unit, Verdict};

use crate::ink::is_mark;
use crate::number::decimals;
use crate::words::{clean, count, sign};

/// A sign, a word, and the class that gives both their colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Template)]
#[template(path = "badge.html")]
pub struct Badge {
    /// Tells it apart where colours are not seen.
    pub sign: char,
    /// Tells it apart where signs are not known.
    pub word: &'static str,
    /// `fail`, `unknown`, `warn`, `pass`, `skip`.
    pub class: &'static str,
}

/// `text` without control characters, and without those that turn round the direction of what follows: a name must not
/// rearrange the sentence that it stands in (Unicode Standard Annex 9).
pub fn text(text: &str) -> String {
    let turns =
        |c: char| matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{200e}' | '\u{200f}');
    clean(text).chars().map(|c| if turns(c) { '\u{fffd}' } else { c }).collect()
}

/// A subject with arrows that no end of a line takes apart: `n1/eth0→n2/eth0`.
pub fn arrows(subject: &str) -> String {
    subject.replace("->", "→")
}

/// Text that was meant for a terminal, without its marks.
pub fn unmarked(marked: &str) -> String {
    marked.chars().filter(|c| !is_mark(*c)).collect::<String>().trim().to_owned()
}

/// `text` cut after so many characters, with a sign that it was.
pub fn cut(text: &str, most: usize) -> String {
    if text.chars().count() <= most {
        return text.to_owned();
    }
    text.chars().take(most.saturating_sub(1)).chain(['…']).collect()
}

/// The badge of a verdict.
pub fn of_verdict(verdict: Verdict) -> Badge {
    Badge { sign: sign(verdict), word: verdict.word(), class: verdict.word() }
}

/// The badge of how a case ended.
pub fn of_outcome(outcome: Outcome) -> Badge {
    match outcome {
        Outcome::Measured => Badge { sign: '✓', word: "measured", class: "pass" },
        Outcome::Failed => Badge { sign: '✗', word: "failed", class: "fail" },
        Outcome::Unmeasured => Badge { sign: '?', word: "unmeasured", class: "unknown" },
        Outcome::Skipped => Badge { sign: '–', word: "skipped", class: "skip" },
    }
}

/// The badge of how much a finding matters.
pub fn of_severity(severity: Severity) -> Badge {
    match severity {
        Severity::Problem => Badge { sign: '✗', word: "problem", class: "fail" },
        Severity::Warning => Badge { sign: '!', word: "warning", class: "warn" },
        Severity::Info => Badge { sign: '·', word: "info", class: "skip" },
    }
}

/// The unit behind a number, with a blank; nothing for counts.
pub fn unit(unit: Unit) -> String {
    if unit == Unit::Count { String::new() } else { format!(" {unit}") }
}

/// A number with the digits it carries, and its unit.
pub fn quantity(value: f64, of: Unit) -> String {
    format!("{}{}", number(value), unit(of))
}

/// A number with the digits it carries, thousands set apart by thin blanks.
pub fn number(value: f64) -> String {
    fixed(value, decimals([value]))
}

/// A number with so many decimals, thousands set apart by thin blanks, which do not break.
pub fn fixed(value: f64, decimals: usize) -> String {
    let plain = format!("{value:.decimals$}");
    let (whole, rest) = plain.split_at(plain.find('.').unwrap_or(plain.len()));
    let (minus, digits) = whole.split_at(usize::from(whole.starts_with('-')));
    if digits.len() < 5 {
        return plain;
    }
    let mut text = minus.to_owned();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at) % 3 == 0 {
            text.push('\u{202f}');
        }
        text.push(digit);
    }
    text + rest
}

/// The nodes folded into one name; where that gets longer than `longest` characters, how many there are.
pub fn set_of(nodes: &[&str], longest: usize) -> String {
    let folded = text(&fold(nodes));
    if folded.chars().count() > longest { count(nodes.len(), "node") } else { folded }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_cannot_turn_round_the_sentence_it_stands_in() {
        assert_eq!(text("n1\u{202e}lufesu\u{7}"), "n1\u{fffd}lufesu ");
    }

    #[test]
    fn large_numbers_are_read_by_their_thousands() {
        let texts = [950.25, 1234.0, 12_345.6, -1_234_567.0].map(|value| fixed(value, 0));
        assert_eq!(texts, ["950", "1234", "12\u{202f}346", "-1\u{202f}234\u{202f}567"]);
        assert_eq!(fixed(12_345.67, 1), "12\u{202f}345.7");
    }

    #[test]
    fn long_text_is_cut_with_a_sign() {
        assert_eq!((cut("abcdef", 4), cut("abcd", 4)), ("abc…".to_owned(), "abcd".to_owned()));
    }
}
