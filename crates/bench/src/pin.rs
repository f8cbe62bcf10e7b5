//! Threads that stay on their CPU.

use seatrial_model::Cause;
use seatrial_sys::affinity;
use seatrial_sys::cpuset::CpuSet;

use crate::Error;

/// Pins the calling thread to one CPU and sees it there.
///
/// # Errors
/// As [`pin_to`].
pub fn pin(cpu: u32) -> Result<(), Error> {
    pin_to(&CpuSet::of(cpu))
}

/// Pins the calling thread to some CPUs and sees it there.
///
/// # Errors
/// When the system does not allow it, or lets the thread run elsewhere all the same.
pub fn pin_to(cpus: &CpuSet) -> Result<(), Error> {
    let pinned = affinity::pin(cpus).and_then(|()| affinity::verify(cpus));
    pinned
        .map(|_| ())
        .map_err(|error| Error::new(Cause::Denied, format!("cannot pin a thread to CPU {cpus}: {error}")))
}
