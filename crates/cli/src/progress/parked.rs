//! A terminal whose cursor rests at the top left of the live view.
//!
//! The terminal echoes input (`^C`, keys) at the cursor. Behind the last line an echo would shift the lines, and the
//! next redraw, which counts lines upwards, would leave one behind; at the top left the next redraw overwrites the
//! echo.

use std::io::{self, Write, stderr};
use std::sync::{Mutex, MutexGuard, PoisonError};

use indicatif::TermLike;

/// Columns and rows where the terminal does not tell.
const USUAL: (u16, u16) = (80, 24);

#[derive(Debug, Default)]
pub struct Parked {
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    text: String,
    /// Writes since the last flush: two per line, the text and its padding.
    pieces: usize,
    /// Rows of the view below the cursor.
    below: usize,
}

/// Columns and rows of the terminal on standard error.
pub fn size() -> (u16, u16) {
    let told = terminal_size::terminal_size_of(stderr());
    told.map_or(USUAL, |(width, height)| (width.0, height.0))
}

impl Parked {
    /// The state, with the cursor moved to the end of the view, where drawing expects it.
    fn unparked(&self) -> MutexGuard<'_, State> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let below = std::mem::take(&mut state.below);
        if below > 0 {
            state.text += &format!("\r\x1b[{below}B");
        }
        state
    }

    fn add(&self, text: &str) -> io::Result<()> {
        self.unparked().text += text;
        Ok(())
    }

    fn go(&self, count: usize, letter: char) -> io::Result<()> {
        let mut state = self.unparked();
        if count > 0 {
            state.text += &format!("\x1b[{count}{letter}");
        }
        Ok(())
    }
}

impl TermLike for Parked {
    fn width(&self) -> u16 {
        size().0
    }

    fn height(&self) -> u16 {
        size().1
    }

    fn move_cursor_up(&self, count: usize) -> io::Result<()> {
        self.go(count, 'A')
    }

    fn move_cursor_down(&self, count: usize) -> io::Result<()> {
        self.go(count, 'B')
    }

    fn move_cursor_right(&self, count: usize) -> io::Result<()> {
        self.go(count, 'C')
    }

    fn move_cursor_left(&self, count: usize) -> io::Result<()> {
        self.go(count, 'D')
    }

    fn write_line(&self, text: &str) -> io::Result<()> {
        self.add(&format!("{text}\r\n"))
    }

    fn write_str(&self, text: &str) -> io::Result<()> {
        let mut state = self.unparked();
        state.text += text;
        state.pieces += 1;
        Ok(())
    }

    fn clear_line(&self) -> io::Result<()> {
        self.add("\r\x1b[2K")
    }

    fn flush(&self) -> io::Result<()> {
        let mut state = self.unparked();
        let rows = std::mem::take(&mut state.pieces) / 2;
        let below = rows.saturating_sub(1);
        if rows > 0 {
            state.text.push('\r');
        }
        if below > 0 {
            state.text += &format!("\x1b[{below}A");
        }
        state.below = below;
        let text = std::mem::take(&mut state.text);
        drop(state);
        // In one write, so that no partial view is seen. Standard error may be closed.
        let mut out = stderr().lock();
        out.write_all(text.as_bytes())?;
        out.flush()
    }
}
