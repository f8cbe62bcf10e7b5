//! One command in the bare root: passed on as it runs, and what it came to.

use std::fmt;
use std::io::{BufRead, BufReader, Read, Write};
use std::process::{ExitStatus, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};

use super::root::Root;
use crate::interrupt::Interrupt;
use crate::test::Counts;

/// How often is looked whether a command ended.
const LOOK_INTERVAL: Duration = Duration::from_millis(200);

/// What the enter script prints of processes that the command did not end.
const LEFT: &str = "left running: ";

/// A command that ran.
#[derive(Debug)]
pub struct Pass {
    line: String,
    user: String,
    code: Option<i32>,
    time: Duration,
    heard: Heard,
}

/// What is understood of the output.
#[derive(Debug, Default)]
struct Heard {
    counts: Option<Counts>,
    left: Option<String>,
}

impl Pass {
    /// Runs `line` as `user` to its end, or to an interrupt.
    ///
    /// # Errors
    /// When it cannot be started or waited for.
    pub fn run(root: &Root, user: &str, line: &str, interrupt: &Interrupt) -> Result<Self> {
        let started = Instant::now();
        let mut command = root.command(user, line);
        let mut child = command.stdout(Stdio::piped()).spawn().context("cannot enter the bare root")?;
        let output = child.stdout.take().context("it has no output")?;
        let reader = std::thread::spawn(move || listen(output, std::io::stdout()));
        let status: ExitStatus = loop {
            if let Some(status) = child.try_wait().context("cannot wait for the bare root")? {
                break status;
            }
            if interrupt.came() {
                // All in the namespace goes with it.
                child.kill().context("cannot end the bare root")?;
            }
            std::thread::sleep(LOOK_INTERVAL);
        };
        let heard = reader.join().ok().context("the reader of the output panicked")?;
        let (line, user) = (line.to_owned(), user.to_owned());
        Ok(Self { line, user, code: status.code(), time: started.elapsed(), heard })
    }

    /// Why this is not what the README promises.
    pub fn fault(&self) -> Option<String> {
        let is_check = self.line.ends_with(" check");
        let is_test = self.line.ends_with(" test");
        match (self.code, self.heard.counts) {
            (Some(0), _) => {}
            // Nothing fell short, and not all could be judged: so it is on virtual machines.
            (Some(3), _) if is_check => {}
            _ => return Some("failed".to_owned()),
        }
        match self.heard.counts {
            None if is_test => Some("told no result".to_owned()),
            Some(counts) if counts.failed > 0 => Some("tests failed".to_owned()),
            Some(counts) if counts.skipped > 0 && self.user == "root" => {
                Some("root has to be able to run every test".to_owned())
            }
            _ => self.heard.left.as_ref().map(|left| format!("left running: {left}")),
        }
    }
}

/// Passes output on and picks out what is needed of it.
fn listen(output: impl Read, mut shown: impl Write) -> Heard {
    let mut heard = Heard::default();
    let mut lines = BufReader::new(output);
    let mut line = Vec::new();
    while lines.read_until(b'\n', &mut line).is_ok_and(|length| length > 0) {
        let text = String::from_utf8_lossy(&line);
        heard.take(text.trim_end());
        // Whoever no longer reads has still asked for the verdict.
        let _ = shown.write_all(&line);
        line.clear();
    }
    heard
}

impl Heard {
    fn take(&mut self, line: &str) {
        self.counts = Counts::read(line).or(self.counts);
        if let Some(left) = line.strip_prefix(LEFT) {
            self.left = Some(left.trim().to_owned());
        }
    }
}

impl fmt::Display for Pass {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let end = self.code.map_or_else(|| "killed".to_owned(), |code| format!("exit {code}"));
        let minutes = self.time.as_secs_f64() / 60.0;
        write!(f, "{} as {}: {end} after {minutes:.1} min", self.line, self.user)?;
        if let Some(counts) = self.heard.counts {
            write!(f, ", {counts}")?;
        }
        write!(f, ": {}", self.fault().as_deref().unwrap_or("as promised"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pass(line: &str, user: &str, code: i32, output: &str) -> Pass {
        let (line, user) = (line.to_owned(), user.to_owned());
        Pass {
            line,
            user,
            code: Some(code),
            time: Duration::from_secs(90),
            heard: listen(output.as_bytes(), std::io::sink()),
        }
    }

    const CHECK: &str = "cargo run --release -- check";
    const TEST: &str = "cargo xtask test";

    #[test]
    fn a_check_that_could_not_judge_all_is_as_promised_and_one_that_fails_is_not() {
        for (code, is_right) in [(0, true), (3, true), (1, false), (2, false), (101, false)] {
            assert_eq!(pass(CHECK, "tester", code, "").fault().is_none(), is_right, "{code}");
        }
        assert_eq!(pass(TEST, "root", 3, "").fault().as_deref(), Some("failed"));
    }

    #[test]
    fn skipped_tests_are_promised_to_a_plain_user_and_not_to_root() {
        let output =
            "9 test programs: 70 passed (5 of them skipped themselves), 0 failed, 2 ignored in 3.0 min\n";
        let user = pass(TEST, "tester", 0, output);
        assert_eq!(
            user.to_string(),
            "cargo xtask test as tester: exit 0 after 1.5 min, 70 passed (5 of them skipped themselves), 0 failed: \
             as promised"
        );
        assert_eq!(pass(TEST, "root", 0, output).fault().unwrap(), "root has to be able to run every test");
        assert_eq!(pass(TEST, "root", 0, &output.replace("(5", "(0")).fault(), None);
        assert_eq!(pass(TEST, "root", 0, "").fault().unwrap(), "told no result");
    }

    #[test]
    fn a_daemon_that_runs_on_is_named() {
        let output = "9 test programs: 70 passed (0 of them skipped themselves), 0 failed, 2 ignored\nleft running: munged sshd \n";
        assert_eq!(pass(TEST, "root", 0, output).fault().unwrap(), "left running: munged sshd");
    }
}
