//! What reading tolerates: parts of a run that are missing or damaged.

use std::fmt;
use std::path::PathBuf;

/// One file of a run: there, not there, or not readable as what it should be.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Piece<T> {
    Present(T),
    /// Not written, or not yet.
    #[default]
    Absent,
    /// Written, but not to be read.
    Damaged(Damage),
}

/// Something that should be readable and is not. Whatever it held counts as never written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Damage {
    pub file: PathBuf,
    /// The line, from 1, when only that one is concerned.
    pub line: Option<usize>,
    /// What is wrong with it, as a fragment.
    pub why: String,
}

impl<T> Piece<T> {
    /// The value, when it was read.
    pub fn present(&self) -> Option<&T> {
        match self {
            Piece::Present(value) => Some(value),
            Piece::Absent | Piece::Damaged(_) => None,
        }
    }

    /// The value, when it was read.
    pub fn into_present(self) -> Option<T> {
        match self {
            Piece::Present(value) => Some(value),
            Piece::Absent | Piece::Damaged(_) => None,
        }
    }

    /// What is wrong with it, if something is.
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
