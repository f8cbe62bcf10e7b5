//! CPU pinning of threads.

use seatrial_model::{Cause, Reason};
use seatrial_sys::affinity;
use seatrial_sys::cpuset::CpuSet;

/// Pins the calling thread to one CPU and verifies it.
pub fn pin(cpu: u32) -> Result<(), Reason> {
    pin_to(&CpuSet::of(cpu))
}

/// Pins the calling thread to some CPUs and verifies it.
pub fn pin_to(cpus: &CpuSet) -> Result<(), Reason> {
    let pinned = affinity::pin(cpus).and_then(|()| affinity::verify(cpus));
    pinned
        .map(|_| ())
        .map_err(|error| Reason::new(Cause::Denied, format!("cannot pin a thread to CPU {cpus}: {error}")))
}
