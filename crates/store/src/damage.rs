//! Missing or damaged parts of a run, which reading tolerates.

use std::fmt;
use std::path::PathBuf;

/// A file of a run: present, absent or damaged.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Piece<T> {
    Present(T),
    #[default]
    Absent,
    Damaged(Damage),
}

/// Something that should be readable and is not. Its content counts as never written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Damage {
    pub file: PathBuf,
    /// The line, from 1, when only one line is damaged.
    pub line: Option<usize>,
    pub why: String,
}

impl<T> Piece<T> {
    pub fn present(&self) -> Option<&T> {
        match self {
            Piece::Present(value) => Some(value),
            Piece::Absent | Piece::Damaged(_) => None,
        }
    }

    pub fn into_present(self) -> Option<T> {
        match self {
            Piece::Present(value) => Some(value),
            Piece::Absent | Piece::Damaged(_) => None,
        }
    }

    pub fn damage(&self) -> Option<&Damage> {
        match self {
            Piece::Damaged(damage) => Some(damage),
            Piece::Present(_) | Piece::Absent => None,
        }
    }
}

impl fmt::Display for Damage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            Some(line) => write!(f, "{} line {line}: {}", self.file.display(), self.why),
            None => write!(f, "{}: {}", self.file.display(), self.why),
        }
    }
}
