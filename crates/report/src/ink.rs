//! Colours that survive layout: text is marked first, laid out, and coloured last.
//!
//! A mark is an invisible character without width (Unicode: default ignorable), so that columns align with and
//! without colour. Text from a record is cleaned of such characters first.

use anstyle::{AnsiColor, Style as Ansi};

use crate::Style;

/// The meaning of a piece of text, which decides its colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ink {
    Good,
    Bad,
    Doubt,
    Faint,
    Strong,
}

const INKS: [(Ink, char); 5] = [
    (Ink::Good, '\u{2061}'),
    (Ink::Bad, '\u{2062}'),
    (Ink::Doubt, '\u{2063}'),
    (Ink::Faint, '\u{2064}'),
    (Ink::Strong, '\u{206a}'),
];
const END: char = '\u{2060}';

impl Ink {
    pub fn on(self, text: &str) -> String {
        let mark = INKS.iter().find(|(ink, _)| *ink == self).map_or(END, |(_, mark)| *mark);
        format!("{mark}{text}{END}")
    }

    fn ansi(self) -> Ansi {
        match self {
            Ink::Good => AnsiColor::Green.on_default(),
            Ink::Bad => AnsiColor::Red.on_default().bold(),
            Ink::Doubt => AnsiColor::Yellow.on_default(),
            Ink::Faint => Ansi::new().dimmed(),
            Ink::Strong => Ansi::new().bold(),
        }
    }
}

pub fn is_mark(character: char) -> bool {
    character == END || INKS.iter().any(|(_, mark)| *mark == character)
}

/// Turns marks into colours, or removes them; drops blanks at the ends of lines.
pub fn render_colors(text: &str, style: Style) -> String {
    let mut out = String::with_capacity(text.len());
    for line in text.lines() {
        let mut open: Option<Ink> = None;
        for character in line.trim_end_matches(|c: char| c.is_whitespace() || is_mark(c)).chars() {
            let ink = INKS.iter().find(|(_, mark)| *mark == character).map(|(ink, _)| *ink);
            match (ink, style) {
                (Some(ink), Style::Coloured) => {
                    out += &ink.ansi().render().to_string();
                    open = Some(ink);
                }
                (None, Style::Coloured) if character == END => {
                    out += open.take().map_or("", |_| RESET);
                }
                _ if is_mark(character) => {}
                _ => out.push(character),
            }
        }
        out += open.map_or("", |_| RESET);
        out.push('\n');
    }
    out
}

const RESET: &str = "\u{1b}[0m";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_text_loses_its_marks_and_its_trailing_blanks() {
        assert_eq!(render_colors(&format!("a {}  \n", Ink::Bad.on("b")), Style::Plain), "a b\n");
    }

    #[test]
    fn colour_ends_with_its_line() {
        let text = render_colors(&format!("{}\nnext", Ink::Strong.on("title")), Style::Coloured);
        assert_eq!(text, "\u{1b}[1mtitle\u{1b}[0m\nnext\n");
    }
}
