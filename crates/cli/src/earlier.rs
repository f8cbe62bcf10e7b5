//! The last comparable run before a run: the same profile or the same command, on the same nodes.

use std::collections::BTreeSet;
use std::path::Path;

use seatrial_analysis::{ComparedCases, Comparison, changed, compare};
use seatrial_model::Site;
use seatrial_model::record::RunInfo;
use seatrial_report::Earlier;
use seatrial_store::{Home, HomeEnv, RunFolder, RunSummary, State, StoredRun};

use crate::samples;

/// An earlier run compared with a later one.
pub struct EarlierRun {
    info: RunInfo,
    comparison: Comparison,
    page: Option<String>,
}

impl EarlierRun {
    /// The last run before the run `info` that is comparable with it; `None` without one, and where it cannot be read. `page`
    /// is the name of a page in a run folder, seen from the folder of the run, which is only opened where there is one to
    /// compare it with: the records of thousands of nodes take hundreds of megabytes.
    pub fn find(info: &RunInfo, open: impl FnOnce() -> Option<StoredRun>, page: &str) -> Option<Self> {
        let home = Home::resolve(&HomeEnv::of_process()).ok()?;
        let rows = home.history().ok()?;
        let is_before = |row: &&seatrial_store::RunRow| {
            row.id != info.id && row.state == State::Ended && is_comparable(&row.summary, info)
        };
        let found = rows.iter().filter(is_before).max_by_key(|row| row.summary.started)?;
        let folder = home.runs().join(&found.id);
        let (mut earlier, mut run) = (RunFolder::open(&folder).ok()?, open()?);
        let [before, after] = [&mut earlier, &mut run].map(|run| {
            let mut results = std::mem::take(&mut run.results);
            samples::put_back(run, &mut results);
            results
        });
        let mut comparison = compare(&ComparedCases::all(&before), &ComparedCases::all(&after), None);
        comparison.changed = changed(&earlier.site().ok()?, &run.site().ok()?);
        Some(Self {
            info: earlier.info.present()?.clone(),
            comparison,
            page: folder.join(page).is_file().then(|| format!("../{}/{page}", found.id)),
        })
    }

    /// For the page at `file` of the run in `folder`: only beside the other run folders, a link leads to its page.
    pub fn shown(&self, file: &Path, folder: &Path) -> Earlier<'_> {
        let is_beside = file.parent() == Some(folder);
        let page = self.page.as_deref().filter(|_| is_beside);
        Earlier { run: &self.info, comparison: &self.comparison, page }
    }
}

/// Runs that are looked at for counters of nodes that the newest one did not have.
const MOST_RUNS: usize = 8;

/// Notes in `site` what its counters were in the last run of each node, before the run `own`. A run that cannot be read
/// tells nothing.
pub fn note_counters(home: &Home, own: Option<&str>, site: &mut Site) {
    let Ok(mut rows) = home.history() else { return };
    let names: BTreeSet<&str> = site.nodes.iter().map(|node| node.name.as_str()).collect();
    rows.retain(|row| {
        Some(row.id.as_str()) != own && row.summary.nodes.iter().any(|node| names.contains(node.as_str()))
    });
    rows.sort_by_key(|row| std::cmp::Reverse(row.summary.started));
    for row in rows.iter().take(MOST_RUNS) {
        let folder = home.runs().join(&row.id);
        let Ok(before) = RunFolder::open(&folder).and_then(|run| run.site()) else { continue };
        if seatrial_analysis::note_counters(&before, site) {
            return;
        }
    }
}

fn is_comparable(before: &RunSummary, run: &RunInfo) -> bool {
    let nodes = |names: &[String]| names.iter().cloned().collect::<BTreeSet<_>>();
    let is_same = match (&before.profile, &run.profile) {
        (Some(before), Some(profile)) => *before == profile.id,
        (None, None) => {
            before.command.as_ref().is_some_and(|command| command.get(1..) == run.command.get(1..))
        }
        _ => false,
    };
    is_same && before.started.is_some_and(|at| at < run.started) && nodes(&before.nodes) == nodes(&run.nodes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(profile: Option<&str>, command: &[&str], nodes: &[&str]) -> RunInfo {
        let words = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect();
        RunInfo {
            id: "20260921-083015-bcdf".to_owned(),
            seatrial: "0.1.0".to_owned(),
            command: words(command),
            options: None,
            profile: profile.map(|id| seatrial_model::record::ProfileRef {
                id: id.to_owned(),
                title: String::new(),
                file: None,
            }),
            nodes: words(nodes),
            started: "2026-09-21T08:30:15Z".parse().unwrap(),
            paused_seconds: 0.0,
            ended: None,
        }
    }

    fn before(run: &RunInfo) -> RunSummary {
        RunSummary {
            command: Some(run.command.clone()),
            profile: run.profile.as_ref().map(|profile| profile.id.clone()),
            nodes: run.nodes.iter().rev().cloned().collect(),
            started: "2026-09-20T08:30:15Z".parse().ok(),
            ..RunSummary::default()
        }
    }

    #[test]
    fn runs_of_one_profile_or_of_one_command_on_the_same_nodes_are_comparable() {
        let check = run(Some("host"), &["seatrial", "check"], &["n1", "n2"]);
        assert!(is_comparable(&before(&check), &check));
        // The profile decides, whatever the command was.
        let again = run(Some("host"), &["/usr/bin/seatrial", "check", "host.toml"], &["n1", "n2"]);
        assert!(is_comparable(&before(&again), &check));
        let bare = run(None, &["seatrial", "run", "mem.bandwidth"], &["n1"]);
        assert!(is_comparable(
            &before(&run(None, &["/opt/seatrial", "run", "mem.bandwidth"], &["n1"])),
            &bare
        ));
        for other in [
            run(Some("cluster"), &["seatrial", "check"], &["n1", "n2"]),
            run(None, &["seatrial", "check"], &["n1", "n2"]),
            run(Some("host"), &["seatrial", "check"], &["n1"]),
        ] {
            assert!(!is_comparable(&before(&other), &check), "{other:?}");
        }
        let other = run(None, &["seatrial", "run", "mem.latency"], &["n1"]);
        assert!(!is_comparable(&before(&other), &bare));
        let later = RunSummary { started: Some(check.started), ..before(&check) };
        assert!(!is_comparable(&later, &check));
    }
}
