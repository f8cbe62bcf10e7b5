//! A line of the kernel's log.

/// The words of syslog(3) for the levels 0 to 7.
const LEVELS: [&str; 8] = ["emerg", "alert", "crit", "err", "warning", "notice", "info", "debug"];

/// A line that a log gained while a probe watched it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// Its number: lines of one log count upwards, and two readers see the same numbers.
    pub sequence: u64,
    /// How grave it is: 0 (`emerg`) to 7 (`debug`).
    pub level: u8,
    /// The text, without control characters.
    pub text: String,
}

impl Line {
    /// The level as syslog(3) calls it.
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
