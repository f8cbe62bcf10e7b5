//! How much of the data of a case is verified, as the parameter `verify` says.

use serde::{Deserialize, Serialize};

use crate::param::Params;

/// How much of the data of a case is verified.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verification {
    /// All data that the benchmark can check.
    #[default]
    Full,
    /// A header of each 4 KiB of a block.
    Header,
    /// None.
    None,
}

impl Verification {
    /// Name of the parameter.
    pub const PARAM: &str = "verify";

    /// The words of the parameter.
    pub const WORDS: &[&str] = &["full", "header", "none"];

    /// Verification of a case with these parameters: full where the benchmark has no such parameter, as in records of
    /// earlier versions.
    pub fn of(params: &Params) -> Self {
        match params.text(Self::PARAM) {
            Ok("header") => Self::Header,
            Ok("none") => Self::None,
            _ => Self::Full,
        }
    }

    /// The word of the parameter.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Full => Self::WORDS[0],
            Self::Header => Self::WORDS[1],
            Self::None => Self::WORDS[2],
        }
    }

    /// What was not checked, as a sentence; `None` where all was.
    pub const fn left_out(self) -> Option<&'static str> {
        match self {
            Self::Full => None,
            Self::Header => {
                Some("only the headers of blocks were checked, not their contents (verify=header)")
            }
            Self::None => Some("contents were not checked (verify=none)"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_word_is_read_and_without_one_all_is_verified() {
        for (word, is_full) in Verification::WORDS.iter().zip([true, false, false]) {
            let found = Verification::of(&Params::from([(Verification::PARAM, (*word).into())]));
            assert_eq!((found.word(), found.left_out().is_none()), (*word, is_full));
        }
        assert_eq!(Verification::of(&Params::default()), Verification::Full);
    }
}
