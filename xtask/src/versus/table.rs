//! Prints results as a table that is also Markdown, so that it can stand in the documentation as it is.

use comfy_table::presets::ASCII_MARKDOWN;
use comfy_table::{CellAlignment, Table};
use seatrial_model::Unit;

use super::{Paired, Side};

/// One line a row: medians, the paired ratio with its interval, the peer against itself, the goal.
pub fn table(rows: &[(String, Unit, f64, Paired)]) -> String {
    let mut table = Table::new();
    table.load_style(ASCII_MARKDOWN);
    table.set_header([
        "work",
        "Seatrial",
        "peer",
        "ratio [95 %]",
        "peer / itself [95 %]",
        "goal",
        "standing",
    ]);
    for (name, unit, goal, paired) in rows {
        table.add_row([
            name.clone(),
            format!("{:.2} {unit}", paired.ours),
            format!("{:.2} {unit}", paired.peer),
            ratio(&paired.against),
            ratio(&paired.itself),
            format!(">= {goal:.2}"),
            paired.standing.to_string(),
        ]);
    }
    for column in [1, 2] {
        if let Some(column) = table.column_mut(column) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    table.to_string()
}

fn ratio(side: &Side) -> String {
    format!("{:.3} [{:.3}, {:.3}]", side.ratio, side.ci95.low, side.ci95.high)
}

#[cfg(test)]
mod tests {
    use seatrial_stats::Interval;

    use super::super::Standing;
    use super::*;

    #[test]
    fn a_row_shows_both_medians_both_ratios_and_the_standing() {
        let side = |ratio: f64| Side { ratio, ci95: Interval { low: ratio - 0.01, high: ratio + 0.01 } };
        let paired = Paired {
            ours: 21.5,
            peer: 20.0,
            against: side(1.075),
            itself: side(1.0),
            standing: Standing::Met,
        };
        let text = table(&[("triad".to_owned(), Unit::GigabytesPerSecond, 1.0, paired)]);
        let row: Vec<&str> = text.lines().last().unwrap().split('|').map(str::trim).collect();
        let wanted = [
            "",
            "triad",
            "21.50 GB/s",
            "20.00 GB/s",
            "1.075 [1.065, 1.085]",
            "1.000 [0.990, 1.010]",
            ">= 1.00",
            "met",
            "",
        ];
        assert_eq!(row, wanted);
    }
}
