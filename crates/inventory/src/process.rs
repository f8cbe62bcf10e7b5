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
            l3_by_libc_bytes: Known::unknown(FILES_ONLY),
            spaces: Spaces::Told(BTreeMap::new()),
        }
    }
}
