//! Pairs of nodes: a matrix of pairs measured one by one, and a table of concurrent flows.

use seatrial_analysis::Matrix as Pairs;
use seatrial_model::record::CaseRecord;

use super::table;
use crate::grid;
use crate::notes::Notes;
use crate::view::impact;
use crate::view::matrix::Matrix;
use crate::view::pairs::{at_once, by_node, matrices, matrix};
use crate::view::table::Table;
use crate::words::count;

/// Nodes of a matrix that is shown whole.
const MOST_NODES: usize = 10;

/// Rows of a larger matrix, the worst.
const MOST_ROWS: usize = 8;

/// One block per question over pairs.
pub fn blocks(results: &[CaseRecord], width: u16) -> Vec<String> {
    let (pairs, flows) = (matrices(results), seatrial_analysis::at_once(results));
    let of_pairs = pairs.iter().map(|pairs| of_matrix(results, pairs, width));
    let impacts = seatrial_analysis::impacts(results);
    let of_impacts = impacts.iter().map(|found| of_concurrent(impact::table(found), width));
    let of_flows = flows.iter().map(|found| of_concurrent(at_once(found), width));
    of_pairs.chain(of_flows).chain(of_impacts).collect()
}

fn of_concurrent(found: Table, width: u16) -> String {
    table::block(found, usize::MAX, &mut Notes::default(), width)
}

fn of_matrix(results: &[CaseRecord], pairs: &Pairs, width: u16) -> String {
    let mut notes = Notes::default();
    if pairs.nodes.len() <= MOST_NODES {
        let found = matrix(results, pairs, MOST_NODES);
        let fits = |table: &Table| grid::width(&table::columns(table, &mut Notes::default())) <= width;
        if let Some(whole) = [true, false].map(|is_named| whole(&found, is_named)).into_iter().find(fits) {
            return table::block(whole, MOST_NODES, &mut notes, width);
        }
    }
    let all = by_node(pairs);
    let shown = count(all.rows.len().min(MOST_ROWS), "node");
    let remark = format!("{shown} of {}", pairs.nodes.len());
    let rows = all.rows.into_iter().take(MOST_ROWS).collect();
    table::block(Table { rows, remarks: vec![remark], ..all }, MOST_ROWS, &mut notes, width)
}

/// The whole matrix; with long names the columns are numbered.
fn whole(found: &Matrix, is_named: bool) -> Table {
    let mut table = found.table();
    table.columns[0].title = String::new();
    table.columns[0].side = grid::Side::Left;
    for (at, row) in table.rows.iter_mut().enumerate() {
        let own = &mut row.cells[at + 1].text;
        if own.is_empty() {
            "-".clone_into(own);
        }
        if !is_named {
            row.cells[0].text = format!("{} {}", at + 1, row.cells[0].text);
            table.columns[at + 1].title = (at + 1).to_string();
        }
    }
    table
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use seatrial_analysis::{AtOnce, Classes, Flow, Line, Matrix, Repeat, Step};
    use seatrial_model::{Better, Params, Subject, Unit};

    use super::*;
    use crate::Style;
    use crate::ink::render_colors;

    fn shown(text: &str) -> String {
        let text = render_colors(text, Style::Plain);
        for line in text.lines() {
            assert!(line.chars().count() <= 80, "{line}");
        }
        text
    }

    fn pairs(count: usize, prefix: &str) -> Matrix {
        let mut cells = BTreeMap::new();
        for one in 0..count {
            for other in one + 1..count {
                let is_slow = one == 1 || other == 1;
                cells.insert((one, other), if is_slow { 4.7 } else { 9.41 });
            }
        }
        Matrix {
            group: "net.tcp_stream".to_owned(),
            bench: "net.tcp_stream".to_owned(),
            params: Params::default(),
            metric: "throughput".to_owned(),
            unit: Unit::GigabitsPerSecond,
            better: Better::Higher,
            nodes: (1..=count).map(|at| format!("{prefix}{at}")).collect(),
            cells,
            better_ends: BTreeMap::new(),
            worse_ends: BTreeMap::new(),
            disturbed: Default::default(),
        }
    }

    #[test]
    fn few_nodes_are_shown_as_a_matrix() {
        assert_eq!(
            shown(&of_matrix(&[], &pairs(4, "n"), 80)),
            "\
net.tcp_stream · throughput in Gbit/s · from row to column
     n1    n2    n3    n4
─────────────────────────
 n1   -  4.70  9.41  9.41
 n2         -  4.70  4.70
 n3               -  9.41
 n4                     -
"
        );
    }

    #[test]
    fn columns_of_long_names_are_numbered() {
        let text = shown(&of_matrix(&[], &pairs(10, "compute-node-"), 80));
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines.len(), 13);
        assert_eq!(lines[1], "                     1     2     3     4     5     6     7     8     9    10");
        assert_eq!(lines[4], " 2 compute-node-2          -  4.70  4.70  4.70  4.70  4.70  4.70  4.70  4.70");
    }

    #[test]
    fn of_many_nodes_the_worst_are_shown() {
        let text = shown(&of_matrix(&[], &pairs(12, "n"), 80));
        let expected = "\
net.tcp_stream · throughput in Gbit/s · by node, the worst first
 node  partners  median   off  worst  with
──────────────────────────────────────────
 n2          11    4.70  -50%   4.70  n1
 n1          11    9.41    0%   4.70  n2
 n3          11    9.41    0%   4.70  n2
";
        assert!(text.starts_with(expected), "{text}");
        assert!(text.ends_with(" 8 nodes of 12\n"), "{text}");
    }

    fn step(flows: u32, totals: &[f64], classes: Classes) -> Step {
        let flow = |rate: f64| Flow { rate, subject: Subject::node() };
        let repeat = |total: &f64| Repeat {
            total: *total,
            slowest: flow(total / 4.0),
            fastest: flow(total / 2.0),
            classes: Some(classes),
        };
        Step {
            number: u64::from(flows),
            planned: flows as usize,
            case: String::new(),
            flows: Some(flows),
            repeats: totals.iter().map(repeat).collect(),
        }
    }

    #[test]
    fn a_trunk_has_a_row_a_step() {
        let classes = |full, half, third| Classes { full, half, third, ..Classes::default() };
        let lost = Step { flows: None, repeats: Vec::new(), ..step(4, &[], Classes::default()) };
        let trunk = AtOnce {
            group: "net.tcp_stream".to_owned(),
            bench: "net.tcp_stream".to_owned(),
            params: Params::default(),
            pattern: "trunk".to_owned(),
            metric: "throughput".to_owned(),
            unit: Unit::GigabitsPerSecond,
            line: Some(Line { rate: 9.9, is_limit: true }),
            links: Some(6),
            fitted: Some(5),
            steps: vec![
                step(1, &[9.8, 9.85, 9.82], classes(1, 0, 0)),
                step(2, &[19.6, 9.8, 19.7], classes(2, 0, 0)),
                step(3, &[19.6, 19.5, 29.0], classes(1, 2, 0)),
                lost,
            ],
        };
        assert_eq!(
            shown(&of_concurrent(at_once(&trunk), 80)),
            "\
net.tcp_stream · trunk · throughput in Gbit/s · flows at the same time
     flows  total  least   best  lines  hashed  slowest  fastest  classes
────────────────────────────────────────────────────────────────────────────────
         1   9.82   9.80   9.85    1.0    9.90     2.46     4.91  1 full
         2  19.60   9.80  19.70    2.0   18.15     4.90     9.80  2 full
         3  19.60  19.50  29.00    2.9   25.02     4.90     9.80  1 full, 2 half
 not all 4
 total is the median over the repeats; slowest and fastest are flows of the
 repeat with the median total; a flow's line is 9.90, its derived limit; full
 is 0.9 of it or more, half 0.4 to 0.6, third 0.28 to 0.38, starved below 0.1,
 in the repeat with the median total; hashed is the average total of so many
 flows on 6 links (as stated)
"
        );
    }
}
