//! The parts of all nodes of a fleet as coloured cells: blocks of rows beside each other, the worst nodes first.

use std::collections::BTreeMap;
use std::fmt::Write;

use super::svg::{Target, safe};
use crate::html::shown::Shown;
use crate::view::node_parts::{NodeParts, NodeRow};
use crate::view::nodes::is_fleet;

/// Rows of a block: as few as let the blocks stand side by side.
const ROWS: (usize, usize) = (16, 50);

/// In pixels, as the following.
const PAGE: f64 = 1180.0;
const ROW: f64 = 13.0;
/// The width of a cell by the number of columns.
const CELL: (f64, f64) = (22.0, 60.0);
/// Width of a character of a name at most, in bold.
const CHARACTER: f64 = 9.6;
const GAP: f64 = 6.0;
const BETWEEN: f64 = 32.0;

/// Of nodes that pass, every so many is named.
const NAMED: usize = 10;

/// The places of columns and rows.
struct Grid {
    left: f64,
    head: f64,
    cell: f64,
}

/// The blocks; none for the run of one node.
pub fn blocks(shown: &Shown<'_>) -> Vec<String> {
    if !is_fleet(shown.document) {
        return Vec::new();
    }
    let parts = NodeParts::new(shown.document);
    let longest = |names: &mut dyn Iterator<Item = &str>| {
        GAP + CHARACTER * names.map(|name| name.chars().count()).max().unwrap_or(0) as f64
    };
    let columns = parts.columns.len().max(1) as f64;
    let cell = (4.0 * CELL.1 / columns).clamp(CELL.0, CELL.1);
    let name = longest(&mut parts.columns.iter().map(String::as_str));
    let grid = Grid {
        left: longest(&mut parts.rows.iter().map(|row| row.node)),
        // Names of columns stand upright where they have no room.
        head: if name <= cell { ROW + GAP } else { name },
        cell,
    };
    let beside = ((PAGE + BETWEEN) / (grid.left + columns * cell + BETWEEN)).max(1.0) as usize;
    let rows = parts.rows.len().div_ceil(beside).clamp(ROWS.0, ROWS.1);
    let target: Target<'_> = &|case| shown.place(case);
    let blocks = parts.rows.chunks(rows).enumerate();
    blocks.map(|(number, own)| block(&parts, own, number * rows, &grid, target)).collect()
}

fn block(
    parts: &NodeParts<'_>,
    rows: &[NodeRow<'_>],
    start: usize,
    grid: &Grid,
    target: Target<'_>,
) -> String {
    let Grid { left, head, cell: side } = *grid;
    let width = left + parts.columns.len() as f64 * side;
    let height = head + rows.len() as f64 * ROW;
    let mut drawn = format!(
        "<svg class=\"map fleet\" width=\"{width:.0}\" height=\"{height:.0}\" viewBox=\"0 0 {width:.0} {height:.0}\" \
         role=\"group\" aria-label=\"Parts of nodes {} to {}; the table of nodes has the same\">",
        start + 1,
        start + rows.len()
    );
    for (at, name) in parts.columns.iter().enumerate() {
        let (x, y) = (left + at as f64 * side, head - GAP);
        let place = match head > ROW + GAP {
            true => format!("translate({:.1} {y:.1}) rotate(-90)", x + side / 2.0 + 4.0),
            false => format!("translate({x:.1} {y:.1})"),
        };
        let _ = write!(drawn, "<text transform=\"{place}\">{}</text>", safe(name));
    }
    // Cells without anything to say, one path for all of a shade: a thousand nodes have many.
    let mut quiet: BTreeMap<&str, String> = BTreeMap::new();
    for (number, row) in rows.iter().enumerate() {
        let y = head + number as f64 * ROW;
        if !row.is_good() || (start + number).is_multiple_of(NAMED) {
            let class = if row.is_good() { "words" } else { "name" };
            let x = left - GAP;
            let _ = write!(
                drawn,
                "<text class=\"{class}\" text-anchor=\"end\" x=\"{x:.1}\" y=\"{:.1}\">{}</text>",
                y + ROW - 3.0,
                safe(row.node)
            );
        }
        for (at, cell) in row.cells.iter().enumerate() {
            let Some(cell) = cell else { continue };
            let x = left + at as f64 * side;
            if cell.shade.is_good() {
                let path = quiet.entry(cell.shade.class()).or_default();
                let _ = write!(path, "M{x:.0} {y:.0}h{:.0}v{:.0}h-{:.0}z", side - 2.0, ROW - 2.0, side - 2.0);
                continue;
            }
            let to = target(cell.case);
            let said = safe(&format!("{}: {}", row.node, cell.text));
            let rect = format!(
                "<rect class=\"cell {}\" x=\"{x:.0}\" y=\"{y:.0}\" width=\"{:.0}\" height=\"{:.0}\"><title>{said}</title></rect>",
                cell.shade.class(),
                side - 2.0,
                ROW - 2.0
            );
            match to.is_empty() {
                true => drawn += &rect,
                false => _ = write!(drawn, "<a href=\"#{to}\">{rect}</a>"),
            }
        }
    }
    for (class, path) in quiet {
        let _ = write!(drawn, "<path class=\"cell {class}\" d=\"{path}\"/>");
    }
    drawn + "</svg>"
}
