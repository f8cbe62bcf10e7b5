//! Matrices as tables whose cells are coloured by distance from the median: numbers first, colour in addition.

use askama::Template;

use super::shown::Shown;
use super::words::{fixed, text};
use crate::view::cases::without_added;
use crate::view::matrix::{Matrix, MatrixValue, MissingValue};
use crate::view::pairs::{matrices, matrix};

/// Nodes of a matrix that is shown whole; of a larger matrix only the worst nodes are shown.
const MOST: usize = 40;

#[derive(Clone, Debug, Default, Template)]
#[template(path = "heat.html")]
pub struct Heat {
    pub caption: String,
    pub corner: String,
    pub columns: Vec<String>,
    /// Names of the rows, and their cells.
    pub rows: Vec<(String, Vec<HeatCell>)>,
    pub note: String,
}

#[derive(Clone, Debug, Default)]
pub struct HeatCell {
    /// The number; empty where nothing was measured.
    pub text: String,
    /// `b4` far on the bad side, `b0` at the median, `g4` far on the good side.
    pub class: String,
    pub detail: String,
    pub to: String,
}

impl Heat {
    /// `place` gives the link to a case in full.
    pub fn new(matrix: &Matrix, place: impl Fn(&str) -> String) -> Self {
        let (decimals, median) = (matrix.decimals(), matrix.median());
        let filled = |at: (usize, usize), found: &MatrixValue| {
            let step = matrix.step(found.value, median);
            HeatCell {
                text: fixed(found.value, decimals),
                class: format!("{}{}", if step < 0 { 'b' } else { 'g' }, step.abs()),
                detail: text(&matrix.detail(at, median)),
                to: found.case.as_deref().map(&place).unwrap_or_default(),
            }
        };
        let lost = |missing: &MissingValue| HeatCell {
            text: missing.word.to_owned(),
            to: place(&missing.case),
            ..HeatCell::default()
        };
        let number = |at| matrix.values.get(&at).map(|found| filled(at, found));
        let cell = |at| number(at).or_else(|| matrix.missing.get(&at).map(lost)).unwrap_or_default();
        let row = |(row, name): (usize, &String)| {
            (text(name), (0..matrix.columns.len()).map(|column| cell((row, column))).collect())
        };
        Self {
            caption: text(&matrix.title),
            corner: text(&matrix.corner()),
            columns: matrix.columns.iter().map(|name| text(name)).collect(),
            rows: matrix.rows.iter().enumerate().map(row).collect(),
            note: [matrix.note.clone()]
                .into_iter()
                .chain(matrix.legend().map(|legend| legend + "."))
                .collect::<Vec<_>>()
                .join(" "),
        }
    }
}

pub fn of_pairs(shown: &Shown<'_>) -> Vec<Heat> {
    let results = without_added(&shown.document.results);
    let found = matrices(&results);
    let heat = |pairs| Heat::new(&matrix(&results, pairs, MOST), |case| shown.place(case));
    found.iter().map(heat).collect()
}
