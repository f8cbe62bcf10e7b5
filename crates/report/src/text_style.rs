//! Colors and width of text for people.

/// Columns of a terminal of unknown width, and of a pipe.
const USUAL_WIDTH: u16 = 80;

/// Least width of tables; a narrower terminal wraps lines by itself.
const LEAST_WIDTH: u16 = 60;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Style {
    #[default]
    Plain,
    /// With escape sequences for colours. Colour never carries information that the text lacks.
    Coloured,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TextStyle {
    pub style: Style,
    width: u16,
}

impl TextStyle {
    /// For a terminal of `width` columns; `None` when there is no terminal.
    pub fn new(style: Style, width: Option<u16>) -> Self {
        Self { style, width: width.unwrap_or(USUAL_WIDTH).max(LEAST_WIDTH) }
    }

    pub fn width(self) -> u16 {
        self.width
    }
}

impl Default for TextStyle {
    fn default() -> Self {
        Self::new(Style::Plain, None)
    }
}
