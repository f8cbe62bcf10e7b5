//! The place of each box and line of a map of a given width.

use crate::inventory::LimitText;
use crate::view::map::{MapBox, MapLink, MapResult};
use crate::words::cut;

const PAD: f64 = 10.0;
const GAP: f64 = 8.0;
/// Limits of a box that are named; of more each is beside its result in the list.
const MOST_LIMITS: usize = 3;
/// Width of a box without boxes beside each other inside.
const NARROW: (f64, f64) = (196.0, 300.0);
/// Least width of a box with boxes beside each other inside.
const WIDE: f64 = 420.0;
/// Below this width boxes stand in one column, so that most of them are out of sight.
const ONE_COLUMN: f64 = 400.0;
/// Least width of a column of results.
const RESULT: f64 = 230.0;
/// Mean width of a character in units of the size of the letters.
const CHARACTER: f64 = 0.53;

pub const NAME_SIZE: f64 = 13.0;
pub const TEXT_SIZE: f64 = 11.5;
const NAME_LINE: f64 = 18.0;
pub const TEXT_LINE: f64 = 15.0;
pub const RESULT_LINE: f64 = 24.0;

/// A box with its place and the lines in it.
pub struct Placed<'a> {
    pub of: &'a MapBox,
    pub x: f64,
    pub y: f64,
    pub width: f64,
    pub height: f64,
    pub lines: Vec<Line<'a>>,
    pub inside: Vec<Placed<'a>>,
}

/// A line with the upper left corner of its place.
pub struct Line<'a> {
    pub x: f64,
    pub y: f64,
    pub width: f64,
    pub text: Text<'a>,
}

pub enum Text<'a> {
    Name(String),
    Words(String),
    Quiet(String),
    /// A result, and how the nodes differ.
    Result(&'a MapResult, Vec<String>),
}

impl<'a> Text<'a> {
    fn result(result: &'a MapResult, width: f64) -> Self {
        Self::Result(result, wrapped(result.over_nodes.as_deref().unwrap_or_default(), width))
    }

    fn height(&self) -> f64 {
        match self {
            Self::Name(_) => NAME_LINE,
            Self::Words(_) | Self::Quiet(_) => TEXT_LINE,
            Self::Result(_, below) => RESULT_LINE + TEXT_LINE * below.len() as f64,
        }
    }
}

/// Characters of letters of `size` that fit `width`.
pub fn characters(width: f64, size: f64) -> usize {
    (width / (CHARACTER * size)).max(4.0) as usize
}

/// `drawn` at a place; `has_run` says whether results were looked for.
pub fn place(drawn: &MapBox, (x, y): (f64, f64), width: f64, has_run: bool) -> Placed<'_> {
    let inner = width - 2.0 * PAD;
    let (lines, mut bottom) = lines(drawn, (x + PAD, y + PAD - 2.0), inner, has_run);
    let mut inside = Vec::new();
    let mut rest = drawn.inside.as_slice();
    while let Some(first) = rest.first() {
        let wide = is_wide(first);
        let alike = rest.iter().take_while(|other| is_wide(other) == wide).count();
        let (row, later) = rest.split_at(alike);
        rest = later;
        let columns = columns(wide, row.len(), inner);
        let share = (inner - GAP * (columns as f64 - 1.0)) / columns as f64;
        let column = if wide { share } else { share.min(NARROW.1.max(inner / 3.0)) };
        for boxes in row.chunks(columns) {
            let top = bottom + GAP;
            let at = |at: usize| (x + PAD + at as f64 * (column + GAP), top);
            let start = inside.len();
            inside.extend(
                boxes.iter().enumerate().map(|(number, one)| place(one, at(number), column, has_run)),
            );
            let row: &mut [Placed<'_>] = &mut inside[start..];
            let height = row.iter().map(|one| one.height).fold(0.0, f64::max);
            if !wide {
                row.iter_mut().for_each(|one| one.height = height);
            }
            bottom = top + height;
        }
    }
    Placed { of: drawn, x, y, width, height: bottom + PAD - y, lines, inside }
}

/// Boxes beside each other.
fn columns(is_wide: bool, boxes: usize, inner: f64) -> usize {
    let least = if is_wide { WIDE } else { NARROW.0 };
    let fitting = ((inner + GAP) / (least + GAP)) as usize;
    let fitting = fitting.clamp(1, boxes.max(1));
    // Equal rows: five boxes as three and two, not as four and one.
    boxes.div_ceil(boxes.div_ceil(fitting).max(1)).max(1)
}

fn is_wide(drawn: &MapBox) -> bool {
    drawn.is_place && (drawn.inside.len() > 1 || drawn.inside.iter().any(is_wide))
}

/// The lines of a box from `y` on, and their end.
fn lines(drawn: &MapBox, (x, mut y): (f64, f64), width: f64, has_run: bool) -> (Vec<Line<'_>>, f64) {
    let mut lines = Vec::new();
    let mut texts = vec![Text::Name(cut(&drawn.name, characters(width, NAME_SIZE * 1.2)))];
    texts.extend(wrapped(&drawn.words.join(", "), width).into_iter().map(Text::Words));
    let has_results = drawn.all_results().next().is_some();
    match limits(&drawn.results, drawn.limit.as_ref()) {
        Some(text) if !drawn.is_place => texts.push(Text::Words(text)),
        None if drawn.results.is_empty() && drawn.limit.is_some() => {
            texts.push(Text::Words("limit unknown".to_owned()));
        }
        _ => {}
    }
    if width < ONE_COLUMN {
        texts.extend(drawn.failing.iter().map(|result| Text::result(result, width)));
    }
    if has_run && !has_results && (!drawn.is_place && drawn.limit.is_some()) {
        texts.push(Text::Quiet("not measured".to_owned()));
    }
    y = below_each_other(texts, (x, y), width, &mut lines);
    let columns = (((width + GAP) / (RESULT + GAP)) as usize).clamp(1, drawn.results.len().max(1));
    let column = ((width - GAP * (columns as f64 - 1.0)) / columns as f64).min(NARROW.1);
    for row in drawn.results.chunks(columns) {
        let mut height = 0.0_f64;
        for (at, result) in row.iter().enumerate() {
            let text = Text::result(result, column);
            height = height.max(text.height());
            lines.push(Line { x: x + at as f64 * (column + GAP), y, width: column, text });
        }
        y += height;
    }
    let of_link = |link| {
        let name = wrapped(&link_text(link), width).into_iter().map(Text::Words);
        name.chain(link.results.iter().map(|result| Text::result(result, width)))
    };
    let y = below_each_other(drawn.links.iter().flat_map(of_link), (x, y), width, &mut lines);
    (lines, y)
}

/// Adds a line for each text from `y` on, and gives their end.
fn below_each_other<'a>(
    texts: impl IntoIterator<Item = Text<'a>>,
    (x, mut y): (f64, f64),
    width: f64,
    lines: &mut Vec<Line<'a>>,
) -> f64 {
    for text in texts {
        let height = text.height();
        lines.push(Line { x, y, width, text });
        y += height;
    }
    y
}

fn link_text(link: &MapLink) -> String {
    [link.name.clone()]
        .into_iter()
        .chain(limits(&link.results, link.limit.as_ref()))
        .collect::<Vec<_>>()
        .join(", ")
}

/// `limit 307 GB/s`: the limits of the results, else the limit that follows from the inventory.
fn limits(results: &[MapResult], known: Option<&LimitText>) -> Option<String> {
    let mut values: Vec<&str> = results.iter().filter_map(|result| result.limit.as_deref()).collect();
    values.dedup();
    if values.is_empty() {
        values.extend(known.and_then(|limit| limit.value.as_deref()));
    }
    (1..=MOST_LIMITS).contains(&values.len()).then(|| format!("limit {}", values.join(", ")))
}

/// `text` in lines of at most `width`, broken at blanks.
fn wrapped(text: &str, width: f64) -> Vec<String> {
    let most = characters(width, TEXT_SIZE);
    let mut lines: Vec<String> = Vec::new();
    for word in text.split(' ').filter(|word| !word.is_empty()) {
        let word = cut(word, most);
        match lines.last_mut() {
            Some(line) if line.chars().count() + 1 + word.chars().count() <= most => {
                line.push(' ');
                line.push_str(&word);
            }
            _ => lines.push(word),
        }
    }
    lines
}
