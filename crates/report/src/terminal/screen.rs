//! The first screen of a result: the verdict, what to act on, the parts, the criteria, and where the rest is.

use seatrial_model::Verdict;
use seatrial_model::record::Document;

use super::series::Series;
use super::verdicts::shortened;
use super::{TerminalContext, actions, findings, headline, next, nodes, pairs, table, tables};
use crate::grid;
use crate::ink::is_mark;
use crate::labels::named;
use crate::notes::Notes;
use crate::view::actions::{Action, with_warnings};
use crate::view::cases::without_added;
use crate::view::criteria::{Criterion, Judgement, Places, table as criteria_table};
use crate::view::headline::listed;
use crate::view::nodes::{is_fleet, shortfall};
use crate::view::parts::{self, Extent};
use crate::view::table::Cell;
use crate::words::{clean, cut_clauses};

/// Lines of the screen for one machine and for a fleet; the last is the path of the page.
const LINES: [usize; 2] = [41, 61];

/// Characters of a reason below the criteria.
const LONGEST_REASON: usize = 140;

/// How many rows of each table, and how many lines of each thing to act on.
#[derive(Clone, Copy)]
struct Room {
    nodes: usize,
    parts: usize,
    criteria: usize,
    actions: usize,
    lines: usize,
}

/// From generous to narrow; the first that fits is taken.
const ROOMS: [Room; 11] = [
    Room { nodes: 16, parts: 16, criteria: 12, actions: 7, lines: 8 },
    Room { nodes: 16, parts: 16, criteria: 12, actions: 7, lines: 3 },
    Room { nodes: 10, parts: 14, criteria: 8, actions: 7, lines: 3 },
    Room { nodes: 10, parts: 14, criteria: 8, actions: 7, lines: 2 },
    Room { nodes: 8, parts: 10, criteria: 6, actions: 7, lines: 2 },
    Room { nodes: 6, parts: 8, criteria: 5, actions: 6, lines: 2 },
    Room { nodes: 5, parts: 8, criteria: 4, actions: 5, lines: 2 },
    Room { nodes: 4, parts: 8, criteria: 3, actions: 4, lines: 2 },
    Room { nodes: 4, parts: 7, criteria: 3, actions: 4, lines: 1 },
    Room { nodes: 4, parts: 6, criteria: 3, actions: 3, lines: 1 },
    Room { nodes: 3, parts: 4, criteria: 3, actions: 3, lines: 1 },
];

pub fn text(document: &Document, context: &TerminalContext<'_>, width: u16) -> String {
    let most = LINES[usize::from(is_fleet(document))];
    let fits = |text: &String| text.lines().count() <= most;
    // Who runs a benchmark wants its numbers; who checks a machine wants its parts.
    let bodies = [Body::Tables(Series::All), Body::Tables(Series::Shared), Body::PartsAndPairs, Body::Parts];
    let is_shown = |body: &&Body| match body {
        Body::Tables(series) => {
            let blocks = tables(document, *series, &mut Notes::default(), width);
            document.verdicts.is_empty() && blocks.iter().all(|text| is_within(text, width))
        }
        _ => true,
    };
    let bodies: Vec<&Body> = bodies.iter().filter(is_shown).collect();
    let head = headline::block(document, width);
    let actions = with_warnings(document, context.abouts);
    let in_room = |room: &Room, body: Body| {
        let rest = in_room(document, context, &actions, *room, body, width);
        if rest.is_empty() { head.clone() } else { format!("{head}\n{rest}") }
    };
    let mut all = bodies.iter().flat_map(|body| ROOMS.iter().map(|room| in_room(room, **body)));
    all.find(fits).unwrap_or_else(|| in_room(&ROOMS[ROOMS.len() - 1], Body::Parts))
}

/// Whether no line of `text` is cut or wrapped; what is wider is left to --details.
fn is_within(text: &str, width: u16) -> bool {
    let columns = |line: &str| line.trim_end().chars().filter(|sign| !is_mark(*sign)).count();
    text.lines().all(|line| columns(line) <= usize::from(width))
}

/// What stands between what to act on and the criteria.
#[derive(Clone, Copy, PartialEq)]
enum Body {
    /// The numbers, benchmark by benchmark.
    Tables(Series),
    /// The parts, and the numbers of each pair of nodes.
    PartsAndPairs,
    Parts,
}

fn in_room(
    document: &Document,
    context: &TerminalContext<'_>,
    actions: &[Action<'_>],
    room: Room,
    body: Body,
    width: u16,
) -> String {
    let mut notes = Notes::default();
    let mut blocks = vec![
        actions::block(document, actions, room.actions, room.lines, width)
            + &next::repeats(document, actions),
        nodes::block(document, room.nodes, &mut notes, width),
    ];
    if let Body::Tables(series) = body {
        blocks.extend(tables(document, series, &mut notes, width));
        blocks.push(findings::good_to_know(document, width));
    } else {
        let laid = [Extent::Bar, Extent::Limit].map(|extent| parts::table(document, room.parts, extent));
        let wide = laid.into_iter().find(|parts| table::fits(parts, width));
        let parts = wide.unwrap_or_else(|| parts::table(document, room.parts, Extent::Share));
        blocks.push(table::block(parts, room.parts, &mut notes, width));
    }
    if body == Body::PartsAndPairs {
        let pairs = pairs::blocks(&without_added(&document.results), width);
        blocks.extend(pairs.into_iter().filter(|text| is_within(text, width)));
    }
    blocks.push(judged(document, room.criteria, &mut notes, width));
    blocks.push(next::block(document, context) + &last_lines(document, context, actions, width));
    blocks.retain(|block| !block.is_empty());
    blocks.join("\n")
}

/// The verdict with the worst to act on, and the page of the run, whose path is for copying.
fn last_lines(document: &Document, context: &TerminalContext<'_>, all: &[Action<'_>], width: u16) -> String {
    let verdict = document.verdict.map(|verdict| verdict.word().to_uppercase());
    let result = [verdict, actions::in_short(document, all)];
    let result = result.into_iter().flatten().collect::<Vec<_>>().join("; ");
    let page = context.folder.map(|folder| format!("page: {}", folder.join("report.html").display()));
    let wrapped = if result.is_empty() { String::new() } else { grid::wrapped(&clean(&result), width) };
    wrapped + &page.map_or(String::new(), |page| format!(" {}\n", clean(&page)))
}

/// A row per criterion, the worst first; those about parts that do not exist are left out.
fn judged<'a>(document: &'a Document, most: usize, notes: &mut Notes, width: u16) -> String {
    let places = Places::of(document);
    let mut all = listed(document, &places);
    // What was not judged says more than what passed.
    let is_passed = |criterion: &Criterion<'_>| criterion.worst.verdict == Verdict::Pass;
    all.sort_by_key(|criterion| {
        (is_passed(criterion), std::cmp::Reverse(criterion.worst.verdict), shortfall(criterion.worst))
    });
    // A line that counts a single row is no shorter than the row.
    let shown = if all.len() == most + 1 { all.len() } else { all.len().min(most) };
    let hidden = all.split_off(shown);
    let is_fleet = is_fleet(document);
    let row = |criterion: &Criterion<'a>| {
        let row = criterion.row(&places);
        if is_fleet {
            return row;
        }
        // On one machine a criterion has one place, and the node goes without saying.
        let subject = row.record.subject.as_str();
        let part = named(subject, "");
        let place = if row.place == "all" || subject != "node" { row.place } else { String::new() };
        let place = if !part.is_empty() && place.ends_with(&part) { part } else { place };
        Judgement { met: Cell::default(), unknown: 0, place, ..row }
    };
    let rows: Vec<Judgement<'_>> = all.iter().map(row).collect();
    let mut table = criteria_table("", &rows, is_fleet, is_fleet);
    // Of what passed only a waiver is of interest.
    for (criterion, row) in all.iter().zip(&mut table.rows) {
        if is_passed(criterion) {
            let is_waiver = |note: &String| Some(note) == criterion.worst.waiver.as_ref();
            row.cells.iter_mut().for_each(|cell| cell.notes.retain(is_waiver));
        }
    }
    table.retain(|_, cells| cells.iter().any(|cell| **cell != Cell::default()));
    let mut table = shortened(table, width);
    for note in table.rows.iter_mut().flat_map(|row| &mut row.cells).flat_map(|cell| &mut cell.notes) {
        *note = cut_clauses(note, LONGEST_REASON);
    }
    for verdict in [Verdict::Fail, Verdict::Unknown, Verdict::Warn, Verdict::Pass, Verdict::Skip] {
        let number = hidden.iter().filter(|criterion| criterion.worst.verdict == verdict).count();
        table.push_hidden(verdict, number);
    }
    table::block(table, usize::MAX, notes, width)
}
