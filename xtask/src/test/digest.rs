//! Counts what the test programs print, and hides what only repeats the list of passed tests.

use std::fmt;

/// What the test programs said so far. Feed it every line of `cargo test -- --show-output`.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Digest {
    /// Programs that began to run tests.
    pub started: u32,
    /// Programs that came to a result; each crate's doc tests are one.
    pub programs: u32,
    /// Tests passed, those that skipped themselves too.
    pub passed: u32,
    pub failed: u32,
    pub ignored: u32,
    /// Names of failed tests.
    pub failures: Vec<String>,
    /// Names of those that failed among the others and passed by themselves.
    pub flaky: Vec<String>,
    /// Tests that skipped themselves: name, where known, and why.
    pub skipped: Vec<(String, String)>,
    hidden: bool,
    test: String,
}

/// How a test says that it did not look.
const SKIPPED: &str = "skipped: ";

impl Digest {
    /// Takes one line, without its end; says whether a person wants to see it.
    pub fn take(&mut self, line: &str) -> bool {
        if line == "successes:" {
            // Output of passed tests, then their names once more.
            self.hidden = true;
        } else if line == "failures:" {
            self.hidden = false;
        } else if line.starts_with("running ")
            && line.split(' ').nth(2).is_some_and(|word| word.starts_with("test"))
        {
            self.started += 1;
        } else if let Some(counts) = line.strip_prefix("test result: ") {
            self.hidden = false;
            self.test.clear();
            self.count(counts);
        } else if let Some(name) =
            line.strip_prefix("---- ").and_then(|rest| rest.strip_suffix(" stdout ----"))
        {
            name.clone_into(&mut self.test);
        } else if let Some(name) = line.strip_prefix("---- ").and_then(|rest| rest.strip_suffix(" ----")) {
            // libtest-mimic repeats what failed. Its first line of a test that prints holds other words too.
            if !self.failures.iter().any(|other| other == name) {
                self.failures.push(name.to_owned());
            }
        } else if let Some(why) = line.trim_start().strip_prefix(SKIPPED) {
            self.skipped.push((self.test.clone(), why.to_owned()));
        } else if let Some(name) =
            line.strip_prefix("test ").and_then(|rest| rest.strip_suffix(" ... FAILED"))
        {
            // libtest-mimic pads names to one width; libtest finds a test by the name alone.
            self.failures.push(name.trim_end().trim_end_matches(" - should panic").to_owned());
        }
        !self.hidden
    }

    /// Takes over what another lane's programs said.
    pub fn add(&mut self, other: Self) {
        self.started += other.started;
        self.programs += other.programs;
        self.passed += other.passed;
        self.failed += other.failed;
        self.ignored += other.ignored;
        self.failures.extend(other.failures);
        self.flaky.extend(other.flaky);
        self.skipped.extend(other.skipped);
    }

    /// Whether every program that began came to a result: one that died took tests with it that nobody named.
    pub fn is_whole(&self) -> bool {
        self.started == self.programs
    }

    /// Takes a failure back: by itself the test passed.
    pub fn excuse(&mut self, test: &str) {
        if let Some(at) = self.failures.iter().position(|name| name == test) {
            self.flaky.push(self.failures.remove(at));
            self.failed -= 1;
            self.passed += 1;
        }
    }

    fn counts(&self) -> Counts {
        // Lines are counted, and no memory holds 4 billion of them.
        let skipped = u32::try_from(self.skipped.len()).unwrap_or(u32::MAX);
        Counts { passed: self.passed, skipped, failed: self.failed }
    }

    /// Reasons to skip, in the order in which they came, each with the tests that gave it.
    fn skipped_by_reason(&self) -> Vec<(&str, Vec<&str>)> {
        let mut reasons: Vec<(&str, Vec<&str>)> = Vec::new();
        for (test, why) in &self.skipped {
            match reasons.iter_mut().find(|(reason, _)| lasting(reason) == lasting(why)) {
                Some((_, tests)) => tests.push(test),
                None => reasons.push((why, vec![test])),
            }
        }
        reasons
    }

    /// `ok. 3 passed; 0 failed; 1 ignored; ...`
    fn count(&mut self, counts: &str) {
        self.programs += 1;
        let of = |word: &str| {
            let number = counts.split(['.', ';']).find_map(|part| part.trim().strip_suffix(word));
            number.and_then(|number| number.trim().parse::<u32>().ok()).unwrap_or(0)
        };
        self.passed += of("passed");
        self.failed += of("failed");
        self.ignored += of("ignored");
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (why, tests) in self.skipped_by_reason() {
            writeln!(f, "skipped {}: {why}", named(&tests))?;
        }
        for test in &self.flaky {
            writeln!(f, "FLAKY {test}: failed among the others, passed by itself")?;
        }
        for test in &self.failures {
            writeln!(f, "test {test} ... FAILED")?;
        }
        write!(f, "{} test programs: {}, {} ignored", self.programs, self.counts(), self.ignored)
    }
}

/// A reason without the random names of temporary folders, which differ from test to test.
fn lasting(why: &str) -> String {
    let mut parts = why.split(TEMPORARY);
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |text, part| text + TEMPORARY + part.trim_start_matches(char::is_alphanumeric))
}

/// How the names of temporary folders begin.
const TEMPORARY: &str = "/.tmp";

/// The names of tests that say the same: some, and how many more.
fn named(tests: &[&str]) -> String {
    let names: Vec<&str> = tests.iter().copied().filter(|name| !name.is_empty()).take(MOST_NAMES).collect();
    match (tests.len(), names.len()) {
        (1, 1) => names[0].to_owned(),
        (1, _) => "1 test".to_owned(),
        (all, 0) => format!("{all} tests"),
        (all, shown) if shown == all => format!("{all} tests ({})", names.join(", ")),
        (all, shown) => format!("{all} tests ({} and {} more)", names.join(", "), all - shown),
    }
}

/// Names of tests that stand beside a reason to skip them, at most.
const MOST_NAMES: usize = 3;

/// What a whole run of tests came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Counts {
    /// Tests passed, those that skipped themselves too.
    pub passed: u32,
    /// Of these, tests that skipped themselves.
    pub skipped: u32,
    pub failed: u32,
}

impl Counts {
    /// Reads a line of output back, where it is the closing line of a run.
    pub fn read(line: &str) -> Option<Self> {
        let (_, counts) = line.split_once(" test programs: ")?;
        let (passed, rest) = counts.split_once(" passed (")?;
        let (skipped, rest) = rest.split_once(" of them skipped themselves), ")?;
        let (failed, _) = rest.split_once(" failed")?;
        Some(Self {
            passed: passed.parse().ok()?,
            skipped: skipped.parse().ok()?,
            failed: failed.parse().ok()?,
        })
    }
}

impl fmt::Display for Counts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { passed, skipped, failed } = self;
        write!(f, "{passed} passed ({skipped} of them skipped themselves), {failed} failed")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const OUTPUT: &str = "\
running 3 tests
test a::reads_dmi ... ok
test a::adds ... ok
test a::breaks      ... FAILED

successes:

---- a::reads_dmi stdout ----
skipped: no permission to read the DMI table

successes:
    a::adds
    a::reads_dmi

failures:

---- a::breaks stdout ----
assertion failed

failures:
    a::breaks

test result: FAILED. 2 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s
running 2 tests
test result: ok. 1 passed; 0 failed; 1 ignored; 0 measured; 4 filtered out; finished in 0.00s";

    #[test]
    fn a_failure_of_a_test_that_prints_is_named_once() {
        let mut digest = Digest::default();
        for line in [
            "test prints   ... a word",
            "FAILED",
            "test breaks ... FAILED",
            "failures:",
            "---- prints ----",
            "---- breaks ----",
        ] {
            digest.take(line);
        }
        assert_eq!(digest.failures, ["breaks", "prints"]);
    }

    #[test]
    fn counts_all_programs_and_names_failures_and_skips() {
        let mut digest = Digest::default();
        OUTPUT.lines().for_each(|line| {
            digest.take(line);
        });
        assert_eq!((digest.started, digest.programs), (2, 2));
        assert_eq!((digest.passed, digest.failed, digest.ignored), (3, 1, 1));
        assert_eq!(digest.failures, ["a::breaks"]);
        let why = "no permission to read the DMI table".to_owned();
        assert_eq!(digest.skipped, [("a::reads_dmi".to_owned(), why)]);
    }

    #[test]
    fn hides_passed_output_and_shows_failures_and_results() {
        let mut digest = Digest::default();
        let shown: Vec<&str> = OUTPUT.lines().filter(|line| digest.take(line)).collect();
        assert!(shown.contains(&"assertion failed"), "{shown:?}");
        assert!(shown.contains(&"test a::adds ... ok"), "{shown:?}");
        assert_eq!(shown.iter().filter(|line| line.starts_with("test result:")).count(), 2);
        assert!(!shown.iter().any(|line| line.contains("skipped:") || *line == "    a::adds"), "{shown:?}");
    }

    #[test]
    fn a_program_that_dies_is_missed() {
        let mut digest = Digest::default();
        for line in ["running 1 test", "test a::adds ... ok", "running along", "running 2 tests"] {
            digest.take(line);
        }
        assert!(!digest.is_whole());
        digest.take("test result: ok. 1 passed; 0 failed; 0 ignored");
        assert!(!digest.is_whole());
        digest.take("test result: ok. 2 passed; 0 failed; 0 ignored");
        assert!(digest.is_whole());
    }

    #[test]
    fn a_test_that_should_panic_is_named_as_libtest_finds_it() {
        let mut digest = Digest::default();
        digest.take("test a::too_long - should panic ... FAILED");
        assert_eq!(digest.failures, ["a::too_long"]);
    }

    #[test]
    fn who_passes_by_itself_is_no_failure_but_is_named() {
        let mut digest = Digest::default();
        OUTPUT.lines().for_each(|line| {
            digest.take(line);
        });
        assert!(digest.to_string().contains("test a::breaks ... FAILED\n"), "{digest}");
        digest.excuse("nobody");
        assert_eq!((digest.passed, digest.failed), (3, 1));
        digest.excuse("a::breaks");
        assert_eq!((digest.passed, digest.failed, digest.failures.len()), (4, 0, 0));
        assert!(digest.to_string().contains("FLAKY a::breaks: failed among the others"), "{digest}");
    }

    #[test]
    fn the_last_line_tells_the_whole() {
        let digest = Digest { programs: 2, passed: 3, failed: 1, ignored: 0, ..Digest::default() };
        let text = digest.to_string();
        assert_eq!(text, "2 test programs: 3 passed (0 of them skipped themselves), 1 failed, 0 ignored");
    }
    #[test]
    fn tests_skipped_for_the_same_reason_stand_in_one_line() {
        let mut digest = Digest::default();
        for number in 1..=5 {
            digest.take(&format!("---- a::{number} stdout ----"));
            digest.take("skipped: namespaces need root");
        }
        digest.take("---- b stdout ----");
        digest.take("skipped: there is no pip3");
        digest.take("test result: ok. 6 passed; 0 failed");
        // Trials of the lab stand on a line that does not end with their names.
        digest.take("skipped: the lab needs root");
        digest.take("skipped: the lab needs root");
        let text = digest.to_string();
        let wanted = "\
skipped 5 tests (a::1, a::2, a::3 and 2 more): namespaces need root
skipped b: there is no pip3
skipped 2 tests: the lab needs root
";
        assert!(text.starts_with(wanted), "{text}");
        assert!(text.contains("6 passed (8 of them skipped themselves)"), "{text}");
    }

    #[test]
    fn reasons_that_differ_in_a_temporary_folder_only_are_the_same() {
        let mut digest = Digest::default();
        digest.take("skipped: cannot mount /tmp/.tmp6Ypi1p/disk: not root");
        digest.take("skipped: cannot mount /tmp/.tmpxZaG9Z/disk: not root");
        digest.take("skipped: cannot mount /tmp/.tmpxZaG9Z/other: not root");
        let text = digest.to_string();
        assert!(
            text.starts_with("skipped 2 tests: cannot mount /tmp/.tmp6Ypi1p/disk: not root\nskipped 1 test:"),
            "{text}"
        );
    }

    #[test]
    fn the_closing_line_can_be_read_back_and_no_other_line_is_taken_for_it() {
        let mut digest = Digest { programs: 2, passed: 3, failed: 1, ignored: 4, ..Digest::default() };
        digest.skipped.push(("a".to_owned(), "no root".to_owned()));
        let line = format!("{digest} in 3.2 min");
        let counts = line.lines().find_map(Counts::read);
        assert_eq!(counts, Some(Counts { passed: 3, skipped: 1, failed: 1 }));
        assert_eq!(Counts::read("test result: ok. 3 passed; 0 failed"), None);
    }
}
