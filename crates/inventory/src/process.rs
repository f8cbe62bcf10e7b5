//! What the kernel, the C library and the CPU tell this process, besides files.

use std::collections::BTreeMap;
use std::time::Duration;

use seatrial_model::machine::Known;
use seatrial_sys::cpuset::CpuSet;
use seatrial_sys::libc_info::{CacheQuery, cache_bytes, page_bytes};
use seatrial_sys::root::SysRoot;
use seatrial_sys::root::space::{self, Space};
use seatrial_sys::{affinity, isa};

/// Time limit for all file systems together.
const PATIENCE: Duration = Duration::from_secs(2);

const FILES_ONLY: &str = "only the files of this machine are available";

#[derive(Clone, Debug, PartialEq)]
pub struct Process {
    pub allowed: Known<CpuSet>,
    /// Instruction set extensions that it may use.
    pub isa: Known<Vec<String>>,
    pub page_size_bytes: Known<u64>,
    /// Leaf switch of this node in Slurm's topology.
    pub leaf_switch: Known<String>,
    /// Level 3 cache size of the C library, in bytes.
    pub l3_by_libc_bytes: Known<u64>,
    pub spaces: Spaces,
}

/// Source of file system usage, which is in no file.
#[derive(Clone, Debug, PartialEq)]
pub enum Spaces {
    /// statfs, with a time limit.
    Ask(Duration),
    /// Given values by mount point, for trees of files.
    Told(BTreeMap<String, Known<Space>>),
}

impl Spaces {
    pub(crate) fn of(&self, mounts: &[String]) -> Vec<Known<Space>> {
        match self {
            Self::Ask(within) => space::ask(mounts, *within).into_iter().map(Known::from).collect(),
            Self::Told(told) => {
                let one = |mount| told.get(mount).cloned().unwrap_or_else(|| Known::unknown(FILES_ONLY));
                mounts.iter().map(one).collect()
            }
        }
    }
}

impl Process {
    /// The calling process, with the CPUs of the calling thread.
    pub fn current() -> Self {
        Self {
            allowed: affinity::allowed().into(),
            isa: Known::Known(isa::features().into_iter().map(str::to_owned).collect()),
            page_size_bytes: Known::Known(page_bytes()),
            leaf_switch: leaf_switch(|name| std::env::var(name).ok()),
            l3_by_libc_bytes: match cache_bytes(CacheQuery::L3) {
                Some(bytes) => Known::Known(bytes),
                None => Known::unknown("sysconf(_SC_LEVEL3_CACHE_SIZE) does not know"),
            },
            spaces: Spaces::Ask(PATIENCE),
        }
    }

    /// A process on a machine of which only files exist; they tell its CPUs, if anything does.
    pub fn elsewhere(root: &SysRoot) -> Self {
        const STATUS: &str = "/proc/self/status";
        let allowed = root.text(STATUS).map_err(|error| error.to_string()).and_then(|text| {
            let list = text.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:"));
            let list = list.ok_or_else(|| format!("{STATUS} has no Cpus_allowed_list"))?;
            list.parse().map_err(|error| format!("{STATUS}: {error}"))
        });
        Self {
            allowed: allowed.into(),
            isa: Known::unknown(FILES_ONLY),
            page_size_bytes: Known::unknown(FILES_ONLY),
            leaf_switch: Known::unknown(FILES_ONLY),
            l3_by_libc_bytes: Known::unknown(FILES_ONLY),
            spaces: Spaces::Told(BTreeMap::new()),
        }
    }
}

/// The leaf switch that Slurm tells its tasks, as srun(1) documents: `SLURM_TOPOLOGY_ADDR` has the switches above the
/// node and the node, such as `s0.s4.n7`, and `SLURM_TOPOLOGY_ADDR_PATTERN` their kinds, `switch.switch.node`.
fn leaf_switch(variable: impl Fn(&str) -> Option<String>) -> Known<String> {
    let told = variable("SLURM_TOPOLOGY_ADDR").zip(variable("SLURM_TOPOLOGY_ADDR_PATTERN"));
    let Some((address, pattern)) = told else { return Known::unknown("Slurm did not start this process") };
    let leaf = pattern.split('.').zip(address.split('.')).filter(|(kind, _)| *kind == "switch").last();
    match leaf {
        Some((_, name)) if !name.is_empty() => Known::Known(name.to_owned()),
        _ => Known::unknown("Slurm's topology has no switches: TopologyPlugin in slurm.conf"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_leaf_switch_is_the_one_next_to_the_node() {
        let of = |address: Option<&str>, pattern: &str| {
            leaf_switch(|name| match name {
                "SLURM_TOPOLOGY_ADDR" => address.map(str::to_owned),
                _ => Some(pattern.to_owned()),
            })
        };
        assert_eq!(of(Some("s0.s4.n7"), "switch.switch.node"), Known::Known("s4".to_owned()));
        assert_eq!(of(Some("leaf1.n7"), "switch.node"), Known::Known("leaf1".to_owned()));
        assert!(of(Some("n7"), "node").why().is_some_and(|why| why.contains("no switches")));
        assert!(of(None, "").why().is_some_and(|why| why.contains("did not start")));
    }
}
