//! The definition of a parameter, from which flags, TOML keys, help and docs are made.

use super::{Kind, Value};
use crate::name::did_you_mean;

/// The definition of one parameter of a benchmark.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
pub struct ParamSpec {
    /// The name, as typed behind `-p`.
    pub name: &'static str,
    /// One sentence for help and docs.
    pub doc: &'static str,
    /// Type and range of the values.
    pub kind: Kind,
    /// A word accepted besides the type, such as `auto`; `doc` says what it means.
    pub word: Option<&'static str>,
    /// The default, as typed.
    pub default: &'static str,
}

impl ParamSpec {
    /// A parameter without word and sentence, which [`Self::word`] and [`Self::doc`] add.
    pub const fn new(name: &'static str, kind: Kind, default: &'static str) -> Self {
        Self { name, doc: "", kind, word: None, default }
    }

    /// Adds a word that is accepted besides the type.
    #[must_use]
    pub const fn word(self, word: &'static str) -> Self {
        Self { word: Some(word), ..self }
    }

    /// Adds the sentence for help and docs.
    #[must_use]
    pub const fn doc(self, doc: &'static str) -> Self {
        Self { doc, ..self }
    }
}

/// Why a parameter was refused.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ParamError {
    /// The benchmark has no such parameter.
    #[error("{bench} has no parameter '{name}' (it has {known}){}", did_you_mean(.nearest))]
    Unknown {
        /// Id of the benchmark.
        bench: String,
        /// The name as typed.
        name: String,
        /// The nearest existing name.
        nearest: Option<String>,
        /// All names, comma separated.
        known: String,
    },
    /// The value does not fit type or range.
    #[error("parameter '{name}' of {bench}: {why}")]
    Invalid {
        /// Id of the benchmark.
        bench: String,
        /// Name of the parameter.
        name: String,
        /// What is wrong with the value.
        why: String,
    },
    /// A case without the parameter reached a worker.
    #[error("the case has no parameter '{name}' that is {wanted}")]
    Missing {
        /// Name of the parameter.
        name: String,
        /// The type of the parameter.
        wanted: &'static str,
    },
}

impl ParamError {
    pub(super) fn missing(name: &str, wanted: &'static str) -> Self {
        ParamError::Missing { name: name.to_owned(), wanted }
    }
}

impl ParamSpec {
    /// Parses `typed` into the canonical value; an error is a fragment that says what is wrong.
    pub fn parse(&self, typed: &str) -> Result<Value, String> {
        if self.word == Some(typed.trim()) {
            return Ok(Value::from(typed.trim()));
        }
        self.kind.parse(typed).map_err(|why| match self.word {
            Some(word) => format!("{why}; '{word}' is allowed too"),
            None => why,
        })
    }

    /// The default as a value.
    ///
    /// # Panics
    /// When the default of the definition does not parse; the conformance test checks every definition.
    pub fn default_value(&self) -> Value {
        match self.parse(self.default) {
            Ok(value) => value,
            Err(why) => panic!("default of parameter '{}': {why}", self.name),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::Bytes;

    const SIZE: ParamSpec = ParamSpec {
        name: "array",
        doc: "Size of an array.",
        kind: Kind::Size(Bytes::kib(4), Bytes::gib(1024)),
        word: Some("auto"),
        default: "auto",
    };

    #[test]
    fn a_size_becomes_canonical_text_and_auto_stays_a_word() {
        assert_eq!(SIZE.parse("65536"), Ok(Value::from("64 KiB")));
        assert_eq!(SIZE.default_value(), Value::from("auto"));
    }

    #[test]
    fn absurd_and_negative_sizes_are_refused_with_the_range() {
        let error = SIZE.parse("1 PiB").unwrap_err();
        assert!(error.contains("outside 4 KiB to 1 TiB"), "{error}");
        assert!(SIZE.parse("-4 KiB").unwrap_err().contains("cannot be negative"));
    }

    #[test]
    fn a_choice_suggests_the_nearest_word() {
        let error = Kind::Choice(&["copy", "triad"]).parse("traid").unwrap_err();
        assert_eq!(error, "'traid' is not one of copy, triad; did you mean 'triad'?");
    }

    #[test]
    fn nan_is_outside_every_range() {
        assert!(Kind::Number(0.0, 1.0).parse("NaN").is_err());
    }
}
