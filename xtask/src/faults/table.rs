//! What became of each fault, as a table.

use super::judge::Judged;
use super::planted::Strength;

const HEAD: &str = "| fault | strength | who | confidence | blamed wrongly | cause | gain | cases | s |\n|---|---|---|---|---|---|---|---|---|";

/// A row of the table.
pub fn row(judged: &Judged<'_>) -> String {
    let yes = |is_so: bool| if is_so { "right" } else { "missed" };
    let is_sound = judged.fault.is_sound();
    let (who, cause) = match is_sound {
        true => ("", ""),
        false => (yes(judged.is_right()), yes(judged.has_cause)),
    };
    let Judged { fault, cases, seconds, confidence, .. } = judged;
    let gain = judged.gain.as_ref().map(ToString::to_string).unwrap_or_default();
    format!(
        "| {}: {} | {} | {who} | {confidence} | {} | {cause} | {gain} | {cases} | {seconds:.0} |",
        fault.name,
        fault.what,
        fault.strength,
        judged.blamed().join(" ")
    )
}

/// All rows, and the sums by strength.
pub fn table(all: &[Judged<'_>]) -> String {
    let rows: Vec<String> = all.iter().map(row).collect();
    format!("{HEAD}\n{}\n\n{}", rows.join("\n"), sums(&rows))
}

/// Of rows of each strength with somebody to name, how many have who and why right; and of how many a sound node is blamed.
fn sums<T: AsRef<str>>(rows: &[T]) -> String {
    let cells: Vec<Vec<&str>> =
        rows.iter().map(|row| row.as_ref().split('|').map(str::trim).collect()).collect();
    let sum = |strength: Strength, words: &str| {
        let own = || cells.iter().filter(|cells| cells[2] == strength.to_string());
        let right = |column: usize| own().filter(|cells| cells[column] == "right").count();
        let of = own().filter(|cells| !cells[3].is_empty()).count();
        let blamed = own().filter(|cells| !cells[5].is_empty()).count();
        format!("| {words} | {} of {of} | {} of {of} | {blamed} |", right(3), right(6))
    };
    let sums = [
        sum(Strength::Plain, "plain"),
        sum(Strength::Weak, "weak"),
        sum(Strength::Just, "just above what matters"),
    ];
    format!(
        "| strength | who right | cause right | sound nodes blamed |\n|---|---|---|---|\n{}",
        sums.join("\n")
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_summed_by_strength_and_those_with_nobody_to_name_count_as_blamed_only() {
        let rows = [
            "| nothing: a sound lab | plain |  |  | n2 |  |  | 12 | 21 |",
            "| a: b | plain | right | high |  | missed |  | 12 | 21 |",
            "| a: b | just | missed |  |  | right | 2.50 | 12 | 21 |",
        ];
        let told = sums(&rows);
        let lines: Vec<&str> = told.lines().skip(2).collect();
        let wanted = [
            "| plain | 1 of 1 | 0 of 1 | 1 |",
            "| weak | 0 of 0 | 0 of 0 | 0 |",
            "| just above what matters | 0 of 1 | 1 of 1 | 0 |",
        ];
        assert_eq!(lines, wanted);
    }

    #[test]
    fn the_sums_in_the_page_are_those_of_the_rows_above_them() {
        let lines: Vec<&str> = include_str!("trials.md").lines().collect();
        let blocks: Vec<&[&str]> =
            lines.split(|line| !line.starts_with('|')).filter(|block| !block.is_empty()).collect();
        let head: Vec<&str> = HEAD.lines().collect();
        let tables: Vec<usize> = (0..blocks.len()).filter(|at| blocks[*at].starts_with(&head)).collect();
        assert_eq!(tables.len(), 2, "four nodes and eight");
        for at in tables {
            let below = blocks.get(at + 1).map(|block| block.join("\n"));
            assert_eq!(below, Some(sums(&blocks[at][head.len()..])));
        }
    }
}
