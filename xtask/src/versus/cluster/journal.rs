//! When things happened in a run, by its journal.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use serde_json::Value;

/// Seconds of a day; times are told since midnight, which may lie between two of them.
pub const DAY: f64 = 86400.0;

/// The folder of the only run that was kept in `home`.
pub fn run(home: &Path) -> Result<PathBuf> {
    Ok(fs::read_dir(home.join("runs"))?.next().context("no run")??.path())
}

/// The events of a run and the time of each.
pub fn events(run: &Path) -> Result<Vec<(f64, Value)>> {
    let text = fs::read_to_string(run.join("events.jsonl"))?;
    let event = |line: &str| {
        let mut line: Value = serde_json::from_str(line).ok()?;
        Some((time_of_day(line["at"].as_str()?)?, line["event"].take()))
    };
    Ok(text.lines().filter_map(event).collect())
}

/// When the first event that `is` names was written.
pub fn moment(home: &Path, is: impl Fn(&Value) -> bool) -> Result<f64> {
    let found = events(&run(home)?)?.into_iter().find(|(_, event)| is(event));
    found.map(|(at, _)| at).context("no such event in the journal")
}

/// Seconds since midnight of a time in RFC 3339, in UTC.
pub fn time_of_day(text: &str) -> Option<f64> {
    let clock = text.split_once('T')?.1.strip_suffix('Z')?;
    let mut parts = clock.split(':').map(str::parse::<f64>);
    let mut next = || parts.next()?.ok();
    Some(next()? * 3600.0 + next()? * 60.0 + next()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_is_read_to_its_fraction() {
        assert_eq!(time_of_day("2026-11-21T17:14:38.5Z"), Some(17.0 * 3600.0 + 14.0 * 60.0 + 38.5));
        assert_eq!(time_of_day("2026-11-21 17:14"), None);
    }
}
