//! Every criterion, also those that are met: what is wanted, where it is met, and the place that is furthest off.

use std::cmp::Reverse;

use super::shown::Shown;
use super::table::{Cell, Head, Row, Table};
use super::words::{of_verdict, text};
use crate::criteria::{Criterion, Places, criteria, measured, short};
use crate::number::signed_share;

/// Rows at most; the JSON form has all.
const MOST: usize = 200;

/// The criteria, the worst first.
pub fn table(shown: &Shown<'_>) -> Table {
    let places = Places::of(shown.document);
    let mut all = criteria(shown.document, &places, |_| true);
    all.sort_by_key(|criterion| Reverse(criterion.worst.verdict));
    let row = |criterion: &Criterion<'_>| {
        let worst = criterion.worst;
        let badge = of_verdict(worst.verdict);
        let to = worst.case.as_deref().map_or(String::new(), |case| shown.place(case));
        let cells = vec![
            Cell::new(text(&worst.criterion)),
            Cell::badge(Some(badge)),
            Cell::new(text(&short(&worst.bound))),
            Cell::new(criterion.where_met()),
            Cell::new(text(&criterion.worst_place(&places))).to(to),
            Cell::new(text(&measured(worst))),
            Cell::new(worst.margin_percent.map_or(String::new(), signed_share)),
        ];
        Row { cells, filter: shown.filter_of([], badge.class), ..Row::default() }
    };
    let mut notes = Vec::new();
    if all.len() > MOST {
        notes.push((String::new(), format!("{} more criteria in the JSON form", all.len() - MOST)));
    }
    let heads = vec![
        Head::words("criterion"),
        Head::words("verdict"),
        Head::words("wanted"),
        Head::words("met in"),
        Head::words("worst on"),
        Head::numbers("measured there", ""),
        Head::numbers("margin", ""),
    ];
    let rows = all.iter().take(MOST).map(row).collect();
    Table { caption: "Criteria, the worst first".to_owned(), heads, rows, notes, ..Table::default() }
}
