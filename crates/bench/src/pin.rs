//! Threads that stay on their CPU.

use seatrial_model::Cause;
use seatrial_sys::affinity;
use seatrial_sys::cpuset::CpuSet;

use crate::Error;

/// Pins the calling thread to one CPU and sees it there.
///
/// # Errors
/// When the system does not allow it, or lets the thread run elsewhere all the same.
pub fn pin(cpu: u32) -> Result<(), Error> {
    let set = CpuSet::of(cpu);
    let pinned = affinity::pin(&set).and_then(|()| affinity::verify(&set));
    pinned
        .map(|_| ())
        .map_err(|error| Error::new(Cause::Denied, format!("cannot pin a thread to CPU {cpu}: {error}")))
}
