//! Runs the tests and passes their output on, line by line.

use std::io::{BufRead, BufReader, Write};
use std::process::{ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, anyhow, ensure};

use super::lanes::{self, Lane};
use super::{Digest, groups};
use crate::packages;
use crate::workspace;

/// Run all tests of the workspace, doc tests too; those that measure in virtual machines are `cargo xtask ci guests`.
///
/// As root on Debian it installs the packages that the tests need, and starts no daemon of theirs. Otherwise it says which
/// groups of tests cannot run, and the command that lets them: those tests say that they were skipped. With CI=true in
/// the environment nothing may be missing or skipped.
#[derive(clap::Args)]
pub struct Args {
    /// Arguments for `cargo test`, for example `-p seatrial-stats -- median`.
    #[arg(last = true, value_name = "ARGS")]
    pub args: Vec<String>,
}

/// The arguments of `cargo test` for the tests that measure in virtual machines.
///
/// # Errors
/// When the folders of tests cannot be read.
pub fn guests() -> Result<Vec<String>> {
    lanes::guests(workspace::root()).context("cannot list the test programs")
}

/// Runs the tests.
///
/// # Errors
/// When a test fails, something does not compile, or, in continuous integration, a test was skipped.
pub fn run(args: &Args) -> Result<()> {
    let missing = packages::supplied(&groups::packages())?;
    let rights = groups::Rights { is_root: packages::is_root(), has_apt: packages::has_apt() };
    let not_run = groups::not_run(&missing, rights);
    if let Some(text) = &not_run {
        ensure!(!workspace::is_ci(), "{text}");
        eprintln!("{text}\n");
    }
    let little_room = little_room()?;
    if let Some(text) = &little_room {
        eprintln!("{text}\n");
    }
    let started = Instant::now();
    let mut digest = Digest::default();
    if !is_narrowed(&args.args) {
        // All programs, among them those that tests of another package start.
        workspace::run(&mut workspace::cargo(["test", "--locked", "--workspace", "--no-run"]))?;
    }
    let mut passed = if args.args.is_empty() {
        pass_of_all(&mut digest)?
    } else {
        pass(&args.args, &[cargo_arguments(&args.args)], &mut digest)?
    };
    if let Some(arguments) = alone(&args.args).filter(|_| passed) {
        passed = pass(&args.args, &[arguments], &mut digest)?;
    }
    let minutes = started.elapsed().as_secs_f64() / 60.0;
    println!("{digest} in {minutes:.1} min");
    if let Some(text) = &not_run {
        println!("{text}");
    }
    if let Some(text) = little_room.filter(|_| !passed) {
        println!("{text}");
    }
    // The same for programs, in the plainest form there is: the last result that cargo prints is of one crate only.
    println!("tests: {} passed, {} failed", digest.passed, digest.failed);
    // A failure that nobody named was not run again.
    ensure!(passed && digest.failed == 0, "tests failed, or a test program did not come to its end");
    ensure!(
        !workspace::is_ci() || digest.skipped.is_empty(),
        "{} tests were skipped, and CI=true allows none",
        digest.skipped.len()
    );
    Ok(())
}

/// Free bytes from which on a run from nothing, `.ci/run` with its other stages too, comes to its end: it was measured to
/// take 10.4 GB at most.
const ROOM: u64 = 11_000_000_000;

/// What to say where the disk may become full during the tests.
fn little_room() -> Result<Option<String>> {
    let told = rustix::fs::statvfs(workspace::root()).context("cannot ask for the free space")?;
    let free = told.f_bavail * told.f_frsize;
    let gigabytes = |bytes: u64| bytes as f64 / 1e9;
    Ok((free < ROOM).then(|| {
        format!(
            "{:.1} GB are free here, and a build and its tests take up to {:.0} GB: when the disk is full, tests fail that \
             have nothing to do with it",
            gigabytes(free),
            gigabytes(ROOM)
        )
    }))
}

/// Failed tests that are run once more. Where more fail, it is the change that is at fault and not the machine.
const MOST_AGAIN: usize = 8;

/// How often each of them is run once more, at most.
const TRIES_AGAIN: usize = 2;

/// All tests of the workspace, in lanes side by side.
fn pass_of_all(digest: &mut Digest) -> Result<bool> {
    let lanes = lanes::lanes(workspace::root()).context("cannot list the test programs")?;
    let whole = |words: Vec<String>| cargo_arguments(&words);
    let lanes: Vec<Lane> = lanes.into_iter().map(|lane| lane.into_iter().map(whole).collect()).collect();
    let before = digest.failures.len();
    let passed = thread::scope(|scope| {
        let lane = |lane: Lane| {
            move || -> Result<(bool, Digest)> {
                let mut digest = Digest::default();
                Ok((run_lane(&lane, &mut digest)?, digest))
            }
        };
        let lanes: Vec<_> = lanes.into_iter().map(|words| scope.spawn(lane(words))).collect();
        let mut all = true;
        for lane in lanes {
            let (passed, told) = lane.join().map_err(|_| anyhow!("a lane of tests panicked"))??;
            all &= passed;
            digest.add(told);
        }
        anyhow::Ok(all)
    })?;
    again(&[], passed, before, digest)
}

/// The runs of `cargo test` of one lane; what fails in them is run again. Whether all passed in the end.
fn pass(given: &[String], lane: &[Vec<String>], digest: &mut Digest) -> Result<bool> {
    let before = digest.failures.len();
    let passed = run_lane(lane, digest)?;
    again(given, passed, before, digest)
}

/// Runs the commands of a lane one after the other; whether all succeeded.
fn run_lane(lane: &[Vec<String>], digest: &mut Digest) -> Result<bool> {
    let mut passed = true;
    for arguments in lane {
        passed &= test(arguments, digest, Try::First)?.success();
    }
    Ok(passed)
}

/// Runs what failed since `before` again, with nothing beside it. Whether all passed in the end.
///
/// Tests share the machine with each other and with other programs. One that passes by itself is told as flaky: it has to be
/// mended, but it does not hold up a change that has nothing to do with it.
fn again(given: &[String], passed: bool, before: usize, digest: &mut Digest) -> Result<bool> {
    let failed = digest.failures[before..].to_vec();
    if passed || failed.is_empty() || failed.len() > MOST_AGAIN || !digest.is_whole() {
        return Ok(passed);
    }
    for name in &failed {
        for again in 1..=TRIES_AGAIN {
            eprintln!("== by itself, {again} of {TRIES_AGAIN}: {name}");
            let mut once = Digest::default();
            let which = if again == TRIES_AGAIN { Try::Last } else { Try::First };
            if test(&by_itself(given, name), &mut once, which)?.success() && once.passed > 0 {
                digest.excuse(name);
                break;
            }
        }
    }
    Ok(digest.failures.is_empty())
}

/// Whether a failure is the last word on its test.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Try {
    First,
    Last,
}

/// What is shown instead of a line that says that a test failed, while it may yet pass: whoever reads the output finds
/// `FAILED` only where that is the end of it.
fn not_the_end_yet(line: &str) -> Option<String> {
    let name = line.strip_prefix("test ").and_then(|rest| rest.strip_suffix(" ... FAILED"));
    let counts = || line.strip_prefix("test result: FAILED. ");
    name.map(|name| format!("did not pass this time: {}", name.trim_end()))
        .or_else(|| counts().map(|counts| format!("this time: {counts}")))
}

/// Of one test alone, wherever it lies.
fn by_itself(given: &[String], name: &str) -> Vec<String> {
    let border = given.iter().position(|word| word == "--").unwrap_or(given.len());
    let mut words = cargo_arguments(&given[..border]);
    words.extend(["--include-ignored", "--test-threads=1", "--exact", name].map(str::to_owned));
    words
}

/// Whether certain packages are meant.
fn is_narrowed(to_cargo: &[String]) -> bool {
    to_cargo.iter().any(|word| word.starts_with("-p") || word.starts_with("--package"))
}

/// Ours around those of the person: `--show-output` makes passed tests give away why they skipped themselves.
fn cargo_arguments(given: &[String]) -> Vec<String> {
    let (to_cargo, to_tests) = match given.iter().position(|word| word == "--") {
        Some(border) => (&given[..border], &given[border + 1..]),
        None => (given, &[][..]),
    };
    let mut words = vec!["test", "--locked", "--no-fail-fast"];
    if !is_narrowed(to_cargo) {
        words.push("--workspace");
    }
    words.extend(to_cargo.iter().map(String::as_str));
    words.extend(["--", "--show-output"]);
    words.extend(to_tests.iter().map(String::as_str));
    words.into_iter().map(str::to_owned).collect()
}

/// Those that need the machine for themselves, because what they hold against a counted truth would be another thing on
/// a processor that other tests share: they are ignored in the run of all, and have `alone` in their names. None when the
/// person asked for certain tests.
fn alone(given: &[String]) -> Option<Vec<String>> {
    if given.iter().any(|word| word == "--" || word == "--test") {
        return None;
    }
    // No doc test is one of them.
    let mut words = cargo_arguments(&[given, &["--tests".to_owned()]].concat());
    words.extend(["--ignored", "--test-threads=1", "alone"].map(str::to_owned));
    Some(words)
}

/// A test that keeps its program waiting for longer is named: that is where the minutes of a run go.
const LONG: Duration = Duration::from_secs(20);

fn test(args: &[String], digest: &mut Digest, which: Try) -> Result<ExitStatus> {
    let mut command = workspace::cargo(args);
    eprintln!("> {}", workspace::show(&command));
    let mut child = command.stdout(Stdio::piped()).spawn().context("cannot start cargo test")?;
    let output = child.stdout.take().context("cargo test has no output")?;
    let mut lines = BufReader::new(output);
    let mut line = Vec::new();
    // Of lanes side by side each program's output stays together: it is shown when the program's result is there.
    let mut shown = Vec::new();
    let show = |shown: &mut Vec<u8>| {
        let mut out = std::io::stdout().lock();
        let written = out.write_all(shown).and_then(|()| out.flush());
        shown.clear();
        written.context("cannot write to standard output")
    };
    let mut last = Instant::now();
    // Bytes, because a test may print what is not a text.
    while lines.read_until(b'\n', &mut line).context("cannot read the output of cargo test")? > 0 {
        let text = String::from_utf8_lossy(&line);
        let is_shown = digest.take(text.trim_end());
        if text.starts_with("running ") {
            last = Instant::now();
        } else if text.starts_with("test ") {
            let waited = last.elapsed();
            if waited >= LONG {
                eprintln!("{} s until {}", waited.as_secs(), text.trim_end());
            }
            last = Instant::now();
        }
        let instead = Some(text.trim_end()).filter(|_| which == Try::First).and_then(not_the_end_yet);
        if is_shown {
            shown.extend(instead.map_or_else(|| line.clone(), |text| format!("{text}\n").into_bytes()));
        }
        if text.starts_with("test result: ") {
            show(&mut shown)?;
        }
        line.clear();
    }
    show(&mut shown)?;
    let status = child.wait().context("cannot wait for cargo test")?;
    Ok(status)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<String> {
        text.split_whitespace().map(str::to_owned).collect()
    }

    #[test]
    fn without_arguments_the_whole_workspace_is_tested() {
        assert_eq!(cargo_arguments(&[]), words("test --locked --no-fail-fast --workspace -- --show-output"));
    }

    #[test]
    fn those_that_need_the_machine_come_last_and_only_when_nobody_chose() {
        let words_of = |given: &str| alone(&words(given)).map(|words| words.join(" "));
        let last = "test --locked --no-fail-fast -p seatrial-bench --tests -- --show-output --ignored --test-threads=1 alone";
        assert_eq!(words_of("-p seatrial-bench").as_deref(), Some(last));
        assert_eq!(words_of("-- median"), None);
        assert_eq!(words_of("--test guest_numa"), None);
    }

    #[test]
    fn a_test_that_failed_is_asked_for_by_its_whole_name() {
        let words = by_itself(&words("-p seatrial-bench -- a filter"), "a::breaks").join(" ");
        let last = "-p seatrial-bench -- --show-output --include-ignored --test-threads=1 --exact a::breaks";
        assert!(words.ends_with(last), "{words}");
    }

    #[test]
    fn a_failure_that_may_yet_pass_is_not_called_one() {
        let shown = not_the_end_yet("test a::breaks      ... FAILED");
        assert_eq!(shown.as_deref(), Some("did not pass this time: a::breaks"));
        let shown = not_the_end_yet("test result: FAILED. 2 passed; 1 failed; 0 ignored");
        assert_eq!(shown.as_deref(), Some("this time: 2 passed; 1 failed; 0 ignored"));
        for other in ["test a::adds ... ok", "test result: ok. 2 passed; 0 failed", "assertion FAILED"] {
            assert_eq!(not_the_end_yet(other), None);
        }
    }

    #[test]
    fn a_package_and_a_filter_reach_cargo_and_the_tests() {
        assert_eq!(
            cargo_arguments(&words("-p seatrial-stats -- median")),
            words("test --locked --no-fail-fast -p seatrial-stats -- --show-output median")
        );
    }
}
