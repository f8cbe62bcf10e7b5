//! A test beside a load: a row for each number and part of the load.

use seatrial_analysis::{Impact, ImpactRow};

use super::table::{Builder, Cell, Column, Table};
use crate::number::decimals;

pub fn table(impact: &Impact) -> Table {
    let rows = &impact.rows;
    let decimals = |of: fn(&ImpactRow) -> f64| decimals(rows.iter().map(of));
    let (alone, beside) = (decimals(|row| row.alone), decimals(|row| row.beside));
    let title = format!("{} · {} beside {}", impact.bench, impact.test, impact.load);
    let table = Builder::new(title, rows)
        .words("number", |row| row.what.as_str())
        .words("unit", |row| row.unit.to_string())
        .numbers("load", |row| format!("{} %", row.percent))
        .numbers("alone", |row| Cell::number(Some(row.alone), alone))
        .numbers("beside", |row| Cell::number(Some(row.beside), beside))
        .numbers("slowdown", |row| Cell::number(Some(row.slowdown), 2))
        .numbers("worst", |row| Cell::number(Some(row.worst.1), 2))
        .column(Column::words("of").unbroken(), |row| row.worst.0.as_str());
    let remark = "load is the part of its cases that ran at the same time; alone, beside and slowdown are medians over all \
                  subjects; a slowdown above 1 is worse, of times and of rates";
    Table { remarks: vec![remark.to_owned()], ..table.finish() }
}
