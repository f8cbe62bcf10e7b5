//! What a process knows of its machine without reading files: by asking the kernel, the C library and the CPU.

use seatrial_model::machine::Known;
use seatrial_sys::cpuset::CpuSet;
use seatrial_sys::libc_info::{CacheQuery, cache_bytes, page_bytes};
use seatrial_sys::root::SysRoot;
use seatrial_sys::{affinity, isa};

/// The view of one process.
#[derive(Clone, Debug, PartialEq)]
pub struct Process {
    /// CPUs it may run on.
    pub allowed: Known<CpuSet>,
    /// Instruction set extensions it may use.
    pub isa: Known<Vec<String>>,
    /// Base page size in bytes.
    pub page_size_bytes: Known<u64>,
    /// The C library's idea of the level 3 cache, in bytes.
    pub l3_by_libc_bytes: Known<u64>,
}

impl Process {
    /// The calling process; its CPUs are those of the calling thread.
    pub fn current() -> Self {
        Self {
            allowed: affinity::allowed().into(),
            isa: Known::Known(isa::features().into_iter().map(str::to_owned).collect()),
            page_size_bytes: Known::Known(page_bytes()),
            l3_by_libc_bytes: match cache_bytes(CacheQuery::L3) {
                Some(bytes) => Known::Known(bytes),
                None => Known::unknown("sysconf(_SC_LEVEL3_CACHE_SIZE) does not know"),
            },
        }
    }

    /// A process on a machine of which we only have files; those tell its CPUs if anything does.
    pub fn elsewhere(root: &SysRoot) -> Self {
        const STATUS: &str = "/proc/self/status";
        let allowed = root.text(STATUS).map_err(|error| error.to_string()).and_then(|text| {
            let list = text.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:"));
            let list = list.ok_or_else(|| format!("{STATUS} has no Cpus_allowed_list"))?;
            list.parse().map_err(|error| format!("{STATUS}: {error}"))
        });
        let files_only = "only the files of this machine are at hand";
        Self {
            allowed: allowed.into(),
            isa: Known::unknown(files_only),
            page_size_bytes: Known::unknown(files_only),
            l3_by_libc_bytes: Known::unknown(files_only),
        }
    }
}
