//! Readings of a probe, and the difference of two readings.

use std::collections::BTreeMap;
use std::fmt;

use super::Line;
use crate::root::{ReadError, SysRoot};

/// The name of a counter, and its value or why it could not be read.
pub type CounterReading = (String, Result<u64, ReadError>);

/// One reading of a probe. Names carry their unit: `steal_ns`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    pub counts: BTreeMap<String, u64>,
    /// Gauges, such as a queue's length, by name.
    pub levels: BTreeMap<String, u64>,
    pub unreadable: Vec<String>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Difference {
    /// Increase of each counter that is in both readings.
    pub counts: BTreeMap<String, u64>,
    pub levels: BTreeMap<String, u64>,
    pub lines: Vec<Line>,
    pub lines_left_out: u64,
    /// Counters that decreased, having been reset or wrapped: nothing can be said about them.
    pub backwards: Vec<String>,
    /// Counters that are in only one of the readings, and errors of either reading.
    pub unreadable: Vec<String>,
}

impl Counters {
    /// Counters from the lines of a file: `add` adds a line's counters, and an unwanted line is noted. `empty` is the
    /// note for a file without any.
    pub(super) fn of_lines(
        root: &SysRoot,
        path: &str,
        wanted: &str,
        empty: &str,
        add: impl Fn(&mut Self, usize, &str) -> Option<()>,
    ) -> Self {
        let mut counters = Self::default();
        match root.text(path) {
            Ok(text) => {
                for (number, line) in text.lines().enumerate() {
                    if add(&mut counters, number, line).is_none() {
                        counters.unreadable(ReadError::garbage(path, line, wanted));
                    }
                }
                if counters.counts.is_empty() && counters.unreadable.is_empty() {
                    counters.unreadable(format_args!("{path} counts nothing: {empty}"));
                }
            }
            Err(error) => counters.unreadable(error),
        }
        counters
    }

    pub fn count(&mut self, name: impl Into<String>, value: u64) {
        self.counts.insert(name.into(), value);
    }

    pub fn level(&mut self, name: impl Into<String>, value: u64) {
        self.levels.insert(name.into(), value);
    }

    pub fn unreadable(&mut self, why: impl fmt::Display) {
        self.unreadable.push(why.to_string());
    }

    /// Takes over `found`, or why it could not be read.
    pub fn take(&mut self, found: Result<Vec<CounterReading>, ReadError>) {
        match found {
            Ok(all) => {
                for (name, value) in all {
                    match value {
                        Ok(value) => self.count(name, value),
                        Err(error) => self.unreadable(error),
                    }
                }
            }
            Err(error) => self.unreadable(error),
        }
    }

    pub fn since(&self, earlier: &Self) -> Difference {
        let mut difference = Difference { levels: self.levels.clone(), ..Difference::default() };
        for (name, &now) in &self.counts {
            match earlier.counts.get(name) {
                Some(&then) if then <= now => {
                    difference.counts.insert(name.clone(), now - then);
                }
                Some(_) => difference.backwards.push(name.clone()),
                None => difference.unreadable.push(format!("{name} appeared between the readings")),
            }
        }
        let gone = earlier.counts.keys().filter(|name| !self.counts.contains_key(*name));
        difference.unreadable.extend(gone.map(|name| format!("{name} vanished between the readings")));
        let mut reasons: Vec<String> = earlier.unreadable.iter().chain(&self.unreadable).cloned().collect();
        reasons.sort_unstable();
        reasons.dedup();
        difference.unreadable.extend(reasons);
        difference
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counters(counts: &[(&str, u64)]) -> Counters {
        let counts = counts.iter().map(|&(name, value)| (name.to_owned(), value)).collect();
        Counters { counts, ..Counters::default() }
    }

    #[test]
    fn lines_are_counted_and_those_that_are_something_else_are_told() {
        let dir = tempfile::tempdir().expect("a folder");
        let root = SysRoot::at(dir.path());
        let read = || {
            Counters::of_lines(&root, "/log", "a number", "nobody wrote", |counters, at, line| {
                counters.count(format!("line {at}"), line.parse().ok()?);
                Some(())
            })
        };
        assert!(read().unreadable[0].contains("does not exist"));
        std::fs::write(dir.path().join("log"), "7\nmany\n9\n").expect("written");
        let found = read();
        assert_eq!(found.counts, counters(&[("line 0", 7), ("line 2", 9)]).counts);
        assert!(
            found.unreadable[0].contains("expected a number") && found.unreadable.len() == 1,
            "{found:?}"
        );
        std::fs::write(dir.path().join("log"), "").expect("written");
        assert_eq!(read().unreadable, ["/log counts nothing: nobody wrote"]);
    }

    #[test]
    fn subtracts_and_never_wraps() {
        let difference =
            counters(&[("a", 7), ("b", 1), ("c", 5)]).since(&counters(&[("a", 3), ("b", 2), ("c", 5)]));
        assert_eq!(difference.counts, counters(&[("a", 4), ("c", 0)]).counts);
        assert_eq!(difference.backwards, ["b"]);
    }

    #[test]
    fn notes_what_appeared_vanished_or_could_not_be_read() {
        let mut earlier = counters(&[("old", 1)]);
        earlier.unreadable("/proc/x does not exist");
        let mut later = counters(&[("new", 1)]);
        later.unreadable("/proc/x does not exist");
        later.level("queue", 3);
        let difference = later.since(&earlier);
        assert!(difference.counts.is_empty());
        assert_eq!(difference.levels["queue"], 3);
        assert_eq!(
            difference.unreadable,
            [
                "new appeared between the readings",
                "old vanished between the readings",
                "/proc/x does not exist"
            ]
        );
    }
}
