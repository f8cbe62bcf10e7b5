//! Programs that copy: run to their end, or to that of the phase.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};
use std::sync::mpsc::channel;
use std::thread;
use std::time::Duration;

use rustix::fs::{MemfdFlags, memfd_create};
use rustix::process::{Pid, Signal, kill_process_group};
use seatrial_bench::Stop;
use seatrial_model::{Cause, Nanos, Reason};
use seatrial_sys::clock::now_ns;
use seatrial_sys::process::leave_with_parent;

use super::busiest::Busiest;

/// How often the end of the phase is looked at; a program that ends is seen at once.
const POLL_INTERVAL: Duration = Duration::from_millis(10);

/// Polls between two looks at the CPU times.
const POLLS_OF_LOOK: u32 = 10;

/// Bytes of what the programs print that are read, and that are kept: the last ones.
const MOST_WORDS: u64 = 64 << 10;
const MOST_KEPT: usize = 4096;

/// Programs that ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ended {
    /// When the last of them did.
    pub at: Nanos,
    /// The end of what they printed.
    pub words: String,
    pub is_success: bool,
}

impl Ended {
    /// So much of the words as a record takes.
    pub fn last_words(&self) -> &str {
        let mut start = self.words.len().saturating_sub(MOST_KEPT);
        while !self.words.is_char_boundary(start) {
            start += 1;
        }
        &self.words[start..]
    }
}

/// Runs `commands`, of which each writes into the next, and looks at the CPU times of their threads; `None` when `stop` came
/// first, which ends them.
///
/// # Errors
/// When one does not start.
pub fn run(commands: Vec<Command>, stop: &Stop, busiest: &mut Busiest) -> Result<Option<Ended>, Reason> {
    let failed = |error: io::Error| Reason::new(Cause::Missing, format!("starting the tool: {error}"));
    // A file, so that nobody waits for a program in the background that keeps it open, such as a master of ssh.
    let printed = memfd_create("words", MemfdFlags::CLOEXEC).map_err(|errno| failed(errno.into()))?;
    let printed = File::from(printed);
    let (mut children, mut groups, mut input) = (Vec::new(), Vec::new(), Stdio::null());
    let last = commands.len().saturating_sub(1);
    for (number, mut command) in commands.into_iter().enumerate() {
        let own = || printed.try_clone().map(Stdio::from).map_err(failed);
        let output = if number == last { own()? } else { Stdio::piped() };
        command.stdin(input).stdout(output).stderr(own()?).process_group(0);
        let mut child = leave_with_parent(&mut command).spawn().map_err(|error| {
            end(&groups);
            let program = command.get_program().display();
            Reason::new(Cause::Missing, format!("starting {program}: {error}"))
        })?;
        input = child.stdout.take().map_or_else(Stdio::null, Stdio::from);
        groups.push(Pid::from_child(&child));
        children.push(child);
    }
    drop(input);
    let (tell, ends) = channel();
    let (mut ended, mut is_cut) = (Ended { at: Nanos(0), words: String::new(), is_success: true }, false);
    thread::scope(|scope| {
        for mut child in children {
            let tell = tell.clone();
            scope.spawn(move || {
                let status = child.wait();
                // The receiver waits for all.
                let _ = tell.send((status.is_ok_and(|status| status.success()), Nanos(now_ns())));
            });
        }
        let (mut left, mut polls) = (groups.len(), 0);
        while left > 0 {
            if let Ok((is_success, at)) = ends.recv_timeout(POLL_INTERVAL) {
                left -= 1;
                ended.is_success &= is_success;
                ended.at = ended.at.max(at);
                continue;
            }
            if stop.is_over() && !is_cut {
                is_cut = true;
                end(&groups);
            }
            polls += 1;
            if polls % POLLS_OF_LOOK == 0 {
                busiest.look();
            }
        }
    });
    ended.words = last_words(&printed);
    Ok((!is_cut).then_some(ended))
}

fn end(groups: &[Pid]) {
    for group in groups {
        // Those that have ended are gone.
        let _ = kill_process_group(*group, Signal::KILL);
    }
}

fn last_words(printed: &File) -> String {
    let length = printed.metadata().map_or(0, |about| about.len());
    let start = length.saturating_sub(MOST_WORDS);
    let mut words = vec![0; (length - start) as usize];
    match printed.read_exact_at(&mut words, start) {
        Ok(()) => String::from_utf8_lossy(&words).trim().to_owned(),
        Err(_) => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(line: &str) -> Command {
        let mut command = Command::new("sh");
        command.args(["-c", line]);
        command
    }

    fn ran(commands: Vec<Command>, stop: &Stop) -> Result<Option<Ended>, Reason> {
        run(commands, stop, &mut Busiest::of_this_process())
    }

    #[test]
    fn programs_write_into_each_other_and_their_words_and_failures_are_kept() {
        let long = Stop::after(Duration::from_secs(600));
        let ended = ran(vec![shell("echo one; echo beside >&2"), shell("sed s/one/two/")], &long);
        let ended = ended.expect("started").expect("not cut off");
        let mut lines: Vec<&str> = ended.words.lines().collect();
        lines.sort_unstable();
        assert_eq!((lines, ended.is_success), (vec!["beside", "two"], true));
        let failed = ran(vec![shell("exit 3"), shell("cat")], &long).expect("started").expect("ended");
        assert!(!failed.is_success);
        let why = ran(vec![Command::new("/there/is/no/tool")], &long).expect_err("absent");
        assert!(why.cause == Cause::Missing && why.text.contains("/there/is/no/tool"), "{why}");
    }

    #[test]
    fn a_program_and_what_it_started_end_with_the_phase() {
        let soon = Stop::after(Duration::from_millis(30));
        assert_eq!(ran(vec![shell("sleep 1000 & sleep 1000")], &soon), Ok(None));
    }
}
