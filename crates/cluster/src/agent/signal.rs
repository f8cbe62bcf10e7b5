//! Names of signals.

/// For example `SIGSEGV`; `signal 40` for a signal without a name.
pub fn signal_name(number: i32) -> String {
    let name = signal_hook::low_level::signal_name(number);
    name.map_or_else(|| format!("signal {number}"), str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_agree_with_the_numbers_of_the_c_library() {
        for (number, name) in [
            (libc::SIGHUP, "SIGHUP"),
            (libc::SIGABRT, "SIGABRT"),
            (libc::SIGBUS, "SIGBUS"),
            (libc::SIGKILL, "SIGKILL"),
            (libc::SIGSEGV, "SIGSEGV"),
            (libc::SIGTERM, "SIGTERM"),
            (libc::SIGSTOP, "SIGSTOP"),
            (libc::SIGXCPU, "SIGXCPU"),
            (libc::SIGSYS, "SIGSYS"),
            (0, "signal 0"),
            (-1, "signal -1"),
            (40, "signal 40"),
        ] {
            assert_eq!(signal_name(number), name);
        }
    }
}
