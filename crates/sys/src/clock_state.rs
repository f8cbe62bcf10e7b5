//! Whether a time service keeps the clock of the machine right, as the kernel knows it (adjtimex(2)).
#![expect(unsafe_code, reason = "a system call without a safe wrapper")]

use rustix::io::Errno;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClockState {
    /// Whether a time service (NTP, PTP) set the clock lately; the kernel forgets it when nothing does.
    pub synchronised: bool,
    /// Bound on the error that the time service states, in microseconds; the kernel adds 500 us in every second without
    /// an update, up to 16 s.
    pub largest_error_us: u64,
}

/// Reads the state of the clock and changes nothing, which needs no privilege.
pub fn clock_state() -> Result<ClockState, Errno> {
    // SAFETY: `timex` holds integers alone, for which zero is valid; with no mode set, the kernel only writes to it.
    let mut timex: libc::timex = unsafe { std::mem::zeroed() };
    // SAFETY: the pointer is to a whole `timex` that lives over the call.
    let state = unsafe { libc::adjtimex(&raw mut timex) };
    if state < 0 {
        return Err(crate::last_errno());
    }
    Ok(ClockState {
        synchronised: timex.status & libc::STA_UNSYNC == 0,
        largest_error_us: timex.maxerror.try_into().unwrap_or(0),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The kernel drops the state "synchronised" at this error (`MAXPHASE` of Linux kernel/time/ntp.c: 16 s).
    #[test]
    fn a_synchronised_clock_has_a_bounded_error() {
        match clock_state() {
            Ok(state) => assert!(!state.synchronised || state.largest_error_us <= 16_000_000, "{state:?}"),
            Err(error) => assert!([Errno::PERM, Errno::NOSYS].contains(&error), "{error}"),
        }
    }
}
