//! Pairs of nodes: a matrix of those measured one by one, and a table of flows that ran at the same time.

use seatrial_analysis::{AtOnce, Classes, Matrix, Step};
use seatrial_model::record::Document;
use seatrial_model::{Better, Unit};

use crate::grid::{self, Column};
use crate::ink::Ink;
use crate::number::{decimals, plain, signed_share};
use crate::words::{clean, count};

/// Nodes of a matrix that is shown whole.
const MOST_NODES: usize = 10;

/// Rows of a larger one, the worst.
const MOST_ROWS: usize = 8;

/// Steps at most; of more the last ones are shown, which have the most flows.
const MOST_STEPS: usize = 24;

/// One block a question that was asked of pairs.
pub fn blocks(document: &Document, width: u16) -> Vec<String> {
    let matrices = seatrial_analysis::matrices(&document.results);
    // A ring or a list of neighbours says no more than the cases do.
    let told = matrices.iter().filter(|matrix| matrix.cells.len() > matrix.nodes.len());
    let at_once = seatrial_analysis::at_once(&document.results);
    told.map(|matrix| of_matrix(matrix, width))
        .chain(at_once.iter().map(|found| of_steps(found, width)))
        .collect()
}

fn of_matrix(matrix: &Matrix, width: u16) -> String {
    let whole = [true, false].map(|is_named| (whole(matrix, is_named), is_named));
    let fits = |(columns, _): &&(Vec<Column>, bool)| {
        matrix.nodes.len() <= MOST_NODES && grid::width(columns) <= width
    };
    let (what, table) = match whole.iter().find(fits) {
        Some((columns, _)) => ("from row to column", grid::fitted(columns, width)),
        None => {
            let shown = count(matrix.nodes.len().min(MOST_ROWS), "node");
            let text = grid::fitted(&worst(matrix), width);
            ("by node, the worst first", text + &format!(" {shown} of {}\n", matrix.nodes.len()))
        }
    };
    let title = title(&[&matrix.bench, &matrix.metric], matrix.unit, what);
    format!("{}\n{table}", Ink::Strong.on(&title))
}

/// A row and a column a node; where names are long, columns are numbered.
fn whole(matrix: &Matrix, is_named: bool) -> Vec<Column> {
    let decimals = decimals(matrix.cells.values().copied());
    let names: Vec<String> = matrix.nodes.iter().map(|node| clean(node)).collect();
    let rows = names.iter().enumerate().map(|(at, name)| match is_named {
        true => name.clone(),
        false => format!("{} {name}", at + 1),
    });
    let mut columns = vec![Column::words("", rows.collect()).unbroken()];
    for (at, name) in names.iter().enumerate() {
        let cell = |row: usize| match matrix.cells.get(&(row, at)) {
            Some(value) => format!("{value:.decimals$}"),
            None if row == at => "-".to_owned(),
            None => String::new(),
        };
        let head = if is_named { name.clone() } else { (at + 1).to_string() };
        columns.push(Column::numbers(head, (0..names.len()).map(cell).collect()));
    }
    columns
}

/// The nodes whose pairs are worst.
fn worst(matrix: &Matrix) -> Vec<Column> {
    let mut rows: Vec<(usize, f64, usize)> = (0..matrix.nodes.len())
        .filter_map(|node| matrix.of_node(node).map(|(median, partners)| (node, median, partners)))
        .collect();
    let sign = if matrix.better == Better::Lower { -1.0 } else { 1.0 };
    rows.sort_by(|one, other| (sign * one.1).total_cmp(&(sign * other.1)).then(one.0.cmp(&other.0)));
    let middle = rows.get(rows.len() / 2).map_or(0.0, |(_, median, _)| *median);
    rows.truncate(MOST_ROWS);
    let decimals = decimals(rows.iter().map(|(_, median, _)| *median));
    let cells = |text: &dyn Fn(&(usize, f64, usize)) -> String| rows.iter().map(text).collect::<Vec<_>>();
    let off = |value: f64| {
        if middle == 0.0 { String::new() } else { signed_share(100.0 * (value - middle) / middle.abs()) }
    };
    let slowest = |node: usize| {
        let own = matrix.cells.iter().filter(|(at, _)| at.0 == node || at.1 == node);
        let worst = own.min_by(|one, other| (sign * one.1).total_cmp(&(sign * other.1)));
        worst.map(|(at, value)| (if at.0 == node { at.1 } else { at.0 }, *value))
    };
    vec![
        Column::words("node", cells(&|(node, ..)| clean(&matrix.nodes[*node]))).unbroken(),
        Column::numbers("partners", cells(&|(.., partners)| partners.to_string())),
        Column::numbers("median", cells(&|(_, median, _)| format!("{median:.decimals$}"))),
        Column::numbers("off", cells(&|(_, median, _)| off(*median))),
        Column::numbers(
            "worst",
            cells(&|(node, ..)| {
                slowest(*node).map_or(String::new(), |(_, value)| format!("{value:.decimals$}"))
            }),
        ),
        Column::words(
            "with",
            cells(&|(node, ..)| slowest(*node).map_or(String::new(), |(with, _)| clean(&matrix.nodes[with]))),
        ),
    ]
}

fn of_steps(found: &AtOnce, width: u16) -> String {
    let left_out = found.steps.len().saturating_sub(MOST_STEPS);
    let steps = &found.steps[left_out..];
    let title = title(&[&found.bench, &found.pattern, &found.metric], found.unit, "flows at the same time");
    let mut text = format!("{}\n", Ink::Strong.on(&title));
    text += &grid::fitted(&columns(found, steps), width);
    if left_out > 0 {
        text += &format!(" {} with fewer flows, in the JSON form\n", count(left_out, "step"));
    }
    let remark = |text: &str| grid::wrapped(text, width);
    if let Some(line) = &found.line {
        let source = if line.is_limit { "its derived limit" } else { "the fastest of those that ran alone" };
        text += &remark(&format!(
            "a flow's line is {}, {source}; full is 0.9 of it or more, half 0.4 to 0.6, third 0.28 to 0.38, starved below \
             0.1, in the repeat whose total is in the middle",
            plain(line.rate)
        ));
    }
    if let Some((links, how)) = match (found.links, found.fitted) {
        (Some(links), _) => Some((links, "as stated")),
        (None, Some(links)) => Some((links, "the number that fits the totals best")),
        (None, None) => None,
    } {
        let links = count(links as usize, "link");
        text += &remark(&format!("hashed is what so many flows come to on average on {links} ({how})"));
    }
    text
}

pub(crate) fn columns(found: &AtOnce, steps: &[Step]) -> Vec<Column> {
    let totals = steps.iter().flat_map(|step| &step.repeats).map(|repeat| repeat.total);
    let decimals = decimals(totals);
    let number = |value: Option<f64>| value.map_or(String::new(), |value| format!("{value:.decimals$}"));
    let cells = |text: &dyn Fn(&Step) -> String| steps.iter().map(text).collect::<Vec<_>>();
    let flows = |step: &Step| match step.flows {
        Some(flows) if flows as usize == step.planned => flows.to_string(),
        Some(flows) => format!("{flows} of {}", step.planned),
        None => format!("not all {}", step.planned),
    };
    let class = |of: fn(&Classes) -> u32| {
        cells(&|step| step.middle().and_then(|it| it.classes).map_or(String::new(), |it| of(&it).to_string()))
    };
    let links = |step: &Step| {
        let line = found.line.as_ref().filter(|line| line.rate > 0.0)?;
        Some(format!("{:.1}", step.best()?.total / line.rate))
    };
    let hashed = |step: &Step| step.flows.and_then(|flows| found.expected(flows));
    let mut columns = vec![
        Column::numbers("flows", cells(&flows)),
        Column::numbers("total", cells(&|step| number(step.median()))),
        Column::numbers("best", cells(&|step| number(step.best().map(|best| best.total)))),
        Column::numbers("lines", cells(&|step| links(step).unwrap_or_default())),
        Column::numbers("hashed", cells(&|step| number(hashed(step)))),
        Column::numbers("full", class(|classes| classes.full)),
        Column::numbers("half", class(|classes| classes.half)),
        Column::numbers("third", class(|classes| classes.third)),
        Column::numbers("starved", class(|classes| classes.starved)),
        Column::numbers("other", class(|classes| classes.other)),
    ];
    columns.retain(|column| !column.is_empty());
    columns
}

fn title(words: &[&str], unit: Unit, what: &str) -> String {
    let unit = if unit == Unit::Count { String::new() } else { format!(" in {unit}") };
    clean(&format!("{}{unit} · {what}", words.join(" · ")))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use seatrial_analysis::{Line, Repeat};
    use seatrial_model::Params;

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

    fn matrix(count: usize, prefix: &str) -> Matrix {
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
        }
    }

    #[test]
    fn few_nodes_are_shown_as_a_matrix() {
        assert_eq!(
            shown(&of_matrix(&matrix(4, "n"), 80)),
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
        let text = shown(&of_matrix(&matrix(10, "compute-node-"), 80));
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines.len(), 13);
        assert_eq!(lines[1], "                     1     2     3     4     5     6     7     8     9    10");
        assert_eq!(lines[4], " 2 compute-node-2          -  4.70  4.70  4.70  4.70  4.70  4.70  4.70  4.70");
    }

    #[test]
    fn of_many_nodes_the_worst_are_shown() {
        let text = shown(&of_matrix(&matrix(12, "n"), 80));
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
        let repeat = |total: &f64| Repeat { total: *total, classes: Some(classes) };
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
            shown(&of_steps(&trunk, 80)),
            "\
net.tcp_stream · trunk · throughput in Gbit/s · flows at the same time
     flows  total   best  lines  hashed  full  half  third  starved  other
──────────────────────────────────────────────────────────────────────────
         1   9.82   9.85    1.0    9.90     1     0      0        0      0
         2  19.60  19.70    2.0   18.15     2     0      0        0      0
         3  19.60  29.00    2.9   25.02     1     2      0        0      0
 not all 4
 a flow's line is 9.90, its derived limit; full is 0.9 of it or more, half 0.4
 to 0.6, third 0.28 to 0.38, starved below 0.1, in the repeat whose total is in
 the middle
 hashed is what so many flows come to on average on 6 links (as stated)
"
        );
    }
}
