//! NUMA nodes: memory, CPUs, distances; from `/sys/devices/system/node` (Linux Documentation:
//! ABI/stable/sysfs-devices-node).

use std::collections::BTreeMap;

use seatrial_model::machine::{Known, NumaNode};
use seatrial_sys::root::ReadError;

use crate::keyed::Keyed;
use crate::reading::Reading;
use crate::topology::{Topology, list};

const NODE: &str = "/sys/devices/system/node";

pub(crate) fn read(at: &mut Reading<'_>, topology: &Topology) -> Vec<NumaNode> {
    let ids = match at.root.numbered(NODE, "node") {
        Ok(ids) if !ids.is_empty() => ids,
        Ok(_) => return vec![whole(at, topology, "the kernel lists no node")],
        Err(error) => return vec![whole(at, topology, &error.to_string())],
    };
    ids.iter().map(|&id| node(at, topology, id, &ids)).collect()
}

fn whole(at: &mut Reading<'_>, topology: &Topology, why: &str) -> NumaNode {
    at.remark("numa", format!("treating the machine as one node: {why}"));
    let info = Keyed::read(at.root, "/proc/meminfo");
    let size = |key: &str| Known::from(info.as_ref().map_err(Clone::clone).and_then(|info| info.kib(key)));
    NumaNode {
        id: 0,
        cpus: topology.online.iter().collect(),
        total_bytes: size("MemTotal"),
        free_bytes: size("MemFree"),
        available_bytes: size("MemAvailable"),
        distances: BTreeMap::from([(0, 10)]),
    }
}

fn node(at: &mut Reading<'_>, topology: &Topology, id: u32, ids: &[u32]) -> NumaNode {
    let folder = format!("{NODE}/node{id}");
    let cpus = list(at.root, &format!("{folder}/cpulist")).unwrap_or_else(|error| {
        at.remark("numa", format!("CPUs of node {id} unknown: {error}"));
        Default::default()
    });
    let ghosts = cpus.difference(&topology.online);
    if !ghosts.is_empty() {
        at.remark("numa", format!("node {id} claims CPUs {ghosts}, which are not online"));
    }
    let distances = distances(at, &folder, ids).unwrap_or_else(|error| {
        at.remark("numa", format!("distances of node {id} unknown: {error}"));
        BTreeMap::new()
    });
    let info = Keyed::read(at.root, &format!("{folder}/meminfo"));
    let size = |key: &str| info.as_ref().map_err(Clone::clone).and_then(|info| info.kib(key));
    // With one node, `MemAvailable` of the machine is the node's.
    let available = match ids {
        [_] => Keyed::read(at.root, "/proc/meminfo").and_then(|info| info.kib("MemAvailable")),
        _ => available(size),
    };
    NumaNode {
        id,
        cpus: cpus.intersection(&topology.online).iter().collect(),
        total_bytes: size("MemTotal").into(),
        free_bytes: size("MemFree").into(),
        available_bytes: available.into(),
        distances,
    }
}

/// Free memory and half of what can be reclaimed. `MemAvailable` excludes at most half of file pages and reclaimable
/// slab (si_mem_available() in mm/show_mem.c), so this is its lower bound.
fn available(size: impl Fn(&str) -> Result<u64, ReadError>) -> Result<u64, ReadError> {
    let free = size("MemFree")?;
    let file = size("Active(file)")?.saturating_add(size("Inactive(file)")?);
    // Kernels before 4.20 do not report the slab of a node; without it the value is lower, which is safe.
    let slab = size("SReclaimable").unwrap_or(0);
    Ok(free.saturating_add(file / 2).saturating_add(slab / 2))
}

/// `10 21 …`: one number per online node, in order.
fn distances(at: &Reading<'_>, folder: &str, ids: &[u32]) -> Result<BTreeMap<u32, u32>, ReadError> {
    let path = format!("{folder}/distance");
    let text = at.root.text(&path)?;
    let numbers: Result<Vec<u32>, _> = text.split_whitespace().map(str::parse).collect();
    match numbers {
        Ok(numbers) if numbers.len() == ids.len() => Ok(ids.iter().copied().zip(numbers).collect()),
        _ => Err(ReadError::garbage(&path, &text, &format!("{} distances", ids.len()))),
    }
}
