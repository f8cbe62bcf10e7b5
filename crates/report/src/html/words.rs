//! Untrusted text made safe for sentences; the words themselves are those of the terminal.

use seatrial_model::Unit;

use super::plot::escaped;
use crate::number::decimals;
use crate::words::{self, clean};

/// `text` without control characters and without characters that change the direction of the following text, so that
/// a name cannot rearrange its sentence (Unicode Standard Annex 9).
pub fn text(text: &str) -> String {
    let turns =
        |c: char| matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{200e}' | '\u{200f}');
    clean(text).chars().map(|c| if turns(c) { '\u{fffd}' } else { c }).collect()
}

/// `text` as HTML, with what stands between two backticks as code.
pub fn with_code(text: &str) -> String {
    let (mut html, mut rest) = (String::new(), text);
    while let Some((before, (code, after))) =
        rest.split_once('`').and_then(|(before, rest)| Some((before, rest.split_once('`')?)))
    {
        html += &format!("{}<code>{}</code>", escaped(before), escaped(code));
        rest = after;
    }
    html + &escaped(rest)
}

/// A subject with arrows that do not break lines: `n1/eth0→n2/eth0`.
pub fn arrows(subject: &str) -> String {
    subject.replace("->", "→")
}

/// A number with its significant digits, and its unit.
pub fn quantity(value: f64, of: Unit) -> String {
    grouped(&words::quantity(value, of))
}

/// A number with its significant digits, thousands separated by thin blanks.
pub fn number(value: f64) -> String {
    fixed(value, decimals([value]))
}

/// A number with `decimals` decimals, thousands separated.
pub fn fixed(value: f64, decimals: usize) -> String {
    grouped(&format!("{value:.decimals$}"))
}

/// `text` with the thousands of its leading number separated by thin blanks, which do not break lines.
pub fn grouped(text: &str) -> String {
    let minus = usize::from(text.starts_with('-'));
    let digits = text[minus..].bytes().take_while(u8::is_ascii_digit).count();
    let behind = text[minus + digits..].chars().next();
    if digits < 5 || behind.is_some_and(|c| c != '.' && c != ' ') {
        return text.to_owned();
    }
    let (number, rest) = text.split_at(minus + digits);
    let mut grouped = number[..minus].to_owned();
    for (at, digit) in number[minus..].chars().enumerate() {
        if at > 0 && (digits - at) % 3 == 0 {
            grouped.push('\u{202f}');
        }
        grouped.push(digit);
    }
    grouped + rest
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
        assert_eq!(
            ["12345 GB/s", "10.0.0.12345", "20260921-08"].map(grouped),
            ["12\u{202f}345 GB/s", "10.0.0.12345", "20260921-08"]
        );
    }
}
