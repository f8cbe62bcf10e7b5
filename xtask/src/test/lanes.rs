//! What is tested side by side: programs that mostly wait share the machine with those that mostly compute.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::Path;

use crate::workspace;

/// The commands of cargo for one lane, one after the other.
pub type Lane = Vec<Vec<String>>;

/// Tests of xtask that share a machine-wide lab; each waits for daemons and deadlines most of its time.
const LAB: [&str; 2] = ["cluster", "lab"];

/// What the names of the test programs begin with whose virtual machines compute for many minutes: they run by name only.
const GUESTS: &str = "guest_";

/// The lanes of the whole workspace below `root`: the lab, and everything else with the doc tests.
///
/// All select the whole workspace and then programs of it, so that none of them compiles anything with other features.
///
/// # Errors
/// When the folders of tests cannot be read.
pub fn lanes(root: &Path) -> io::Result<Vec<Lane>> {
    let programs = programs(root)?;
    let is_lab = |name: &str| LAB.contains(&name);
    let plain = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
    let others = chosen(&programs, |name| !name.starts_with(GUESTS) && !is_lab(name));
    Ok(vec![
        vec![chosen(&programs, is_lab)],
        vec![[plain(&["--lib", "--bins"]), others].concat(), plain(&["--doc"])],
    ])
}

/// The arguments that choose the programs that are in no lane.
///
/// # Errors
/// When the folders of tests cannot be read.
pub fn guests(root: &Path) -> io::Result<Vec<String>> {
    Ok(chosen(&programs(root)?, |name| name.starts_with(GUESTS)))
}

fn chosen(programs: &BTreeSet<String>, is_chosen: impl Fn(&str) -> bool) -> Vec<String> {
    let names = programs.iter().filter(|name| is_chosen(name));
    names.flat_map(|name| ["--test".to_owned(), name.clone()]).collect()
}

/// The names of all test programs of the workspace: files of `tests`, and folders of `tests` with a main file.
fn programs(root: &Path) -> io::Result<BTreeSet<String>> {
    let mut packages = vec![root.join("xtask")];
    for folder in workspace::CRATE_FOLDERS {
        for package in fs::read_dir(root.join(folder))? {
            packages.push(package?.path());
        }
    }
    let mut programs = BTreeSet::new();
    for tests in packages.iter().map(|package| package.join("tests")).filter(|tests| tests.is_dir()) {
        for entry in fs::read_dir(tests)? {
            let path = entry?.path();
            let is_program =
                path.extension().is_some_and(|end| end == "rs") || path.join("main.rs").is_file();
            programs.extend(
                path.file_stem().filter(|_| is_program).map(|name| name.to_string_lossy().into_owned()),
            );
        }
    }
    Ok(programs)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workspace;

    #[test]
    fn every_test_program_is_in_just_one_lane_or_runs_by_name() {
        let mut lanes = lanes(workspace::root()).unwrap();
        lanes.push(vec![guests(workspace::root()).unwrap()]);
        let named: Vec<&String> =
            lanes.iter().flatten().flatten().filter(|word| !word.starts_with("--")).collect();
        let all: Vec<String> = programs(workspace::root()).unwrap().into_iter().collect();
        let mut sorted: Vec<String> = named.into_iter().cloned().collect();
        sorted.sort();
        assert_eq!(sorted, all);
        let of = |name: &str| {
            lanes.iter().position(|lane| lane.iter().flatten().any(|word| word == name)).expect("a lane")
        };
        assert_eq!([of("cluster"), of("conformance"), of("guest"), of("guest_rdma")], [0, 1, 1, 2]);
    }

    #[test]
    fn folders_of_helpers_and_fixtures_are_no_programs() {
        let root = tempfile::tempdir().unwrap();
        let tests = root.path().join("crates/one/tests");
        fs::create_dir_all(root.path().join("benchmarks")).unwrap();
        fs::create_dir_all(tests.join("whole")).unwrap();
        fs::create_dir_all(tests.join("fixtures")).unwrap();
        fs::write(tests.join("whole/main.rs"), "").unwrap();
        fs::write(tests.join("single.rs"), "").unwrap();
        fs::write(tests.join("fixtures/data.json"), "").unwrap();
        let programs: Vec<String> = programs(root.path()).unwrap().into_iter().collect();
        assert_eq!(programs, ["single", "whole"]);
    }
}
