//! The pages of benchmarks as text for a terminal: the little Markdown that they use.
//!
//! Headings, paragraphs, lists of one level, tables and fenced code. What is not known is shown as written.

use crate::grid::{self, GridColumn};
use crate::ink::Ink;
use crate::words::clean;

/// One block of a page.
enum Block {
    Heading(String),
    Paragraph(String),
    Items(Vec<String>),
    Table(Vec<Vec<String>>),
    Code(Vec<String>),
}

/// The page, wrapped to `width`.
pub fn text(page: &str, width: u16) -> String {
    let blocks: Vec<String> = blocks(page).iter().map(|block| render(block, width)).collect();
    blocks.join("\n")
}

fn render(block: &Block, width: u16) -> String {
    match block {
        Block::Heading(text) => format!("{}\n", Ink::Strong.on(&inline(text))),
        Block::Paragraph(text) => grid::wrapped(&inline(text), width),
        Block::Items(items) => {
            let rows: Vec<_> = items.iter().map(|item| ("-".to_owned(), inline(item))).collect();
            grid::paragraphs(&rows, width)
        }
        Block::Table(rows) => {
            let cells = |column: usize| {
                let cell = |row: &Vec<String>| row.get(column).map(|cell| inline(cell)).unwrap_or_default();
                rows.iter().skip(1).map(cell).collect()
            };
            let heads = rows.first().into_iter().flatten().enumerate();
            let columns: Vec<GridColumn> =
                heads.map(|(position, head)| GridColumn::words(inline(head), cells(position))).collect();
            grid::fitted(&columns, width)
        }
        Block::Code(lines) => lines.iter().map(|line| format!("    {}\n", clean(line))).collect(),
    }
}

fn blocks(page: &str) -> Vec<Block> {
    let mut blocks = Vec::new();
    let mut lines = page.lines();
    // Whether the line before belongs to the same block as a continuation would.
    let mut open = false;
    while let Some(line) = lines.next() {
        let trimmed = line.trim();
        if trimmed.starts_with("```") {
            let code = lines.by_ref().take_while(|line| !line.trim_start().starts_with("```"));
            blocks.push(Block::Code(code.map(str::to_owned).collect()));
            open = false;
        } else if trimmed.is_empty() {
            open = false;
        } else if trimmed.starts_with('#') {
            blocks.push(Block::Heading(trimmed.trim_start_matches('#').trim().to_owned()));
            open = false;
        } else {
            add_line(&mut blocks, trimmed, open);
            open = true;
        }
    }
    blocks
}

/// Adds a line of a paragraph, a list or a table to the block it belongs to.
fn add_line(blocks: &mut Vec<Block>, line: &str, open: bool) {
    let item = line.strip_prefix("- ").or_else(|| line.strip_prefix("* "));
    match (blocks.last_mut().filter(|_| open), item) {
        (Some(Block::Items(items)), Some(item)) => items.push(item.to_owned()),
        (_, Some(item)) => blocks.push(Block::Items(vec![item.to_owned()])),
        (Some(Block::Table(rows)), None) if line.starts_with('|') => rows.extend(table_row(line)),
        (_, None) if line.starts_with('|') => {
            blocks.push(Block::Table(table_row(line).into_iter().collect()));
        }
        (Some(Block::Items(items)), None) => {
            if let Some(last) = items.last_mut() {
                *last += " ";
                *last += line;
            }
        }
        (Some(Block::Paragraph(text)), None) => {
            *text += " ";
            *text += line;
        }
        (_, None) => blocks.push(Block::Paragraph(line.to_owned())),
    }
}

/// The cells of a row; none for the rule under the head.
fn table_row(line: &str) -> Option<Vec<String>> {
    let is_rule = line.chars().all(|c| matches!(c, '|' | '-' | ':' | ' '));
    let inner = line.trim_matches('|');
    (!is_rule).then(|| inner.split('|').map(|cell| cell.trim().to_owned()).collect())
}

/// Takes the signs of emphasis out, but not out of code, where a star multiplies.
fn inline(text: &str) -> String {
    let spans = text.split('`').enumerate();
    let spans =
        spans.map(|(position, span)| if position % 2 == 1 { span.to_owned() } else { without_stars(span) });
    clean(&spans.collect::<Vec<_>>().join("`"))
}

fn without_stars(text: &str) -> String {
    let characters: Vec<char> = text.chars().collect();
    let is_blank = |position: Option<usize>| {
        position.and_then(|position| characters.get(position)).is_none_or(|c| c.is_whitespace())
    };
    let kept = characters.iter().enumerate().filter(|(position, character)| {
        **character != '*' || (is_blank(position.checked_sub(1)) && is_blank(Some(position + 1)))
    });
    kept.map(|(_, character)| *character).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Style;
    use crate::ink::render_colors;

    #[test]
    fn emphasis_goes_and_products_stay() {
        assert_eq!(inline("*a b*, **c**, 2 * 3 and `x*y`"), "a b, c, 2 * 3 and `x*y`");
    }

    #[test]
    fn paragraphs_and_items_are_joined_and_wrapped() {
        let page = "# Title\n\none\ntwo\n\n- first\n  goes on\n- second\n\n```\n  code *\n```\n";
        let text = render_colors(&text(page, 80), Style::Plain);
        assert_eq!(text, "Title\n\n one two\n\n -  first goes on\n -  second\n\n      code *\n");
    }

    #[test]
    fn a_table_fits_the_width() {
        let long = "word ".repeat(30);
        let page = format!("| a | b |\n|---|---|\n| 1 | {long} |\n");
        let text = render_colors(&text(&page, 60), Style::Plain);
        assert!(text.lines().all(|line| line.chars().count() <= 60), "{text}");
        assert!(text.lines().count() > 3, "{text}");
    }
}
