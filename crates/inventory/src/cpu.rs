//! CPUs: names, counts, and the position of every hardware thread.

use std::collections::{BTreeMap, BTreeSet};

use seatrial_model::machine::{Cache, Caches, Cpu, CpuQuota, CpuThread, Known, NumaNode};
use seatrial_sys::cgroup;
use seatrial_sys::cpuset::CpuSet;
use seatrial_sys::root::SysRoot;

use crate::family;
use crate::keyed::Keyed;
use crate::reading::Reading;
use crate::topology::Topology;

const INFO: &str = "/proc/cpuinfo";

pub(crate) fn read(at: &mut Reading<'_>, topology: &Topology, caches: &Caches, numa: &[NumaNode]) -> Cpu {
    let threads = threads(at, topology, caches, numa);
    let quota = cgroup::cpu_quota(at.root).map(|quota| {
        quota.map(|q| CpuQuota { group: q.group, quota_us: q.quota_us, period_us: q.period_us })
    });
    Cpu {
        vendor: vendor(at.root),
        model: model(at.root),
        sockets: count(&threads, "socket", |thread| thread.socket),
        cores: count(&threads, "core", |thread| thread.core),
        isa: at.process.isa.clone(),
        family: Known::from(Keyed::read(at.root, INFO)).and_then(|info| family::of(&info)),
        quota: quota.into(),
        threads,
    }
}

/// Number of different positions of the online threads, if every thread has one.
fn count(threads: &[CpuThread], what: &str, place: impl Fn(&CpuThread) -> Option<u32>) -> Known<u32> {
    let online: Vec<&CpuThread> = threads.iter().filter(|thread| thread.online).collect();
    let places: Option<BTreeSet<u32>> = online.into_iter().map(place).collect();
    match places.map(|places| u32::try_from(places.len())) {
        Some(Ok(count)) if count > 0 => Known::Known(count),
        _ => Known::unknown(format!("the {what} of some CPU is unknown")),
    }
}

fn threads(at: &mut Reading<'_>, topology: &Topology, caches: &Caches, numa: &[NumaNode]) -> Vec<CpuThread> {
    let allowed = match &at.process.allowed {
        Known::Known(allowed) => allowed.clone(),
        Known::Unknown(why) => {
            at.remark("cpu", format!("treating every online CPU as allowed: {why}"));
            topology.online.clone()
        }
    };
    let l3: Vec<&Cache> = caches.l3().collect();
    let mut cores = BTreeMap::new();
    let mut threads = Vec::new();
    for id in topology.present.iter() {
        let place = topology.places.get(&id);
        let siblings = place.and_then(|place| place.siblings.as_ref());
        // The first sibling stands for the core; cores are numbered in the order of their first threads.
        let first = siblings.and_then(CpuSet::first);
        let next = u32::try_from(cores.len()).unwrap_or(u32::MAX);
        threads.push(CpuThread {
            id,
            core: first.map(|first| *cores.entry(first).or_insert(next)),
            socket: place.and_then(|place| place.socket),
            node: numa.iter().find(|node| node.cpus.contains(&id)).map(|node| node.id),
            l3: l3.iter().position(|cache| cache.cpus.contains(&id)).and_then(|n| u32::try_from(n).ok()),
            smt_rank: siblings.and_then(|all| all.iter().position(|sibling| sibling == id)?.try_into().ok()),
            online: topology.online.contains(id),
            allowed: allowed.contains(id),
        });
    }
    threads
}

fn vendor(root: &SysRoot) -> Known<String> {
    Known::from(Keyed::read(root, INFO)).and_then(|info| match info.get("vendor_id") {
        Some(vendor) => Known::Known(vendor.to_owned()),
        None => arm_code(&info, "CPU implementer").map(|code| arm_vendor(code).to_owned()),
    })
}

fn model(root: &SysRoot) -> Known<String> {
    Known::from(Keyed::read(root, INFO)).and_then(|info| match info.get("model name") {
        Some(model) => Known::Known(model.to_owned()),
        None => arm_code(&info, "CPU part").map(|part| match arm_model(part) {
            Some(name) => name.to_owned(),
            None => format!("part {part:#x}"),
        }),
    })
}

fn arm_code(info: &Keyed, key: &str) -> Known<u32> {
    match info.hex(key) {
        Some(code) => Known::Known(code),
        None => Known::unknown(format!("{INFO} names no vendor or model")),
    }
}

/// Implementer codes of the Arm main ID register (Arm ARM, `MIDR_EL1`).
const fn arm_vendor(code: u32) -> &'static str {
    match code {
        0x41 => "ARM",
        0x43 => "Cavium",
        0x46 => "Fujitsu",
        0x48 => "HiSilicon",
        0x4e => "NVIDIA",
        0x50 => "APM",
        0x51 => "Qualcomm",
        0x61 => "Apple",
        0xc0 => "Ampere",
        _ => "unknown implementer",
    }
}

/// Part numbers of cores found in servers (Linux arch/arm64/include/asm/cputype.h).
const fn arm_model(part: u32) -> Option<&'static str> {
    match part {
        0xd0c => Some("Neoverse-N1"),
        0xd40 => Some("Neoverse-V1"),
        0xd49 => Some("Neoverse-N2"),
        0xd4f => Some("Neoverse-V2"),
        0xd84 => Some("Neoverse-V3"),
        0xd8e => Some("Neoverse-N3"),
        0xac3 => Some("Ampere-1"),
        0xac4 => Some("Ampere-1A"),
        _ => None,
    }
}
