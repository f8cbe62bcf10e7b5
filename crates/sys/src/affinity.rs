//! The CPU affinity of threads: read, set and verify.
//!
//! Masks are sized at run time: glibc's fixed `cpu_set_t` ends at 1024 CPUs, and the kernel answers EINVAL to a
//! buffer smaller than its own mask (sched_setaffinity(2), "Handling systems with large CPU affinity masks").
#![expect(unsafe_code, reason = "sched_getaffinity and sched_setaffinity with masks of any size")]

use rustix::io::Errno;

use crate::cpuset::CpuSet;

const BITS: usize = u64::BITS as usize;

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AffinityError {
    #[error("cannot pin a thread to no CPU at all")]
    Empty,
    #[error("sched_getaffinity: {0}")]
    Get(Errno),
    #[error("sched_setaffinity to CPUs {cpus}: {errno}; are they online and in this process's cpuset?")]
    Set { cpus: CpuSet, errno: Errno },
    /// The kernel reduced the mask to the cpuset without an error.
    #[error("asked for CPUs {asked}, the kernel granted {granted}")]
    Narrowed { asked: CpuSet, granted: CpuSet },
    #[error("thread runs on CPU {cpu}, outside {cpus}")]
    Strayed { cpu: u32, cpus: CpuSet },
}

pub fn allowed() -> Result<CpuSet, AffinityError> {
    let mut words = 1024 / BITS;
    loop {
        let mut mask = vec![0u64; words];
        // SAFETY: the buffer is `size_of_val(mask)` bytes long and lives through the call; pid 0 is this thread.
        let rc = unsafe { libc::sched_getaffinity(0, size_of_val(&*mask), mask.as_mut_ptr().cast()) };
        if rc == 0 {
            return Ok(decode(&mask));
        }
        let errno = crate::last_errno();
        if errno != Errno::INVAL || words * BITS > CpuSet::MAX_ID as usize {
            return Err(AffinityError::Get(errno));
        }
        words *= 2;
    }
}

/// Pins the calling thread to `cpus` and checks that the kernel took the whole set. On return the thread runs on one
/// of these CPUs: the kernel migrates it before the call ends.
pub fn pin(cpus: &CpuSet) -> Result<(), AffinityError> {
    let Some(last) = cpus.last() else { return Err(AffinityError::Empty) };
    let mask = encode(cpus, last as usize);
    // SAFETY: the buffer is `size_of_val(mask)` bytes long and lives through the call; pid 0 is this thread.
    let rc = unsafe { libc::sched_setaffinity(0, size_of_val(&*mask), mask.as_ptr().cast()) };
    if rc != 0 {
        return Err(AffinityError::Set { cpus: cpus.clone(), errno: crate::last_errno() });
    }
    let granted = allowed()?;
    if granted == *cpus { Ok(()) } else { Err(AffinityError::Narrowed { asked: cpus.clone(), granted }) }
}

pub fn current_cpu() -> u32 {
    u32::try_from(rustix::thread::sched_getcpu()).unwrap_or(u32::MAX)
}

/// Checks that the calling thread runs inside `cpus`; returns its CPU.
pub fn verify(cpus: &CpuSet) -> Result<u32, AffinityError> {
    let cpu = current_cpu();
    if cpus.contains(cpu) { Ok(cpu) } else { Err(AffinityError::Strayed { cpu, cpus: cpus.clone() }) }
}

fn decode(mask: &[u64]) -> CpuSet {
    let set = |bit: &usize| mask[bit / BITS] >> (bit % BITS) & 1 == 1;
    (0..mask.len() * BITS).filter(set).filter_map(|bit| u32::try_from(bit).ok()).collect()
}

fn encode(cpus: &CpuSet, last: usize) -> Vec<u64> {
    let mut mask = vec![0u64; last / BITS + 1];
    for cpu in cpus.iter() {
        mask[cpu as usize / BITS] |= 1 << (cpu as usize % BITS);
    }
    mask
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::thread;

    #[test]
    fn pins_to_each_allowed_cpu_and_runs_there() {
        let all = allowed().expect("a mask");
        assert!(!all.is_empty());
        for cpu in all.iter() {
            let one = CpuSet::of(cpu);
            let ran = thread::spawn(move || {
                pin(&one).expect("pinned");
                (verify(&one), allowed())
            });
            assert_eq!(ran.join().expect("joined"), (Ok(cpu), Ok(CpuSet::of(cpu))));
        }
    }

    #[test]
    fn refuses_cpus_that_do_not_exist() {
        let ghost = CpuSet::of(60_000);
        let refused = thread::spawn(move || pin(&ghost)).join().expect("joined").unwrap_err();
        assert!(matches!(refused, AffinityError::Set { errno: Errno::INVAL, .. }), "{refused}");
        assert_eq!(pin(&CpuSet::new()), Err(AffinityError::Empty));
    }

    #[test]
    fn notices_a_mask_that_the_kernel_cuts() {
        let one = allowed().expect("a mask").first().expect("a CPU");
        let wide: CpuSet = [one, 60_000].into_iter().collect();
        let cut = thread::spawn(move || pin(&wide)).join().expect("joined").unwrap_err();
        assert!(
            matches!(&cut, AffinityError::Narrowed { granted, .. } if *granted == CpuSet::of(one)),
            "{cut}"
        );
    }

    #[test]
    fn notices_a_thread_outside_its_set() {
        let elsewhere = CpuSet::of(60_000);
        assert!(matches!(verify(&elsewhere), Err(AffinityError::Strayed { .. })));
    }

    #[test]
    fn masks_hold_more_than_1024_cpus() {
        let cpus: CpuSet = [0, 63, 64, 1023, 1024, 5000].into_iter().collect();
        assert_eq!(decode(&encode(&cpus, 5000)), cpus);
    }
}
