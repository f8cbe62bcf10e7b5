//! The logs of a lab: where they are, and their ends for messages.

use std::fs;
use std::path::{Path, PathBuf};

use super::state::Lab;

/// How many lines of a log a message shows.
const LINES: usize = 8;

/// The log of `what` on the host `name`.
pub fn path(lab: &Lab, name: &str, what: &str) -> PathBuf {
    lab.folder.join(name).join(format!("{what}.log"))
}

/// The last lines of a log, each on a line of its own after the path; for the end of a message.
pub fn end(path: &Path) -> String {
    let text = fs::read(path).unwrap_or_default();
    let text = String::from_utf8_lossy(&text);
    let lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
    let last = &lines[lines.len().saturating_sub(LINES)..];
    let last: String = last.iter().map(|line| format!("\n  {line}")).collect();
    let said = if last.is_empty() { " (empty)" } else { ":" };
    format!("\n{}{said}{last}", path.display())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_of_a_log_is_its_last_lines() {
        let folder = tempfile::tempdir().unwrap();
        let log = folder.path().join("x.log");
        assert!(end(&log).ends_with("x.log (empty)"));
        let lines: String = (0..20).map(|number| format!("line {number}\n\n")).collect();
        fs::write(&log, lines).unwrap();
        let end = end(&log);
        assert!(end.contains("x.log:\n  line 12\n") && end.ends_with("\n  line 19"), "{end}");
    }
}
