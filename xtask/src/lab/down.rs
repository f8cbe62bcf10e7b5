//! `lab down`: ends what `up` and everybody after it started, in whatever state it is, and nothing else.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

use super::disk;
use super::process::{Process, in_namespace, wait_gone};
use super::state::{Host, Lab, Lock};

/// How long killed processes may take to go.
const GONE_LIMIT: Duration = Duration::from_secs(90);

/// Ends the lab in `folder` and removes the folder; says so when there is none.
///
/// # Errors
/// When something of it cannot be ended; names it. The folder stays then, for another attempt.
pub fn run(folder: &Path) -> Result<()> {
    // Looked at first, because taking a folder makes it.
    if !folder.exists() {
        println!("there is no lab in {}", folder.display());
        return Ok(());
    }
    let _lock = Lock::take(folder)?;
    if let Some(lab) = Lab::load(folder)? {
        end(&lab)?;
        println!("lab '{}': ended", lab.name);
    }
    // Empty now, or from the start, when `up` was ended before it wrote anything. What holds something is not ours.
    fs::remove_dir(folder).with_context(|| format!("{} is no lab", folder.display()))
}

/// Ends `lab` and empties its folder.
///
/// # Errors
/// As [`run`].
pub fn end(lab: &Lab) -> Result<()> {
    if !lab.is_of_an_earlier_boot() {
        // First: a process that waits for a frozen file system outlives SIGKILL.
        for scratch in lab.nodes.iter().filter_map(|node| node.scratch.as_ref()) {
            disk::thaw(lab, scratch).with_context(|| format!("cannot thaw {}", scratch.image.display()))?;
        }
        end_processes(lab)?;
        for scratch in lab.nodes.iter().filter_map(|node| node.scratch.as_ref()) {
            disk::detach(scratch)?;
        }
    }
    empty(&lab.folder).with_context(|| format!("cannot empty {}", lab.folder.display()))
}

fn end_processes(lab: &Lab) -> Result<()> {
    // Before the process that tells us where it is: what else runs on the head, again and again, because it may start
    // more of its kind. On a node the kernel sees to that: with the first process of a PID namespace all others go.
    let deadline = Instant::now() + GONE_LIMIT;
    loop {
        let mut others = members(&lab.head);
        others.retain(|process| Some(*process) != lab.head.init);
        if others.is_empty() {
            break;
        }
        if Instant::now() > deadline {
            let others: Vec<String> = others.into_iter().map(Process::describe).collect();
            bail!("something on the head starts more than can be killed: {}", others.join(", "));
        }
        kill(others)?;
    }
    kill(lab.hosts().flat_map(members).collect())
}

fn kill(processes: BTreeSet<Process>) -> Result<()> {
    for process in &processes {
        process.kill()?;
    }
    wait_gone(&processes.into_iter().collect::<Vec<_>>(), GONE_LIMIT)
}

/// Everything that runs on a host: what is written down, and whatever else is in its network.
///
/// A namespace is told by its inode, which another one may get when it is gone. So it counts only while a process that
/// is written down is in it: then it is not gone.
fn members(host: &Host) -> BTreeSet<Process> {
    let daemons = host.daemons.iter().map(|daemon| daemon.process);
    let faults = host.faults.iter().filter_map(|applied| applied.process);
    let mut known: BTreeSet<Process> = host.init.into_iter().chain(daemons).chain(faults).collect();
    known.retain(|process| process.is_alive());
    if let Some(network) = host.namespaces.get("net")
        && known.iter().any(|process| process.namespace("net").as_ref() == Some(network))
    {
        known.extend(in_namespace("net", network));
    }
    // Whoever ends a lab from inside it.
    known.retain(|process| process.pid != std::process::id());
    known
}

/// Removes what is in the folder, the record last: as long as it is there, `down` can be tried again.
fn empty(folder: &Path) -> Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            fs::remove_dir_all(&path)?;
        } else if path.file_name().is_none_or(|name| name != "lab.json") {
            fs::remove_file(&path)?;
        }
    }
    Ok(fs::remove_file(folder.join("lab.json"))?)
}
