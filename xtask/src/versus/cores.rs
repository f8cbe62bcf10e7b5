//! The CPUs that peers are started on: those that our threads choose, one of each core.

use anyhow::Result;
use seatrial_sys::affinity;
use seatrial_sys::cpuset::CpuSet;

/// The first CPU of each core that this process may use, those of `near` first.
///
/// # Errors
/// When it cannot be read which CPUs it may use.
pub fn cores(near: &CpuSet) -> Result<Vec<u32>> {
    let allowed = affinity::allowed()?;
    let is_near = |cpu: &u32| near.contains(*cpu);
    let first = allowed.iter().filter(is_near).chain(allowed.iter().filter(|cpu| !is_near(cpu)));
    let mut of_these_cores = CpuSet::default();
    let mut each = Vec::new();
    for cpu in first {
        if !of_these_cores.contains(cpu) {
            of_these_cores = of_these_cores.union(&siblings(cpu));
            each.push(cpu);
        }
    }
    Ok(each)
}

/// The CPUs of the core that `cpu` is of; itself where the kernel does not tell.
fn siblings(cpu: u32) -> CpuSet {
    let list = format!("/sys/devices/system/cpu/cpu{cpu}/topology/thread_siblings_list");
    let told = std::fs::read_to_string(list).ok().and_then(|list| list.trim().parse().ok());
    told.unwrap_or_else(|| CpuSet::of(cpu))
}

/// The CPUs of two ends with so many threads each, as `affinity=auto` chooses them where both are on one kernel and no card
/// has interrupts: a core a thread, those of the second end behind those of the first, and round again.
pub fn ends(cores: &[u32], threads: usize) -> [CpuSet; 2] {
    [0, threads].map(|others| cores.iter().cycle().skip(others).take(threads).copied().collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_end_has_cores_of_its_own_as_far_as_there_are_enough() {
        let lists = |cores: &[u32], threads| ends(cores, threads).map(|cpus| cpus.to_string());
        assert_eq!(lists(&[0, 1], 1), ["0", "1"]);
        assert_eq!(lists(&[0, 2, 4], 2), ["0,2", "0,4"]);
        assert_eq!(lists(&[0, 1], 4), ["0-1", "0-1"]);
        assert_eq!(lists(&[3], 1), ["3", "3"]);
    }

    #[test]
    fn every_core_has_one_cpu_and_those_that_are_near_come_first() {
        let all = cores(&CpuSet::default()).unwrap();
        let last = *all.last().unwrap();
        assert_eq!(cores(&CpuSet::of(last)).unwrap()[0], last);
        assert!(all.iter().all(|cpu| siblings(*cpu).contains(*cpu)));
    }
}
