//! Prints results as a table that is also Markdown, so that it can stand in the documentation as it is.

use std::collections::BTreeMap;

use comfy_table::presets::ASCII_MARKDOWN;
use comfy_table::{CellAlignment, Table};
use seatrial_stats::Interval;

use super::rounds::Dropped;
use super::{Figure, Paired, Side, Taken};

/// A reason in a cell, and a remark below the table, is cut behind so many characters: all that a program said was told when
/// it happened.
const SHORT: usize = 160;

/// What became of a figure.
#[derive(Clone, Debug)]
pub struct Line {
    pub figure: Figure,
    /// What came of it.
    pub outcome: Outcome,
    /// Rounds that began while others used the machine.
    pub disturbed: usize,
}

/// What came of a figure.
#[derive(Clone, Debug)]
pub enum Outcome {
    /// The comparison, and its rounds in words.
    Compared(Paired, String),
    /// Too many turns failed: why, and its rounds in words.
    NotTaken(String, String),
    /// There is nothing to compare with here, and why.
    LeftOut(String),
}

/// One line a figure: medians, the paired ratio with its interval, the peer against itself, the goal, the rounds.
pub fn table(lines: &[Line]) -> String {
    let mut table = Table::new();
    table.load_style(ASCII_MARKDOWN);
    table.set_header([
        "work",
        "Seatrial",
        "peer",
        "ratio [interval]",
        "peer / itself [95 %]",
        "goal",
        "rounds",
        "who is ahead",
        "standing",
    ]);
    for Line { figure, outcome, .. } in lines {
        let none = || "-".to_owned();
        let [ours, peer, against, itself, rounds, lead, standing] = match outcome {
            Outcome::Compared(paired, rounds) => [
                format!("{} {}", digits(paired.ours), figure.unit),
                format!("{} {}", digits(paired.peer), figure.unit),
                ratio(&paired.against),
                ratio(&paired.itself),
                rounds.clone(),
                paired.lead.to_string(),
                paired.standing.map_or_else(String::new, |standing| standing.to_string()),
            ],
            Outcome::NotTaken(why, rounds) => {
                [none(), none(), none(), none(), rounds.clone(), none(), format!("not taken: {}", short(why))]
            }
            Outcome::LeftOut(why) => {
                [none(), none(), none(), none(), none(), none(), format!("left out: {}", short(why))]
            }
        };
        let goal = figure.goal.map_or_else(|| "none".to_owned(), |goal| format!(">= {goal:.2}"));
        table.add_row([figure.name.clone(), ours, peer, against, itself, goal, rounds, lead, standing]);
    }
    for column in [1, 2] {
        if let Some(column) = table.column_mut(column) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    table.to_string()
}

/// The rounds of a row in a cell: how many count, of how many where that is fewer, and how many do not.
pub fn rounds(taken: &Taken) -> String {
    let (count, dropped) = (taken.count(), taken.dropped.len());
    let of = if count == taken.asked { count.to_string() } else { format!("{count} of {}", taken.asked) };
    if dropped == 0 { of } else { format!("{of}, {dropped} dropped") }
}

/// What stands below the table of a row of which rounds were dropped: which, whose turn it was, and what was said. Rounds of
/// which the same is to be said stand together.
pub fn note(name: &str, taken: &Taken) -> Option<String> {
    let mut alike: BTreeMap<(usize, String), Vec<String>> = BTreeMap::new();
    for Dropped { number, who, why } in &taken.dropped {
        let said = format!("{who}: {}", short(why));
        let first = alike.keys().find(|(_, other)| *other == said).map_or(*number, |(first, _)| *first);
        alike.entry((first, said)).or_default().push(number.to_string());
    }
    if alike.is_empty() {
        return None;
    }
    let words = alike.into_iter().map(|((_, said), numbers)| {
        let plural = if numbers.len() == 1 { "round" } else { "rounds" };
        format!("{plural} {} ({said})", numbers.join(", "))
    });
    let words: Vec<String> = words.collect();
    Some(format!("- {name}: dropped {}", words.join("; ")))
}

/// In one line, without what would end a cell, and not too long.
fn short(text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    let line = words.join(" ").replace('|', "/");
    match line.char_indices().nth(SHORT) {
        Some((end, _)) => format!("{}...", &line[..end]),
        None => line,
    }
}

fn ratio(side: &Side) -> String {
    match side.interval {
        Some(Interval { low, high }) => format!("{:.3} [{low:.3}, {high:.3}]", side.ratio),
        None => format!("{:.3} [too few rounds]", side.ratio),
    }
}

/// Two digits behind the point; of what is below 1 three that count.
fn digits(value: f64) -> String {
    let places = if value > 0.0 && value < 1.0 { 2.0 - value.log10().floor() } else { 2.0 };
    format!("{value:.0$}", places.min(9.0) as usize)
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use anyhow::bail;
    use seatrial_model::Unit;
    use seatrial_stats::Better;

    use super::super::{Companion, Lead, Standing};
    use super::*;

    fn figure(goal: Option<f64>) -> Figure {
        Figure { name: "triad".to_owned(), unit: Unit::GigabytesPerSecond, better: Better::Higher, goal }
    }

    fn cells(goal: Option<f64>, outcome: Outcome) -> Vec<String> {
        let text = table(&[Line { figure: figure(goal), outcome, disturbed: 0 }]);
        text.lines().last().unwrap().split('|').map(|cell| cell.trim().to_owned()).collect()
    }

    fn side(ratio: f64) -> Side {
        Side { ratio, interval: Some(Interval { low: ratio - 0.01, high: ratio + 0.01 }), rounds: 12 }
    }

    #[test]
    fn a_row_shows_both_medians_both_ratios_its_rounds_and_the_standing() {
        let paired = Paired {
            ours: 21.5,
            peer: 0.030_42,
            against: side(1.075),
            itself: Side { ratio: 1.0, interval: None, rounds: 5 },
            looks: 1,
            standing: Some(Standing::Met),
            lead: Lead::Ahead,
        };
        let outcome = Outcome::Compared(paired, "12, 1 dropped".to_owned());
        let wanted = [
            "",
            "triad",
            "21.50 GB/s",
            "0.0304 GB/s",
            "1.075 [1.065, 1.085]",
            "1.000 [too few rounds]",
            ">= 1.00",
            "12, 1 dropped",
            "ahead",
            "met",
            "",
        ];
        assert_eq!(cells(Some(1.0), outcome), wanted);
        let outcome =
            Outcome::Compared(Paired { standing: None, lead: Lead::Open(40), ..paired }, "12".to_owned());
        assert_eq!(cells(None, outcome)[6..], ["none", "12", "open: about 40 rounds would decide", "", ""]);
    }

    #[test]
    fn a_row_without_figures_says_why_in_one_short_line() {
        let outcome = Outcome::NotTaken("the peer:\n  no | way".to_owned(), "1 of 12, 9 dropped".to_owned());
        let row = cells(Some(1.0), outcome);
        assert_eq!(row[2..6], ["-", "-", "-", "-"]);
        assert_eq!(row[7..10], ["1 of 12, 9 dropped", "-", "not taken: the peer: no / way"]);
        let row = cells(None, Outcome::LeftOut("é".repeat(1000)));
        assert_eq!(row[9].chars().count(), "left out: ".len() + SHORT + 3);
    }

    struct Alone;
    impl Companion for Alone {}

    #[test]
    fn rounds_that_do_not_count_are_told_with_what_was_said() {
        // Of six rounds the third fails in its first turn, and again both times that it is taken again.
        let turn = Cell::new(0);
        let work = || {
            turn.set(turn.get() + 1);
            match turn.get() {
                7 | 8 => bail!("no answer"),
                9 => bail!("a rate of 0"),
                _ => Ok(vec![1.0]),
            }
        };
        let taken = Taken::measure(6, &mut || work(), &mut || work(), &mut Alone);
        assert_eq!(rounds(&taken), "5 of 6, 3 dropped");
        assert_eq!(
            note("triad", &taken).unwrap(),
            "- triad: dropped rounds 3, 4 (the peer: no answer); round 5 (the peer: a rate of 0)"
        );
        let whole = Taken::measure(6, &mut || Ok(vec![1.0]), &mut || Ok(vec![1.0]), &mut Alone);
        assert_eq!((rounds(&whole).as_str(), note("triad", &whole)), ("6", None));
    }

    #[test]
    fn what_is_small_keeps_three_digits() {
        let shown = [0.0, 0.000_527, 0.031, 0.5, 1.0, 34.044, 1234.5].map(digits);
        assert_eq!(shown, ["0.00", "0.000527", "0.0310", "0.500", "1.00", "34.04", "1234.50"]);
    }
}
