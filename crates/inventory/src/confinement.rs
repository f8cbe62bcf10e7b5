//! Limits of this process: CPUs and NUMA nodes of its cpuset, resource limits; from `/proc/self/status` and
//! `/proc/self/limits` (proc_pid_status(5), proc_pid_limits(5)).

use seatrial_model::machine::{Confinement, Known, ProcessLimit};
use seatrial_sys::cpuset::CpuSet;
use seatrial_sys::root::{ReadError, SysRoot};

use crate::keyed::Keyed;

const STATUS: &str = "/proc/self/status";
const LIMITS: &str = "/proc/self/limits";

pub(crate) fn read(root: &SysRoot) -> Confinement {
    let limits = root.text(LIMITS);
    let limit = |name: &str| {
        Known::from(limits.as_ref().map_err(Clone::clone).and_then(|text| process_limit(text, name)))
    };
    Confinement {
        cpus: allowed(root, "Cpus_allowed_list").into(),
        memory_nodes: allowed(root, "Mems_allowed_list").into(),
        locked_memory: limit("Max locked memory"),
        open_files: limit("Max open files"),
        realtime_priority: limit("Max realtime priority"),
        address_space: limit("Max address space"),
    }
}

fn allowed(root: &SysRoot, key: &str) -> Result<Vec<u32>, ReadError> {
    let status = Keyed::read(root, STATUS)?;
    let Some(list) = status.get(key) else {
        return Err(ReadError::garbage(STATUS, "no such line", &format!("a line '{key}: LIST'")));
    };
    let set: Result<CpuSet, _> = list.parse();
    set.map(|set| set.iter().collect())
        .map_err(|error| ReadError::garbage(STATUS, list, &format!("a list in {key} ({error})")))
}

/// `Max open files            1024                 4096                 files`: soft limit, then hard limit.
fn process_limit(text: &str, name: &str) -> Result<ProcessLimit, ReadError> {
    let expected = format!("a line '{name} SOFT HARD'");
    let Some(values) = text.lines().find_map(|line| line.strip_prefix(name)) else {
        return Err(ReadError::garbage(LIMITS, "no such line", &expected));
    };
    let mut values = values.split_whitespace().map(|value| match value {
        "unlimited" => Some(None),
        number => number.parse().ok().map(Some),
    });
    match (values.next().flatten(), values.next().flatten()) {
        (Some(soft), Some(hard)) => Ok(ProcessLimit { soft, hard }),
        _ => Err(ReadError::garbage(
            LIMITS,
            text.lines().find(|l| l.starts_with(name)).unwrap_or(""),
            &expected,
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "Limit                     Soft Limit           Hard Limit           Units     \n\
        Max locked memory         8388608              unlimited            bytes     \n\
        Max open files            many                 4096                 files     \n\
        Max realtime priority     0                    0                    \n";

    #[test]
    fn tells_no_limit_from_a_limit_of_none() {
        let limit = |name| process_limit(TEXT, name);
        assert_eq!(limit("Max locked memory"), Ok(ProcessLimit { soft: Some(8_388_608), hard: None }));
        assert_eq!(limit("Max realtime priority"), Ok(ProcessLimit { soft: Some(0), hard: Some(0) }));
        let garbled = limit("Max open files").expect_err("a word").to_string();
        assert!(garbled.contains("many") && garbled.contains("SOFT HARD"), "{garbled}");
        assert!(limit("Max address space").is_err());
    }
}
