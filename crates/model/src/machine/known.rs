//! A value that was read, or the reason why it is unknown.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A value, or why it is unknown; `{"known": …}` or `{"unknown": "why"}` in records.
///
/// The reason is a lowercase fragment for the user: what was tried and what the system answered.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Known<T> {
    /// The value as read.
    Known(T),
    /// Why the value is unknown.
    Unknown(String),
}

impl<T> Known<T> {
    /// An unknown value with its reason.
    pub fn unknown(why: impl Into<String>) -> Self {
        Self::Unknown(why.into())
    }

    /// Whether the value is known.
    pub const fn is_known(&self) -> bool {
        matches!(self, Self::Known(_))
    }

    /// The value, if known.
    pub const fn known(&self) -> Option<&T> {
        match self {
            Self::Known(value) => Some(value),
            Self::Unknown(_) => None,
        }
    }

    /// The reason, if the value is unknown.
    pub fn why(&self) -> Option<&str> {
        match self {
            Self::Known(_) => None,
            Self::Unknown(why) => Some(why),
        }
    }

    /// The same by reference.
    pub fn as_ref(&self) -> Known<&T> {
        match self {
            Self::Known(value) => Known::Known(value),
            Self::Unknown(why) => Known::Unknown(why.clone()),
        }
    }

    /// Maps the value; a reason stays as it is.
    pub fn map<U>(self, turn: impl FnOnce(T) -> U) -> Known<U> {
        match self {
            Self::Known(value) => Known::Known(turn(value)),
            Self::Unknown(why) => Known::Unknown(why),
        }
    }

    /// Maps the value to one that may be unknown.
    pub fn and_then<U>(self, turn: impl FnOnce(T) -> Known<U>) -> Known<U> {
        match self {
            Self::Known(value) => turn(value),
            Self::Unknown(why) => Known::Unknown(why),
        }
    }

    /// A second source where the first does not know; if neither knows, both reasons are kept.
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

impl<T> Known<Vec<T>> {
    /// What is known; nothing where that is unknown.
    pub fn listed(&self) -> &[T] {
        self.known().map_or(&[], Vec::as_slice)
    }
}

/// Absent from the record, which is older than this value.
impl<T> Default for Known<T> {
    fn default() -> Self {
        Self::unknown("not recorded")
    }
}

/// The value, or the text of the error.
impl<T, E: std::fmt::Display> From<Result<T, E>> for Known<T> {
    fn from(result: Result<T, E>) -> Self {
        match result {
            Ok(value) => Self::Known(value),
            Err(error) => Self::Unknown(error.to_string()),
        }
    }
}
