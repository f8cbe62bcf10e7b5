//! How much memory an input has allocated at once, by a global allocator that counts.

mod kernel;

use std::cell::Cell;

thread_local! {
    /// Bytes that the input of this thread has allocated now; below 0 where it freed what was there before.
    static NOW: Cell<isize> = const { Cell::new(0) };
    static PEAK: Cell<isize> = const { Cell::new(0) };
}

/// At so many bytes the process ends at once, before the machine has no memory left.
const END: isize = 2 << 30;

/// Calls `read`, which may allocate `most` bytes at once; how many bytes it did.
///
/// # Panics
/// When it allocated more.
pub fn within(most: usize, read: impl FnOnce()) -> usize {
    NOW.set(0);
    PEAK.set(0);
    read();
    let peak = PEAK.get().cast_unsigned();
    assert!(peak <= most, "one input allocated more than {most} B at once: {peak} B");
    peak
}

/// Notes that so many more bytes are allocated, or fewer.
fn count(bytes: isize) {
    let now = NOW.get().saturating_add(bytes);
    NOW.set(now);
    if now > PEAK.get() {
        PEAK.set(now);
        if now > END {
            NOW.set(0);
            eprintln!("one input allocated {now} B at once");
            std::process::abort();
        }
    }
}
