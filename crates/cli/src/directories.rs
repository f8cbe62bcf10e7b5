//! Directories of a plan that are not on this machine.

use std::collections::BTreeSet;
use std::path::Path;

use seatrial_bench::Registry;
use seatrial_model::{Case, Finding, Need, Severity};

/// Warns in each case of the directories that its parameters name and that are not here. Other nodes are not asked before
/// they measure.
pub fn warn_of_missing(cases: &mut [Case], registry: &Registry) {
    let with_directory = registry.abouts().filter(|about| about.needs.contains(&Need::Directory));
    let benches: BTreeSet<&str> = with_directory.map(|about| about.id).collect();
    for case in cases.iter_mut().filter(|case| benches.contains(case.bench.as_str())) {
        let paths = case.params.iter().map(|(_, value)| value.to_string());
        let missing: Vec<String> =
            paths.filter(|path| path.starts_with('/') && !Path::new(path).is_dir()).collect();
        for path in missing {
            let text = format!("{path} is no directory of this machine: make it, or name another one");
            case.findings.push(Finding::new("no-directory", Severity::Warning, case.subject.clone(), text));
        }
    }
}
