//! Applying and healing: each fault is written down before it is applied, and until it is healed.

use std::time::Duration;

use anyhow::{Context, Result};

use super::super::call::{output, tool};
use super::super::process::{Process, wait_gone};
use super::super::state::{Applied, Host, Lab};
use super::super::{daemons, disk, space};
use super::{Fault, link};

/// How long a killed process may take to go.
const GONE_LIMIT: Duration = Duration::from_secs(60);

/// Applies `fault` to the node `name`, in the place of one of its kind.
///
/// # Errors
/// When there is no such node, or the system refuses.
pub fn apply(lab: &mut Lab, name: &str, fault: Fault) -> Result<()> {
    lab.node_mut(name)?.holder()?;
    let former = lab.node_mut(name)?.faults.iter().find(|old| old.fault.kind() == fault.kind()).cloned();
    if let Some(former) = former {
        heal_one(lab, name, &former)?;
    }
    lab.node_mut(name)?.faults.push(Applied { fault, process: None });
    lab.save()?;
    let started = begin(lab, name, fault).with_context(|| format!("cannot apply {fault} to {name}"))?;
    if let Some(applied) = lab.node_mut(name)?.faults.last_mut() {
        applied.process = started;
    }
    lab.save()
}

fn begin(lab: &Lab, name: &str, fault: Fault) -> Result<Option<Process>> {
    let node = lab.host(name)?;
    match fault {
        Fault::CpuHog(cpu) => {
            let cpu = cpu.to_string();
            // Says at once when there is no such CPU.
            output(&mut tool("taskset", ["--cpu-list", &cpu, "true"]))?;
            let line = ["taskset", "--cpu-list", &cpu, "sh", "-c", "while :; do :; done"];
            let hog = space::start_process(lab, name, "cpu-hog", &line.map(AsRef::as_ref))?;
            return Ok(Some(hog));
        }
        Fault::Delay(micros) => return link::lengthen(lab, node, micros).map(Some),
        Fault::FreezeFs => disk::freeze(node, node.scratch.as_ref().context("it has no file system")?)?,
        _ => link::apply(lab, node, fault)?,
    }
    Ok(None)
}

/// Heals a node: takes every fault away and starts daemons that are gone. Returns what was done, in words.
///
/// # Errors
/// When there is no such node, it is gone, or the system refuses.
pub fn heal(lab: &mut Lab, name: &str) -> Result<Vec<String>> {
    lab.node_mut(name)?.holder()?;
    let mut done = Vec::new();
    for applied in lab.node_mut(name)?.faults.clone() {
        let counted = link::counters(lab, lab.host(name)?, applied.fault).ok().flatten();
        heal_one(lab, name, &applied)?;
        let counted = counted.map_or_else(String::new, |both| format!(" ({})", describe(both)));
        done.push(format!("{name}: {} healed{counted}", applied.fault));
    }
    let started = daemons::start(lab, name)?;
    done.extend(started.into_iter().map(|program| format!("{name}: {program} started")));
    Ok(done)
}

/// Heals every node, and the head's daemons. Returns what was done, in words.
///
/// # Errors
/// As [`heal`].
pub fn heal_all(lab: &mut Lab) -> Result<Vec<String>> {
    let started = daemons::start(lab, "head")?;
    let mut done: Vec<String> =
        started.into_iter().map(|program| format!("head: {program} started")).collect();
    let names: Vec<String> = lab.nodes.iter().map(|node: &Host| node.name.clone()).collect();
    for name in names {
        done.extend(heal(lab, &name)?);
    }
    Ok(done)
}

fn heal_one(lab: &mut Lab, name: &str, applied: &Applied) -> Result<()> {
    let node = lab.host(name)?;
    let heal = || -> Result<()> {
        if let Some(process) = applied.process {
            process.kill()?;
            wait_gone(&[process], GONE_LIMIT)?;
        }
        match (applied.fault, &node.scratch) {
            (Fault::FreezeFs, Some(scratch)) => disk::thaw(lab, scratch),
            _ => link::heal(lab, node, applied.fault),
        }
    };
    heal().with_context(|| format!("cannot heal {} of {name}", applied.fault))?;
    lab.node_mut(name)?.faults.retain(|fault| fault != applied);
    lab.save()
}

pub fn describe([to, from]: [link::Counter; 2]) -> String {
    format!("to the node {} of {} dropped, from it {} of {}", to.dropped, to.seen, from.dropped, from.seen)
}
