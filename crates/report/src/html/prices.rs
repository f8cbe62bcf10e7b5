//! Cost of the throughput: a bar per case and the table.

use super::curve::Figure;
use super::plot::{Interval, Start, intervals};
use super::table::PageTable;
use super::words::text;
use crate::labels::of_cases;
use crate::view::prices::{PricedCase, Prices};

pub fn of_bench(all: &[Prices<'_>], bench: &str) -> Vec<(Option<Figure>, PageTable)> {
    let own = all.iter().filter(|found| found.bench == bench);
    own.map(|found| (figure(found), PageTable::new(&found.table(), usize::MAX))).collect()
}

fn figure(found: &Prices<'_>) -> Option<Figure> {
    let cases: Vec<_> = found.rows.iter().map(|row| row.case).collect();
    let row = |(row, name): (&PricedCase<'_>, String)| Interval {
        name: text(&name),
        median: row.per_gbit,
        ci95: row.ci95,
        ends: row.ci95.unwrap_or((row.per_gbit, row.per_gbit)),
        limit: None,
        bounds: Vec::new(),
        class: "",
        tip: text(&format!("{name}: {:.4} {} per Mbit/s", row.per_gbit / 1e3, found.currency)),
    };
    let rows: Vec<Interval> = found.rows.iter().zip(of_cases(&cases)).map(row).collect();
    Some(Figure {
        caption: "Cost of the throughput".to_owned(),
        unit: text(&format!("{} per Gbit/s", found.currency)),
        svg: intervals(&text(&found.title()), &rows, Start::Zero)?,
        legend: Vec::new(),
        note: String::new(),
    })
}
