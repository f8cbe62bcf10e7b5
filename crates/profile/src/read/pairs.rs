//! Tables of free names with one value each.

use seatrial_model::Value;

use crate::Diagnostics;
use crate::diagnostic::At;
use crate::layer::Pairs;
use crate::table::{Cell, Table};

pub(super) fn name(cell: &Cell<'_>) -> At<String> {
    At { value: cell.key.to_owned(), at: cell.key_at }
}

/// A table with free names, one value each.
pub(super) fn pairs(table: &mut Table<'_>, key: &'static str, found: &mut Diagnostics) -> Pairs<At<Value>> {
    let table = table.table(key, found);
    let cells = table.iter().flat_map(Table::entries);
    cells.filter_map(|cell| Some((name(&cell), cell.scalar(found)?))).collect()
}
