//! Main memory, and how much this process may allocate.

use seatrial_model::Bytes;
use seatrial_model::machine::{CgroupMemory, HugePagePool, Known, Memory, NumaNode};
use seatrial_sys::cgroup::{self, Version};
use seatrial_sys::root::{ReadError, SysRoot};

use crate::keyed::Keyed;
use crate::reading::Reading;

const HUGE: &str = "/sys/kernel/mm/hugepages";
const TRANSPARENT: &str = "/sys/kernel/mm/transparent_hugepage/enabled";

pub(crate) fn read(at: &mut Reading<'_>, numa: &[NumaNode]) -> Memory {
    let info = Keyed::read(at.root, "/proc/meminfo");
    let size = |key: &str| Known::from(info.as_ref().map_err(Clone::clone).and_then(|info| info.kib(key)));
    let total_bytes = size("MemTotal");
    let available_bytes = size("MemAvailable");
    compare_with_nodes(at, total_bytes.known().copied(), numa);
    let cgroup = Known::from(cgroup(at.root));
    let effective = effective(&available_bytes, &cgroup);
    Memory {
        total_bytes,
        available_bytes,
        effective_available_bytes: effective,
        cgroup,
        huge_pages: huge_pages(at.root).into(),
        transparent_huge_pages: transparent(at.root).into(),
        numa_balancing: numa_balancing(at.root),
    }
}

/// [`Memory::effective_available_bytes`](seatrial_model::machine::Memory::effective_available_bytes) now.
pub fn available(root: &SysRoot) -> Known<u64> {
    let info = Keyed::read(root, "/proc/meminfo");
    let available = Known::from(info.and_then(|info| info.kib("MemAvailable")));
    effective(&available, &Known::from(cgroup(root)))
}

fn effective(available: &Known<u64>, cgroup: &Known<Option<CgroupMemory>>) -> Known<u64> {
    available.as_ref().and_then(|&available| {
        cgroup
            .as_ref()
            .map(|group| group.as_ref().map_or(available, |group| available.min(group.left_bytes())))
    })
}

/// Remarks nodes that add up to clearly less memory than the machine reports: on virtual machines whose memory grows
/// on demand, the total is a promise, and allocating more waits for the host.
fn compare_with_nodes(at: &mut Reading<'_>, total: Option<u64>, numa: &[NumaNode]) {
    let in_nodes =
        numa.iter().try_fold(0_u64, |sum, node| Some(sum.saturating_add(*node.total_bytes.known()?)));
    let (Some(total), Some(in_nodes)) = (total, in_nodes) else { return };
    if in_nodes < total / 100 * 95 {
        let (claimed, there) = (Bytes(total).rounded(), Bytes(in_nodes).rounded());
        at.remark(
            "memory",
            format!(
                "the machine reports {claimed}, its nodes have {there} now; more memory may be added \
                     slowly"
            ),
        );
    }
}

fn cgroup(root: &SysRoot) -> Result<Option<CgroupMemory>, ReadError> {
    let limit = cgroup::memory_limit(root)?;
    Ok(limit.map(|limit| CgroupMemory {
        version: if limit.version == Version::V1 { 1 } else { 2 },
        group: limit.group,
        limit_bytes: limit.limit_bytes,
        used_bytes: limit.used_bytes,
        reclaimable_bytes: limit.reclaimable_bytes,
    }))
}

/// Huge page pools, smallest pages first. Reserved pages are not free.
fn huge_pages(root: &SysRoot) -> Result<Vec<HugePagePool>, ReadError> {
    let names = match root.list(HUGE) {
        // A kernel without hugetlb pages.
        Err(error) if error.is_missing() => return Ok(Vec::new()),
        names => names?,
    };
    let mut pools = Vec::new();
    for name in names {
        let Some(kib) = name.strip_prefix("hugepages-").and_then(|rest| rest.strip_suffix("kB")) else {
            continue;
        };
        let kib: u64 = kib.parse().map_err(|_| ReadError::garbage(HUGE, &name, "folders hugepages-NkB"))?;
        let number = |file: &str| root.value::<u64>(format!("{HUGE}/{name}/{file}"));
        let promised = number("resv_hugepages").unwrap_or(0);
        pools.push(HugePagePool {
            page_bytes: kib.saturating_mul(1024),
            total: number("nr_hugepages")?,
            free: number("free_hugepages")?.saturating_sub(promised),
        });
    }
    pools.sort_by_key(|pool| pool.page_bytes);
    Ok(pools)
}

/// The word in brackets of `always [madvise] never`.
fn transparent(root: &SysRoot) -> Result<String, ReadError> {
    let text = root.text(TRANSPARENT)?;
    let chosen =
        text.split_once('[').and_then(|(_, rest)| rest.split_once(']')).map(|(word, _)| word.to_owned());
    chosen.ok_or_else(|| ReadError::garbage(TRANSPARENT, &text, "one word in brackets"))
}

/// A kernel built without it does not move pages.
fn numa_balancing(root: &SysRoot) -> Known<bool> {
    match root.value::<u32>("/proc/sys/kernel/numa_balancing") {
        Ok(mode) => Known::Known(mode != 0),
        Err(error) if error.is_missing() && root.exists("/proc/sys/kernel") => Known::Known(false),
        Err(error) => Known::unknown(error.to_string()),
    }
}
