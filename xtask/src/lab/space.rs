//! The namespaces of a host: made with the process that holds them, entered, and filled with daemons.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};

use super::call::{output, search_path, tool};
use super::process::{Process, by_inner_pid};
use super::state::{Daemon, Host, Lab};
use super::{config, log};

/// What a node has of its own, with the options of unshare(1). The head shares PIDs with the machine: a command that
/// a test starts there has the PID that the test knows, and takes its signals.
const NODE: &[&str] =
    &["--fork", "--pid", "--mount", "--uts", "--ipc", "--net", "--time", "--monotonic", "--boottime"];
const HEAD: &[&str] = &["--mount", "--uts", "--ipc", "--net"];

/// The namespaces that are written down.
const KINDS: &[&str] = &["net", "mnt", "uts", "ipc", "pid", "time"];

/// Starts the process that holds the namespaces of `name`, writes it down, and has it prepare its file systems.
///
/// # Errors
/// When it cannot be started or does not get ready; with the end of its log.
pub fn start(lab: &mut Lab, name: &str) -> Result<()> {
    let host = lab.host(name)?;
    let is_node = host.is_node();
    let own = lab.folder.join(name);
    fs::create_dir_all(&own).with_context(|| format!("cannot make {}", own.display()))?;
    let log = log::path(lab, name, "host");
    let ahead = host.clock_ahead_s.to_string();

    // A session of its own: Ctrl-C and the end of the terminal are for us, not for the lab.
    let mut command = tool("setsid", ["unshare"]);
    for option in if is_node { NODE } else { HEAD } {
        command.arg(option);
        if matches!(*option, "--monotonic" | "--boottime") {
            command.arg(&ahead);
        }
    }
    command.arg("sh").arg(lab.folder.join(config::HOST_SCRIPT)).arg(&lab.folder).arg(name);
    command.arg(if is_node { "node" } else { "head" });
    command.current_dir("/").stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(File::create(&log)?);
    let mut child = command.spawn().context("cannot start setsid")?;
    let (to, from) = (child.stdin.take(), child.stdout.take());
    let (mut to, from) = (to.context("no pipe")?, from.context("no pipe")?);
    let mut lines = BufReader::new(from).lines();

    let mut begin = || -> Result<()> {
        let pid = lines.next().context("it did not start")??;
        let init = pid.parse().ok().and_then(Process::of).context("it left at once")?;
        let namespace = |kind: &&str| Some(((*kind).to_owned(), init.namespace(kind)?));
        let namespaces = KINDS.iter().filter_map(namespace).collect();
        let host = lab.host_mut(name)?;
        (host.init, host.namespaces) = (Some(init), namespaces);
        lab.save()?;
        // It does nothing and leaves should we end before this.
        writeln!(to, "go")?;
        let word = lines.next().context("it did not get ready")??;
        ensure!(word == "ready", "it said '{word}'");
        Ok(())
    };
    begin().with_context(|| format!("cannot make the host {name}{}", log::end(&log)))
}

/// `program`, to be given arguments and run in the namespaces of `host`, in the folder `at` where the host has it and
/// else in `/`.
///
/// # Errors
/// When the host is gone.
pub fn enter(host: &Host, at: &Path, program: impl AsRef<OsStr>) -> Result<Command> {
    let init = host.holder()?;
    let root = Path::new("/proc").join(init.pid.to_string()).join("root");
    let seen = root.join(at.strip_prefix("/").unwrap_or(at));
    let at = if seen.is_dir() { at } else { Path::new("/") };
    let pid = init.pid.to_string();
    let mut command = tool("nsenter", ["--target", &pid, "--mount", "--uts", "--ipc", "--net"]);
    if host.is_node() {
        // With this one it forks, also into the namespace in which it is already.
        command.args(["--pid", "--time"]);
    }
    command.arg("--");
    // nsenter itself can change the folder only from util-linux 2.38 on.
    command.args(["sh", "-c", "cd \"$0\" && exec \"$@\""]).arg(at).arg(program);
    Ok(command)
}

/// `program` of the machine, to be given arguments and run in the network of `host`, with the files of the machine.
///
/// # Errors
/// When the host is gone.
pub fn in_network(host: &Host, program: &str) -> Result<Command> {
    let pid = host.holder()?.pid.to_string();
    Ok(tool("nsenter", ["--target", pid.as_str(), "--net", "--", program]))
}

/// Starts a daemon on a host, and writes it down. Its output goes to a log of its name.
///
/// # Errors
/// When it cannot be started or ends at once; with the end of its log.
pub fn start_daemon(lab: &mut Lab, name: &str, program: &str, line: &[&OsStr]) -> Result<()> {
    let process = start_process(lab, name, program, line)?;
    let host = lab.host_mut(name)?;
    host.daemons.retain(|daemon| daemon.program != program);
    host.daemons.push(Daemon { program: program.to_owned(), process });
    lab.save()
}

/// Starts a process on a host that stays; its output goes to the log `what`.
///
/// # Errors
/// When it cannot be started or ends at once; with the end of its log.
pub fn start_process(lab: &Lab, name: &str, what: &str, line: &[&OsStr]) -> Result<Process> {
    let host = lab.host(name)?;
    let log = log::path(lab, name, what);
    // The shell leaves and the first process of the node, or of the machine, becomes the parent. Without job control,
    // which only interactive shells have, `$!` is the PID that setsid keeps for the program.
    let script = "log=$1; shift; setsid \"$@\" < /dev/null >> \"$log\" 2>&1 & echo $!";
    let mut command = enter(host, Path::new("/"), "sh")?;
    command.args(["-c", script, "sh"]).arg(&log).args(line).env("PATH", search_path());
    let inner: u32 = output(&mut command)?.trim().parse().context("the shell said no PID")?;
    let known = || match host.namespaces.get("pid") {
        Some(space) => by_inner_pid(space, inner),
        None => Process::of(inner),
    };
    known().with_context(|| format!("{what} of {name} ended at once{}", log::end(&log)))
}
