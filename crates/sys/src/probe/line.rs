//! A line of the kernel's log.

const LEVELS: [&str; 8] = ["emerg", "alert", "crit", "err", "warning", "notice", "info", "debug"];

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// Sequence number in the log, the same for all readers.
    pub sequence: u64,
    /// Level from 0 (`emerg`) to 7 (`debug`), named as in syslog(3).
    pub level: u8,
    pub text: String,
}

impl Line {
    pub fn level_name(&self) -> &'static str {
        LEVELS[usize::from(self.level & 7)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_have_the_names_of_syslog() {
        let name = |level| Line { sequence: 0, level, text: String::new() }.level_name();
        assert_eq!((name(0), name(3), name(4), name(7)), ("emerg", "err", "warning", "debug"));
    }
}
