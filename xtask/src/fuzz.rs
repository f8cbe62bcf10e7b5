//! `cargo xtask fuzz`: runs the fuzz targets of `xtask/fuzz` under libFuzzer, two at a time.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;
use std::time::Instant;

use anyhow::{Context, Result, bail, ensure};

use crate::{packages, workspace};

/// Feed parsers with what nobody expects: libFuzzer changes the inputs of a kept corpus, and keeps what reaches new code
#[derive(clap::Args)]
pub struct Args {
    /// The targets: folders in `xtask/fuzz/corpus`; all of them unless named
    #[arg(value_name = "TARGET")]
    pub targets: Vec<String>,
    /// Inputs to run of each target, instead of a time
    #[arg(long, value_name = "N", conflicts_with = "seconds")]
    pub runs: Option<u64>,
    /// How long to run each target
    #[arg(long, value_name = "S", default_value_t = 60)]
    pub seconds: u64,
    /// Where random numbers begin; 0 for another place each time
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u32,
    /// Put what reaches new code into the kept corpus, as few inputs as possible, after running
    #[arg(long)]
    pub keep: bool,
}

/// What a target came to.
#[derive(Debug, PartialEq, Eq)]
struct Outcome {
    runs: u64,
    /// Edges that were reached by the kept corpus, and in the end.
    coverage: [u64; 2],
    peak_bytes: u64,
}

/// Targets at a time: what continuous integration has processors.
const AT_ONCE: usize = 2;

/// Coverage as cargo-fuzz has it, by options of stable compilers: counters of edges that libFuzzer reads, and the operands
/// of comparisons.
const INSTRUMENTED: &[&str] = &[
    "-Cpasses=sancov-module",
    "-Cllvm-args=-sanitizer-coverage-level=4",
    "-Cllvm-args=-sanitizer-coverage-inline-8bit-counters",
    "-Cllvm-args=-sanitizer-coverage-pc-table",
    "-Cllvm-args=-sanitizer-coverage-trace-compares",
];

fn kept(target: &str) -> PathBuf {
    workspace::root().join("xtask/fuzz/corpus").join(target)
}

fn scratch() -> PathBuf {
    workspace::root().join("target/fuzz")
}

/// Builds the targets and runs them.
///
/// # Errors
/// When one does not build, or an input makes a parser panic, hang or take too much memory.
pub fn run(args: &Args) -> Result<()> {
    packages::require(packages::FUZZ)?;
    let all = targets()?;
    for target in &args.targets {
        ensure!(all.contains(target), "no target '{target}'; there are {}", all.join(", "));
    }
    let program = build()?;
    let chosen = if args.targets.is_empty() { all } else { args.targets.clone() };
    let waiting = Mutex::new(chosen.into_iter());
    let failed = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..AT_ONCE {
            scope.spawn(|| {
                loop {
                    let next = waiting.lock().expect("not poisoned").next();
                    let Some(target) = next else { break };
                    let started = Instant::now();
                    match fuzz(&program, &target, args) {
                        Ok(outcome) => println!("{}", line(&target, started.elapsed().as_secs(), &outcome)),
                        Err(error) => {
                            eprintln!("{error:#}");
                            failed.lock().expect("not poisoned").push(target);
                        }
                    }
                }
            });
        }
    });
    let failed = failed.into_inner().expect("not poisoned");
    if failed.is_empty() { Ok(()) } else { bail!("inputs that fail were found for {}", failed.join(", ")) }
}

fn line(target: &str, seconds: u64, outcome: &Outcome) -> String {
    let Outcome { runs, coverage: [kept, reached], peak_bytes } = outcome;
    let new = reached.saturating_sub(*kept);
    let peak = *peak_bytes as f64 / f64::from(1 << 20);
    format!("{target:<10} {runs:>10} runs in {seconds} s, {reached} edges ({new} new), {peak:.1} MiB at most")
}

/// The folders of the kept corpus.
fn targets() -> Result<Vec<String>> {
    let mut names = Vec::new();
    for entry in fs::read_dir(kept("")).context("reading the kept corpus")? {
        names.push(entry?.file_name().to_string_lossy().into_owned());
    }
    names.sort();
    Ok(names)
}

/// Builds the program of all targets in a folder of its own: its compiler options are no other's.
fn build() -> Result<PathBuf> {
    let version = Command::new("rustc").arg("-vV").output().context("cannot start `rustc`")?;
    let version = String::from_utf8_lossy(&version.stdout).into_owned();
    let host = version.lines().find_map(|line| line.strip_prefix("host: ")).context("rustc names no host")?;
    let mut cargo =
        workspace::cargo(["build", "--locked", "--package", "seatrial-fuzz", "--profile", "fuzz"]);
    // With a target of their own, build scripts and macros are compiled without the options.
    cargo.args(["--features", "engine", "--target", host, "--target-dir"]).arg(scratch());
    workspace::run(cargo.env("CARGO_ENCODED_RUSTFLAGS", INSTRUMENTED.join("\u{1f}")))?;
    Ok(scratch().join(host).join("fuzz/seatrial-fuzz"))
}

/// Runs one target; what is new in its corpus stays below `target/fuzz`.
fn fuzz(program: &Path, target: &str, args: &Args) -> Result<Outcome> {
    let (found, crashes) = (scratch().join("corpus").join(target), scratch().join("crashes"));
    let log = scratch().join(format!("{target}.log"));
    for folder in [&found, &crashes] {
        fs::create_dir_all(folder).with_context(|| format!("making {}", folder.display()))?;
    }
    let prefix = format!("-artifact_prefix={}/{target}-", crashes.display());
    let mut command = Command::new(program);
    command
        .arg(format!("--target={target}"))
        .arg(&found)
        .arg(kept(target))
        .arg(&prefix)
        .arg(format!("-seed={}", args.seed));
    // A hang; what merely takes a second is told by the target itself. Leaks are looked for by others.
    command.args(["-timeout=60", "-rss_limit_mb=4096", "-print_final_stats=1"]);
    match args.runs {
        Some(runs) => command.arg(format!("-runs={runs}")),
        None => command.arg(format!("-max_total_time={}", args.seconds)),
    };
    let shown = workspace::show(&command);
    let output = File::create(&log).with_context(|| format!("making {}", log.display()))?;
    let status = command.stdout(output.try_clone()?).stderr(output).status();
    let status = status.with_context(|| format!("cannot start `{shown}`"))?;
    let text = String::from_utf8_lossy(&fs::read(&log)?).into_owned();
    if !status.success() {
        bail!("{target}: `{shown}` ended with {status}\n{}", finding(program, target, &text));
    }
    if args.keep {
        keep(program, target, &found)?;
    }
    outcome(&text).with_context(|| format!("{} has no numbers at its end", log.display()))
}

/// What was found, and how to see it again.
fn finding(program: &Path, target: &str, log: &str) -> String {
    let told = ["panicked at", "allocated", "ERROR: libFuzzer", "processor time"];
    let lines: Vec<&str> = log.lines().collect();
    let first = lines.iter().position(|line| told.iter().any(|word| line.contains(word))).unwrap_or(0);
    let mut text = lines[first..].iter().take(4).map(|line| format!("  {line}\n")).collect::<String>();
    if let Some(input) = log.lines().find_map(|line| line.split_once("Test unit written to ")) {
        text += &format!("see it again: {} --target={target} {}", program.display(), input.1);
    }
    text
}

/// Replaces the kept corpus by the fewest inputs of it and of what was found that reach as much.
fn keep(program: &Path, target: &str, found: &Path) -> Result<()> {
    let (old, new) = (kept(target), scratch().join("kept").join(target));
    if new.exists() {
        fs::remove_dir_all(&new)?;
    }
    fs::create_dir_all(&new)?;
    let mut command = Command::new(program);
    command.arg(format!("--target={target}")).arg("-set_cover_merge=1").args([&new, &old, &found.to_owned()]);
    let output = File::create(scratch().join(format!("{target}.merge.log")))?;
    workspace::run(command.stdout(output.try_clone()?).stderr(output))?;
    fs::remove_dir_all(&old)?;
    fs::create_dir_all(&old)?;
    for input in fs::read_dir(&new)? {
        let input = input?;
        fs::copy(input.path(), old.join(input.file_name()))?;
    }
    Ok(())
}

/// The numbers in what libFuzzer printed: `#7 INITED cov: 12 ft: …`, `#9 DONE cov: 13 …`, `stat::number_of_executed_units: 9`.
fn outcome(log: &str) -> Option<Outcome> {
    let number = |text: &str| text.split_whitespace().next()?.parse().ok();
    let coverage = |mark: &str| {
        let line = log.lines().find(|line| line.split_whitespace().nth(1) == Some(mark))?;
        number(line.split_once("cov: ")?.1)
    };
    let behind = |mark: &str| log.lines().find_map(|line| number(line.strip_prefix(mark)?));
    Some(Outcome {
        runs: behind("stat::number_of_executed_units: ")?,
        coverage: [coverage("INITED")?, coverage("DONE")?],
        peak_bytes: behind("peak allocation: ")?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_numbers_of_a_log_are_found_and_a_log_without_them_has_none() {
        let log = "#2\tINITED cov: 12 ft: 13 corp: 1/1b exec/s: 0 rss: 25Mb\n#9\tDONE   cov: 15 ft: 20 corp: 2/2b\n\
                   stat::number_of_executed_units: 9\npeak allocation: 2097152\n";
        let found = outcome(log).expect("numbers");
        assert_eq!(found, Outcome { runs: 9, coverage: [12, 15], peak_bytes: 2 << 20 });
        assert_eq!(
            line("typed", 3, &found),
            "typed               9 runs in 3 s, 15 edges (3 new), 2.0 MiB at most"
        );
        assert_eq!(outcome("#2\tINITED cov: 12 ft: 13\n"), None);
    }

    #[test]
    fn a_finding_is_told_with_the_command_that_repeats_it() {
        let log = "#1\tNEW\nthread 'main' panicked at lib.rs:1:2:\nattempt to add\nTest unit written to /x/typed-crash-1\n";
        let text = finding(Path::new("/bin/fuzz"), "typed", log);
        assert!(text.contains("attempt to add"), "{text}");
        assert!(text.ends_with("see it again: /bin/fuzz --target=typed /x/typed-crash-1"), "{text}");
    }
}
