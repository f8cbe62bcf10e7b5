//! The trial of a process that may lock 64 KiB of memory.

use seatrial_sys::verbs::{Access, MemoryRegion, ProtectionDomain, VerbsError, VerbsFault};

use crate::rig::{device, memory};

#[test]
#[ignore = "run by other tests, in a process of its own"]
fn more_memory_than_may_be_locked_is_refused_with_the_remedy() {
    let pd = ProtectionDomain::new(&device()).unwrap();
    let small = MemoryRegion::register(&pd, memory(16 << 10), Access::ALL).unwrap();
    let error = MemoryRegion::register(&pd, memory(128 << 10), Access::ALL).unwrap_err();
    assert_eq!(error, VerbsError::MemoryLock { bytes: 128 << 10, limit_bytes: 64 << 10 });
    assert_eq!(error.fault(), VerbsFault::MemoryLocked);
    assert!(error.to_string().contains("ulimit -l unlimited"), "{error}");
    // What was registered before counts.
    let error = MemoryRegion::register(&pd, memory(56 << 10), Access::ALL).unwrap_err();
    assert_eq!(error.fault(), VerbsFault::MemoryLocked, "{error}");
    drop(small);
    MemoryRegion::register(&pd, memory(56 << 10), Access::ALL).unwrap();
}
