//! The test programs as each machine, several at a time.

use std::process::Command;
use std::sync::Mutex;
use std::thread;
use std::time::Instant;

use anyhow::{Context, Result, ensure};

use super::machine::Machine;
use super::programs::{Program, Programs, rank};
use crate::test::Digest;

/// The longest that a test program may take in seconds: one that hangs ends.
const LONGEST: u32 = 900;

/// Tests that user-mode emulation cannot run, by crate and name or the start of it, and what the emulator lacks.
const LEFT_OUT: &[(&str, &[&str])] = &[
    ("/proc/cpuinfo is that of the machine that emulates", &["sys::isa::tests::agrees_with_the_kernel"]),
    ("the emulator's madvise populates nothing", &["sys::memory::populate::tests::both_ways_make"]),
    (
        "the emulator does not pass on requests to drivers and the answers of netlink",
        &[
            "sys::ethtool::tests::",
            "sys::net::datagram::qdisc::tests::",
            "sys::nvme::tests::what_is_no_controller",
            "sys::optics::tests::what_has_no_transceiver",
            "sys::queueing::tests::the_kernel_takes",
            "sys::shaping::tests::a_stand_in_has_no_classes",
        ],
    ),
    (
        "the emulator lacks zero copy, pacing, the path's size, overflow counts and TCP_INFO of sockets",
        &[
            "sys::net::datagram::tests::a_datagram_larger_than_the_path",
            "sys::net::datagram::tests::what_finds_no_room",
            "sys::net::option::tests::a_paced_socket",
            "sys::net::tcp_info::tests::a_connection_tells",
            "sys::net::tests::every_way_to_send",
            "sys::net::tests::nobody_waits",
            "sys::net::tests::the_end_and_a_reset",
        ],
    ),
    (
        "the emulator's processes have the emulator's state and no reaper",
        &[
            "sys::process::own::tests::orphans_come",
            "sys::process::target::tests::a_process_of_another_start_time",
        ],
    ),
    (
        "an emulated processor does not get far enough within the time",
        &["cpu::clock::tests::a_worker_measures"],
    ),
];

fn left_out() -> impl Iterator<Item = &'static str> {
    LEFT_OUT.iter().flat_map(|(_, names)| names.iter().copied())
}

/// Fails when a test that is left out does not exist: it would be left out for ever.
///
/// # Errors
/// Names the tests.
pub fn check_left_out(programs: &Programs) -> Result<()> {
    let mut names = String::new();
    for program in &programs.tests {
        let output = Command::new(&program.path).args(["--list", "--format=terse"]).output();
        let output = output.with_context(|| format!("cannot start {}", program.path.display()))?;
        let listed = String::from_utf8_lossy(&output.stdout);
        names.extend(listed.lines().map(|name| format!("{}::{name}\n", program.name)));
    }
    let is_known = |start: &str| names.lines().any(|name| name.starts_with(start));
    let unknown: Vec<&str> = left_out().filter(|start| !is_known(start)).collect();
    ensure!(unknown.is_empty(), "left out, but there is no such test: {}", unknown.join(", "));
    Ok(())
}

/// Runs the test programs of every machine; what failed, a line each.
///
/// # Errors
/// When the emulator cannot be started.
pub fn run(machines: &[Machine], programs: &Programs) -> Result<Vec<String>> {
    for (why, names) in LEFT_OUT {
        println!("left out, for {why}: {}", names.join(", "));
    }
    let jobs =
        machines.iter().flat_map(|machine| programs.tests.iter().map(move |program| (machine, program)));
    let mut jobs: Vec<_> = jobs.collect();
    // What takes longest begins first, on every machine.
    jobs.sort_by_key(|(_, program)| rank(&program.name));
    let queue = Mutex::new(jobs.into_iter());
    let failed = Mutex::new(Vec::new());
    let next = || queue.lock().ok().and_then(|mut queue| queue.next());
    let work = || -> Result<()> {
        while let Some((machine, program)) = next() {
            if let Some(line) = one(machine, programs, program)?
                && let Ok(mut failed) = failed.lock()
            {
                failed.push(line);
            }
        }
        Ok(())
    };
    let cores = thread::available_parallelism().map_or(1, usize::from);
    thread::scope(|scope| {
        let workers: Vec<_> = (0..cores).map(|_| scope.spawn(work)).collect();
        workers.into_iter().try_for_each(|worker| worker.join().unwrap_or(Ok(())))
    })?;
    Ok(failed.into_inner().unwrap_or_default())
}

/// Runs one program; a line when it failed.
fn one(machine: &Machine, programs: &Programs, program: &Program) -> Result<Option<String>> {
    let started = Instant::now();
    let mut command = machine.command(&program.path, LONGEST);
    command.args(["--test-threads=2", "--show-output"]).current_dir(&program.folder);
    command.envs(programs.rustc.as_ref().map(|rustc| ("RUSTC", rustc)));
    let own = left_out().filter_map(|name| {
        let (of, rest) = name.split_once("::")?;
        (of == program.name).then_some(rest)
    });
    command.args(own.flat_map(|name| ["--skip", name]));
    let output = command.output().context("cannot start the emulator")?;
    let mut digest = Digest::default();
    let text = String::from_utf8_lossy(&output.stdout);
    let shown: Vec<&str> = text.lines().filter(|line| digest.take(line)).collect();
    let seconds = started.elapsed().as_secs();
    let line = format!(
        "{}: {}: {} passed, {} failed, {seconds} s",
        machine.name, program.name, digest.passed, digest.failed
    );
    println!("{line}");
    for (test, why) in &digest.skipped {
        println!("  skipped {test}: {why}");
    }
    if output.status.success() && digest.passed > 0 {
        return Ok(None);
    }
    println!("{}\n{}", shown.join("\n"), String::from_utf8_lossy(&output.stderr));
    Ok(Some(format!("{line}: ended with {}: {}", output.status, digest.failures.join(", "))))
}
