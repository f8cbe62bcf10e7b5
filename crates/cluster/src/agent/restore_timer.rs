//! Takes changed settings back after a time, without a controller: by a timer of systemd, else by a process.

use std::fs;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};

use seatrial_model::Nanos;
use seatrial_sys::root::SysRoot;

use crate::own_program::RUNNING;

/// Exists where systemd runs (sd_booted(3)).
const SYSTEMD: &str = "/run/systemd/system";

const SHELL: &str = "/bin/sh";

/// A timer that runs, and how it is told to a person.
pub(super) struct RestoreTimer {
    pub told: String,
    /// The process that waits; `None` where systemd does.
    pub pid: Option<u32>,
}

/// Starts the timer for the journal `id` on this machine.
pub(super) fn start(root: &SysRoot, id: &str, after: Nanos) -> Result<RestoreTimer, String> {
    let has_systemd = root.exists(SYSTEMD);
    if !has_systemd && std::env::var_os("SLURM_JOB_ID").is_some() {
        return Err("--for needs systemd on this node, since Slurm ends every process of its step: leave out --for, and \
                    restore by hand"
            .to_owned());
    }
    // The file of an agent may be removed when it ends.
    let program = seatrial_settings::keep_program(root, id, Path::new(RUNNING))?;
    let seconds = after.get().div_ceil(1_000_000_000);
    let sysroot =
        if root.is_live() { String::new() } else { format!(" --sysroot '{}'", root.locate("/").display()) };
    let line = restore_line(&program, &format!("settings restore {id} --launcher local{sysroot}"));
    let started = match has_systemd {
        true => by_systemd(id, seconds, &line),
        false => by_process(after, &format!("sleep {seconds}; {line}")),
    };
    if started.is_err() {
        // The first error matters.
        let _ = fs::remove_file(&program);
    }
    started
}

/// The line for a shell that restores by `program` with `words`. While another `settings` changes the node nothing can be
/// restored (exit code 3): tried again. Whoever restored by hand has removed the program.
fn restore_line(program: &Path, words: &str) -> String {
    let copy = program.display();
    format!(
        "for pause in 1 10 10 60 600 0; do [ -e '{copy}' ] || exit 0; '{copy}' {words}; code=$?; [ $code -eq 3 ] || break; \
         sleep $pause; done; rm -f '{copy}'; exit $code"
    )
}

fn by_systemd(id: &str, seconds: u64, line: &str) -> Result<RestoreTimer, String> {
    let unit = format!("seatrial-restore-{id}");
    let mut command = Command::new("systemd-run");
    command.arg(format!("--unit={unit}")).arg(format!("--on-active={seconds}s"));
    // The default of systemd.timer(5) may be a minute late.
    command.arg("--timer-property=AccuracySec=1s").args([SHELL, "-c", line]);
    let output =
        command.stdin(Stdio::null()).output().map_err(|error| format!("starting systemd-run: {error}"))?;
    if !output.status.success() {
        let why = String::from_utf8_lossy(&output.stderr).trim().to_owned();
        return Err(format!("systemd-run made no timer: {why}"));
    }
    Ok(RestoreTimer { told: format!("the timer {unit}.timer of systemd, in {seconds} s"), pid: None })
}

fn by_process(after: Nanos, line: &str) -> Result<RestoreTimer, String> {
    let mut command = Command::new(SHELL);
    command.args(["-c", line]).current_dir("/").env_clear();
    command.env("PATH", "/usr/sbin:/usr/bin:/sbin:/bin");
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    // Signals to the group of the agent do not end it.
    let child = command
        .process_group(0)
        .spawn()
        .map_err(|error| format!("starting a process that restores: {error}"))?;
    let pid = child.id();
    Ok(RestoreTimer {
        told: format!("process {pid}, in {after}; a boot ends it, and most values with it"),
        pid: Some(pid),
    })
}
