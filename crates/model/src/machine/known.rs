//! A value that was read, or the reason why it could not be.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A fact, or why we do not have it; `{"known": …}` or `{"unknown": "why"}` in records.
///
/// The reason is a lowercase fragment meant for a person: what was tried and what the system answered.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Known<T> {
    /// The fact as it was read.
    Known(T),
    /// Why it is not known.
    Unknown(String),
}

impl<T> Known<T> {
    /// An absent fact with its reason.
    pub fn unknown(why: impl Into<String>) -> Self {
        Self::Unknown(why.into())
    }

    /// Whether the fact is there.
    pub const fn is_known(&self) -> bool {
        matches!(self, Self::Known(_))
    }

    /// The fact, if it is there.
    pub const fn known(&self) -> Option<&T> {
        match self {
            Self::Known(value) => Some(value),
            Self::Unknown(_) => None,
        }
    }

    /// The reason, if the fact is not there.
    pub fn why(&self) -> Option<&str> {
        match self {
            Self::Known(_) => None,
            Self::Unknown(why) => Some(why),
        }
    }

    /// The same knowledge by reference.
    pub fn as_ref(&self) -> Known<&T> {
        match self {
            Self::Known(value) => Known::Known(value),
            Self::Unknown(why) => Known::Unknown(why.clone()),
        }
    }

    /// Turns the fact into another; a reason stays as it is.
    pub fn map<U>(self, turn: impl FnOnce(T) -> U) -> Known<U> {
        match self {
            Self::Known(value) => Known::Known(turn(value)),
            Self::Unknown(why) => Known::Unknown(why),
        }
    }

    /// Turns the fact into another that may itself be unknown.
    pub fn and_then<U>(self, turn: impl FnOnce(T) -> Known<U>) -> Known<U> {
        match self {
            Self::Known(value) => turn(value),
            Self::Unknown(why) => Known::Unknown(why),
        }
    }

    /// A second source for when the first does not know; if neither does, both reasons are kept.
    #[must_use]
    pub fn or_else(self, other: impl FnOnce() -> Self) -> Self {
        match self {
            Self::Known(value) => Self::Known(value),
            Self::Unknown(first) => match other() {
                Self::Known(value) => Self::Known(value),
                Self::Unknown(second) => Self::Unknown(format!("{first}; {second}")),
            },
        }
    }
}

/// Absent from the record: it was written before this fact was collected.
impl<T> Default for Known<T> {
    fn default() -> Self {
        Self::unknown("not recorded")
    }
}

/// What was read, or the error's own words.
impl<T, E: std::fmt::Display> From<Result<T, E>> for Known<T> {
    fn from(result: Result<T, E>) -> Self {
        match result {
            Ok(value) => Self::Known(value),
            Err(error) => Self::Unknown(error.to_string()),
        }
    }
}
