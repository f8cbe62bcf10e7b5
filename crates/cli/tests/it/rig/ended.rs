//! How a command ended and what it printed.

use seatrial_model::record::{CaseRecord, Document};

/// A command that has ended.
#[derive(Debug)]
pub struct Ended {
    /// The exit code, unless a signal ended it.
    pub code: Option<i32>,
    /// The signal that ended it.
    pub signal: Option<i32>,
    pub out: String,
    pub err: String,
}

impl Ended {
    /// Insists on an exit code.
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

    /// Insists on a text on standard error.
    #[track_caller]
    pub fn says(self, text: &str) -> Self {
        assert!(flat(&self.err).contains(&flat(text)), "no '{text}' in:\n{}", self.err);
        self
    }

    /// Insists on a text on standard output, however it is broken into lines.
    #[track_caller]
    pub fn shows(self, text: &str) -> Self {
        assert!(flat(&self.out).contains(&flat(text)), "no '{text}' in:\n{}", self.out);
        self
    }

    /// What `-o json` printed.
    #[track_caller]
    pub fn document(&self) -> Document {
        serde_json::from_str(&self.out).unwrap_or_else(|error| panic!("{error}:\n{}{}", self.out, self.err))
    }

    /// The one case that `-o json` printed.
    #[track_caller]
    pub fn case(&self) -> CaseRecord {
        let mut results = self.document().results;
        assert_eq!(results.len(), 1, "{results:#?}");
        results.remove(0)
    }
}

/// Every run of white space as one blank: tables break their lines where they have to.
fn flat(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
