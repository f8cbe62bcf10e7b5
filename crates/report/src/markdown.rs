//! The pages of benchmarks as text for a terminal.

use std::mem::take;

use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};

use crate::grid::{self, GridColumn};
use crate::ink::Ink;
use crate::words::clean;

pub fn text(page: &str, width: u16) -> String {
    let mut blocks = Vec::new();
    // Content of the elements that have not ended yet.
    let (mut text, mut items, mut rows, mut is_item) = (String::new(), Vec::new(), Vec::new(), false);
    for event in Parser::new_ext(page, Options::ENABLE_TABLES) {
        match event {
            Event::Text(words) | Event::Html(words) | Event::InlineHtml(words) => text += &words,
            Event::Code(words) => text += &format!("`{words}`"),
            Event::SoftBreak | Event::HardBreak => text.push(' '),
            Event::Start(Tag::Item) => is_item = true,
            Event::Start(Tag::TableHead | Tag::TableRow) => rows.push(Vec::new()),
            Event::End(TagEnd::Heading(_)) => blocks.push(format!("{}\n", Ink::Strong.on(&ended(&mut text)))),
            Event::End(TagEnd::Paragraph) if !is_item => blocks.push(grid::wrapped(&ended(&mut text), width)),
            Event::End(TagEnd::Item) => {
                items.push(("-".to_owned(), ended(&mut text)));
                is_item = false;
            }
            Event::End(TagEnd::List(_)) => blocks.push(grid::paragraphs(&take(&mut items), width)),
            Event::End(TagEnd::CodeBlock) => {
                let lines = take(&mut text);
                blocks.push(lines.lines().map(|line| format!("    {}\n", clean(line))).collect());
            }
            Event::End(TagEnd::TableCell) => {
                rows.last_mut().into_iter().for_each(|row| row.push(ended(&mut text)));
            }
            Event::End(TagEnd::Table) => blocks.push(table(&take(&mut rows), width)),
            _ => {}
        }
    }
    blocks.join("\n")
}

fn ended(text: &mut String) -> String {
    clean(&take(text))
}

/// A table whose first row is its head.
fn table(rows: &[Vec<String>], width: u16) -> String {
    let heads = rows.first().into_iter().flatten().enumerate();
    let cells = |column: usize| rows.iter().skip(1).filter_map(|row| row.get(column).cloned()).collect();
    let columns: Vec<_> =
        heads.map(|(column, head)| GridColumn::words(head.clone(), cells(column))).collect();
    grid::fitted(&columns, width)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Style;
    use crate::ink::render_colors;

    #[test]
    fn emphasis_goes_and_products_stay() {
        assert_eq!(
            render_colors(&text("*a b*, **c**, 2 * 3 and `x*y`", 80), Style::Plain),
            " a b, c, 2 * 3 and `x*y`\n"
        );
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
