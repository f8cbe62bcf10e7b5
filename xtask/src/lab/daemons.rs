//! The daemons of the lab: real munged, slurmctld, slurmd and sshd.

use std::ffi::{OsStr, OsString};
use std::time::{Duration, Instant};

use anyhow::{Result, bail};

use super::call::{find, output};
use super::state::{Host, Lab};
use super::{config, enter, log, space};

/// What runs on the head, in this order.
const HEAD: &[&str] = &["munged", "slurmctld"];

/// What runs on a node, in this order.
const NODE: &[&str] = &["munged", "slurmd", "sshd"];

/// How long Slurm and ssh may take to be ready, all nodes together.
const READY_LIMIT: Duration = Duration::from_secs(180);

/// Starts those daemons of the host `name` that do not run; returns them.
///
/// # Errors
/// When one is missing or ends at once.
pub fn start(lab: &mut Lab, name: &str) -> Result<Vec<&'static str>> {
    let host = lab.host(name)?;
    let wanted = if host.is_node() { NODE } else { HEAD };
    let is_alive = |program: &str| {
        host.daemons.iter().any(|daemon| daemon.program == program && daemon.process.is_alive())
    };
    let dead: Vec<&str> = wanted.iter().copied().filter(|program| !is_alive(program)).collect();
    for program in &dead {
        let line = line(lab, name, program)?;
        let line: Vec<&OsStr> = line.iter().map(OsString::as_os_str).collect();
        space::start_daemon(lab, name, program, &line)?;
    }
    Ok(dead)
}

/// How a daemon is started: in the foreground, with its messages on standard error.
fn line(lab: &Lab, name: &str, program: &str) -> Result<Vec<OsString>> {
    let slurm_conf = lab.folder.join(config::SLURM_CONF);
    // sshd starts itself anew for every connection and wants to know its own path for that.
    let path = find(program)?.into_os_string();
    let words = |words: &str| words.split_whitespace().map(OsString::from).collect::<Vec<_>>();
    Ok(match program {
        "munged" => [
            words("setpriv --reuid=munge --regid=munge --clear-groups"),
            vec![path],
            words("--foreground --key-file=/run/munge/munge.key --seed-file=/run/munge/munged.seed"),
        ]
        .concat(),
        "slurmctld" | "slurmd" => vec![path, "-D".into(), "-f".into(), slurm_conf.into()],
        _ => {
            let (config, key) = (lab.folder.join(config::SSHD_CONFIG), config::host_key(lab, name));
            vec![path, "-D".into(), "-e".into(), "-f".into(), config.into(), "-h".into(), key.into()]
        }
    })
}

/// Waits until Slurm calls every node idle and every node answers over ssh.
///
/// # Errors
/// When that is not so within three minutes; says what is missing, with the ends of the logs.
pub fn wait_ready(lab: &Lab) -> Result<()> {
    let started = Instant::now();
    let mut slurm = sinfo(lab);
    let mut silent: Vec<(&Host, String)> = lab.nodes.iter().map(|node| (node, String::new())).collect();
    loop {
        silent.retain_mut(|(node, why)| match ssh(lab, &node.name) {
            Ok(()) => false,
            Err(error) => {
                *why = format!("{error:#}");
                true
            }
        });
        let is_idle = slurm.as_ref().is_ok_and(|answer| are_idle(lab, answer));
        if is_idle && silent.is_empty() {
            return Ok(());
        }
        if started.elapsed() > READY_LIMIT || !lab.dead_daemons().is_empty() {
            break;
        }
        std::thread::sleep(Duration::from_millis(100));
        slurm = sinfo(lab);
    }
    let mut complaint = format!("not ready after {} s", started.elapsed().as_secs());
    for (host, program) in lab.dead_daemons() {
        complaint += &format!("; {program} of {} is gone", host.name);
    }
    let mut show = |host: &str, program: &str| complaint += &log::end(&log::path(lab, host, program));
    match slurm {
        Ok(answer) if are_idle(lab, &answer) => {}
        slurm => {
            show("head", "slurmctld");
            lab.nodes.iter().take(2).for_each(|node| show(&node.name, "slurmd"));
            let answer = slurm.unwrap_or_else(|error| format!("{error:#}"));
            complaint += &format!("\nsinfo: {}", answer.trim());
        }
    }
    for (node, why) in silent.iter().take(2) {
        complaint += &format!("\nssh to {}: {why}", node.name);
        complaint += &log::end(&log::path(lab, &node.name, "sshd"));
    }
    bail!("{complaint}")
}

fn are_idle(lab: &Lab, answer: &str) -> bool {
    let idle: Vec<&str> = answer.lines().filter_map(|line| line.strip_suffix(" idle")).collect();
    lab.nodes.iter().all(|node| idle.contains(&node.name.as_str()))
}

/// Every node with its state as Slurm sees it, a line each.
///
/// # Errors
/// When sinfo does not answer.
pub fn sinfo(lab: &Lab) -> Result<String> {
    output(enter::on_head(lab, "sinfo")?.args(["--noheader", "--Node", "--format=%N %T"]))
}

fn ssh(lab: &Lab, node: &str) -> Result<()> {
    output(enter::on_head(lab, "ssh")?.args(["-o", "ConnectTimeout=1", node, "true"])).map(drop)
}
