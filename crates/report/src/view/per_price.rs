//! Figures per price as tables, the most for its price first.

use seatrial_analysis::PerPrice;

use super::table::{Builder, Cell, Column, Table};
use crate::labels::Label;
use crate::number::{decimals, percentage, plain};

/// Sides of a comparison by name, and the unit of their prices.
#[derive(Clone, Copy, Debug)]
pub struct Pricing<'a> {
    pub names: &'a [String],
    /// A currency; may be empty.
    pub unit: &'a str,
}

/// Prices from here on are read by the thousand.
const THOUSAND: f64 = 1000.0;

/// A table per benchmark and metric.
pub fn tables(all: &[PerPrice], pricing: Pricing<'_>) -> Vec<Table> {
    let mut groups: Vec<Vec<&PerPrice>> = Vec::new();
    for found in all {
        let is_same = |group: &&mut Vec<&PerPrice>| {
            (&group[0].bench, &group[0].metric) == (&found.bench, &found.metric)
        };
        match groups.iter_mut().find(is_same) {
            Some(group) => group.push(found),
            None => groups.push(vec![found]),
        }
    }
    groups.iter().map(|group| table(group, pricing)).collect()
}

/// The amount of the price that a figure is for: 1000 where a price reaches it, otherwise 1.
pub fn amount<'a>(all: impl IntoIterator<Item = &'a PerPrice>) -> f64 {
    let is_thousands = all.into_iter().flat_map(|found| &found.ranking).any(|side| side.price >= THOUSAND);
    if is_thousands { THOUSAND } else { 1.0 }
}

fn table(group: &[&PerPrice], pricing: Pricing<'_>) -> Table {
    let ranked = |found: &&'_ PerPrice| (0..found.ranking.len()).collect::<Vec<_>>();
    let rows: Vec<(&PerPrice, usize)> =
        group.iter().flat_map(|found| ranked(found).into_iter().map(|rank| (*found, rank))).collect();
    let side = |row: &(&PerPrice, usize)| row.0.ranking[row.1];
    let labels: Vec<Label> =
        rows.iter().map(|(found, _)| Label::new(&found.nodes, &found.subject, &found.params)).collect();
    let amount = amount(group.iter().copied());
    let price = format!("price {}", pricing.unit);
    let per = format!("{} per {amount} {}", group[0].unit, pricing.unit);
    let digits = decimals(rows.iter().map(|row| side(row).value));
    let per_digits = decimals(rows.iter().map(|row| amount * side(row).per_price));
    let title = format!("{} · {} for its price, the best first", group[0].bench, group[0].metric);
    let table = Builder::new(title, &rows);
    // The sides of one case differ by their names alone.
    let table = if group.len() > 1 { table.labels(&labels) } else { table };
    table
        .numbers("rank", |(_, rank)| (rank + 1).to_string())
        .words("name", |row| pricing.names.get(side(row).side).map_or("", String::as_str))
        .column(Column::quantities(&group[0].metric, Some(group[0].unit)), |row| {
            Cell::number(Some(side(row).value), digits)
        })
        .numbers(price.trim(), |row| plain(side(row).price))
        .numbers(per.trim(), |row| Cell::number(Some(amount * side(row).per_price), per_digits))
        .numbers("of the best", |row| percentage(100.0 * side(row).per_price / row.0.ranking[0].per_price))
        .finish()
}
