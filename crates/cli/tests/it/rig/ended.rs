//! Exit code and output of a command.

use seatrial_model::record::{CaseRecord, Document};

#[derive(Debug)]
pub struct Ended {
    pub code: Option<i32>,
    pub signal: Option<i32>,
    pub out: String,
    pub err: String,
}

impl Ended {
    #[track_caller]
    pub fn exits(self, code: i32) -> Self {
        let Self { code: found, signal, out, err } = &self;
        assert_eq!(
            *found,
            Some(code),
            "signal {signal:?}\n--- standard output\n{out}--- standard error\n{err}"
        );
        self
    }

    #[track_caller]
    pub fn says(self, text: &str) -> Self {
        assert!(flat(&self.err).contains(&flat(text)), "no '{text}' in:\n{}", self.err);
        self
    }

    /// Requires a text on standard output, with any line breaks.
    #[track_caller]
    pub fn shows(self, text: &str) -> Self {
        assert!(flat(&self.out).contains(&flat(text)), "no '{text}' in:\n{}", self.out);
        self
    }

    #[track_caller]
    pub fn document(&self) -> Document {
        serde_json::from_str(&self.out).unwrap_or_else(|error| panic!("{error}:\n{}{}", self.out, self.err))
    }

    #[track_caller]
    pub fn case(&self) -> CaseRecord {
        let mut results = self.document().results;
        assert_eq!(results.len(), 1, "{results:#?}");
        results.remove(0)
    }
}

/// White space collapsed to blanks: tables break lines.
fn flat(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
