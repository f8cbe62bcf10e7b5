//! What a probe read, and what changed between two readings.

use std::collections::BTreeMap;
use std::fmt;

use super::Line;
use crate::root::{ReadError, SysRoot};

/// One reading of a probe. Names carry their unit where they have one: `steal_ns`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Numbers that only grow; their difference is what happened.
    pub counts: BTreeMap<String, u64>,
    /// Numbers that go up and down, such as a queue's length; they are kept as they are.
    pub levels: BTreeMap<String, u64>,
    /// Why something could not be read.
    pub unreadable: Vec<String>,
}

/// What changed between two readings of a probe.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Difference {
    /// How far each counter advanced; those that are in both readings.
    pub counts: BTreeMap<String, u64>,
    /// The later reading of each level.
    pub levels: BTreeMap<String, u64>,
    /// Lines that a log gained, in the order of their numbers.
    pub lines: Vec<Line>,
    /// Lines that it gained beyond those, left out because they are many.
    pub lines_left_out: u64,
    /// Counters that went backwards, having been reset or wrapped: nothing can be said about them.
    pub backwards: Vec<String>,
    /// Counters that are in only one of the readings, and what either could not read.
    pub unreadable: Vec<String>,
}

impl Counters {
    /// What the lines of a file count: `add` adds what the line of that number counts, none when it is not `wanted`, which
    /// is noted. `empty` says what a file without anything means.
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

    /// Notes why something is not there.
    pub fn unreadable(&mut self, why: impl fmt::Display) {
        self.unreadable.push(why.to_string());
    }

    /// What changed since an earlier reading of the same probe.
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
