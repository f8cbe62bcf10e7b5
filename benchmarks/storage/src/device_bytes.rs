//! Compares the bytes that were requested with the bytes that the device counted.

use seatrial_model::{Finding, PartRecord, Severity, Subject};
use serde_json::{Value, json};

/// Largest relative difference between requested and counted bytes.
const TOLERANCE: f64 = 0.02;

/// Evidence entry: bytes requested of a disk, and bytes that the device counted meanwhile.
pub fn evidence(disk: &str, asked: u64, counted: Result<u64, String>) -> Value {
    match counted {
        Ok(counted) => json!({ "disk": disk, "asked_bytes": asked, "counted_bytes": counted }),
        Err(why) => json!({ "disk": disk, "asked_bytes": asked, "unknown": why }),
    }
}

/// A finding for each disk whose byte count over all trials is unknown or differs from the requested bytes.
pub fn findings(parts: &[PartRecord]) -> Vec<Finding> {
    let all = || parts.iter().filter_map(|part| part.evidence.get("path")?.as_array()).flatten();
    let name = |entry: &Value| entry["disk"].as_str().map(str::to_owned);
    let mut disks: Vec<String> = all().filter_map(name).collect();
    disks.sort_unstable();
    disks.dedup();
    disks.iter().filter_map(|disk| finding(disk, all().filter(|entry| entry["disk"] == **disk))).collect()
}

fn finding<'a>(disk: &str, entries: impl Iterator<Item = &'a Value>) -> Option<Finding> {
    let (mut asked, mut counted, mut unknown) = (0, 0, None);
    for entry in entries {
        asked += entry["asked_bytes"].as_u64().unwrap_or(0);
        counted += entry["counted_bytes"].as_u64().unwrap_or(0);
        unknown = unknown.or(entry["unknown"].as_str());
    }
    let percent = 100.0 * counted as f64 / asked.max(1) as f64;
    let text = match unknown {
        Some(why) => {
            format!("cannot confirm that the data came from {disk}: its byte counter cannot be read: {why}")
        }
        None if (percent / 100.0 - 1.0).abs() <= TOLERANCE => return None,
        None if percent < 100.0 => format!(
            "{disk} moved only {percent:.1} % of the bytes that were requested: a cache above it supplied \
             the rest, or it was never moved"
        ),
        None => format!(
            "{disk} moved {percent:.1} % of the bytes that were requested: another process used it \
             meanwhile, or the kernel read ahead further than the test",
        ),
    };
    let finding = Finding::new("path-unconfirmed", Severity::Warning, Subject::device("disk", disk), text);
    Some(Finding { evidence: vec!["path".to_owned()], ..finding })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn part(trial: u32, path: Value) -> PartRecord {
        PartRecord {
            trial,
            evidence: [("path".to_owned(), path)].into(),
            ..seatrial_testkit::part(Vec::new())
        }
    }

    #[test]
    fn two_percent_over_all_trials_is_the_border_either_way() {
        let told = |counted: u64| {
            let trial = |number, counted| part(number, json!([evidence("sda", 10_000, Ok(counted))]));
            findings(&[trial(0, 10_000), trial(1, counted)]).pop().map(|finding| finding.text)
        };
        assert_eq!((told(10_000), told(10_399), told(9_601)), (None, None, None));
        assert!(told(9_500).expect("too few").starts_with("sda moved only 97.5 %"));
        assert!(told(10_500).expect("too many").contains("another process"));
    }

    #[test]
    fn every_disk_has_its_own_and_an_unknown_count_is_unconfirmed() {
        let path = json!([evidence("sda", 100, Ok(100)), evidence("sdb", 100, Err("no stat".to_owned()))]);
        let found = findings(&[part(0, path)]);
        assert_eq!(found.len(), 1);
        assert_eq!((found[0].kind.as_str(), found[0].subject.as_str()), ("path-unconfirmed", "disk:sdb"));
        assert!(found[0].text.contains("no stat"));
    }
}
