//! The README's map of the crates is complete, and dependencies point downwards on it.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;
use xtask::workspace;

/// Names in the first column of the README's map, from top to bottom.
fn map() -> Vec<String> {
    let readme = std::fs::read_to_string(workspace::root().join("README.md")).unwrap();
    let section = readme
        .split("\n## ")
        .find(|section| section.starts_with("Source code\n"))
        .expect("a section 'Source code'");
    let names = section.lines().filter_map(|line| line.strip_prefix("| `")?.split_once('`'));
    names.map(|(name, _)| name.to_owned()).collect()
}

/// The packages of the workspace, as cargo sees them.
fn packages() -> Vec<Value> {
    let mut cargo: Command =
        workspace::cargo(["metadata", "--no-deps", "--offline", "--locked", "--format-version", "1"]);
    let output = cargo.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let metadata: Value = serde_json::from_slice(&output.stdout).unwrap();
    metadata["packages"].as_array().unwrap().clone()
}

/// What the map calls a package: its folder.
fn folder(package: &str) -> &str {
    match package {
        "seatrial" => "cli",
        other => other.strip_prefix("seatrial-").unwrap_or(other),
    }
}

#[test]
fn the_map_lists_every_crate_folder_once_and_nothing_else() {
    let entries =
        workspace::CRATE_FOLDERS.map(|name| std::fs::read_dir(workspace::root().join(name)).unwrap());
    let mut folders: BTreeSet<String> = entries
        .into_iter()
        .flatten()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    folders.extend(["xtask".to_owned(), "fuzz".to_owned()]);
    let listed = map();
    assert_eq!(listed.iter().cloned().collect::<BTreeSet<_>>(), folders);
    assert_eq!(listed.len(), folders.len(), "a crate is listed twice: {listed:?}");
}

#[test]
fn every_package_lies_in_the_folder_that_its_name_says() {
    for package in packages() {
        let name = package["name"].as_str().unwrap();
        let manifest = package["manifest_path"].as_str().unwrap();
        assert!(manifest.ends_with(&format!("/{}/Cargo.toml", folder(name))), "{name} lies in {manifest}");
    }
}

#[test]
fn no_family_of_benchmarks_uses_another() {
    let families: BTreeSet<String> = std::fs::read_dir(workspace::root().join("benchmarks"))
        .unwrap()
        .map(|entry| format!("seatrial-{}", entry.unwrap().file_name().display()))
        .collect();
    let mut seen = 0;
    for package in packages() {
        if families.contains(package["name"].as_str().unwrap()) {
            seen += 1;
            for dependency in package["dependencies"].as_array().unwrap() {
                let name = dependency["name"].as_str().unwrap();
                assert!(!families.contains(name), "{} uses {name}", package["name"]);
            }
        }
    }
    assert_eq!(seen, families.len());
}

#[test]
fn dependencies_point_downwards_tests_included() {
    let map = map();
    let row = |name: &str| map.iter().position(|listed| listed == name).expect("a crate on the map");
    let mut arrows = 0;
    for package in packages() {
        let from = folder(package["name"].as_str().unwrap());
        for dependency in package["dependencies"].as_array().unwrap() {
            if dependency["path"].is_null() {
                continue;
            }
            let to = folder(dependency["name"].as_str().unwrap());
            assert!(row(to) > row(from), "{from} uses {to}, which stands above it in the README's map");
            arrows += 1;
        }
    }
    assert!(arrows > map.len(), "only {arrows} dependencies between crates were seen");
}

/// Packages with the features that cargo would build them with, one line each.
fn features(args: &str) -> BTreeSet<String> {
    let mut cargo: Command =
        workspace::cargo(["tree", "--offline", "--locked", "--prefix=none", "--format={p} {f}"]);
    let output = cargo.args(args.split_whitespace()).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).unwrap();
    text.lines().map(|line| line.trim_end_matches(" (*)").trim_end().to_owned()).collect()
}

#[test]
fn the_tasks_are_built_with_the_features_of_the_tests() {
    let tasks = features("--package xtask --edges normal,build");
    let tests = features("--workspace");
    let different: Vec<_> = tasks.difference(&tests).collect();
    assert!(tasks.len() > 50, "{tasks:?}");
    assert!(
        different.is_empty(),
        "tests enable other features of {different:?}, so `cargo xtask test` would compile the workspace twice; \
         name what enables them among the dependencies of xtask, too"
    );
}

/// Dependencies that no code of a package names: package, dependency and why it is there.
const UNNAMED: &[(&str, &str, &str)] = &[
    ("xtask", "jsonschema", "cargo chooses the features of shared dependencies by it, as for the tests"),
    ("xtask", "proptest", "cargo chooses the features of shared dependencies by it, as for the tests"),
];

/// Whether code names a crate: in a path, or by `use`. A line of comment is no code.
fn is_named(code: &str, name: &str) -> bool {
    let is_word = |letter: char| letter.is_alphanumeric() || letter == '_';
    code.lines().map(str::trim_start).filter(|line| !line.starts_with("//")).any(|line| {
        line.match_indices(name).any(|(at, _)| {
            let (before, after) = (&line[..at], &line[at + name.len()..]);
            let opens =
                !before.ends_with(|letter| is_word(letter) || letter == ':') || before.ends_with(" ::");
            let is_whole = line.starts_with("use ") && after.starts_with([';', ' ']);
            opens && (after.starts_with("::") || is_whole)
        })
    })
}

/// All Rust code below `folder`.
fn code(folder: &Path) -> String {
    let mut text = String::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                text.push_str(&std::fs::read_to_string(path).unwrap());
            }
        }
    }
    text
}

#[test]
fn every_dependency_is_named_by_code() {
    let mut unused = Vec::new();
    let mut seen = 0;
    for package in packages() {
        let of = package["name"].as_str().unwrap();
        let folder = PathBuf::from(package["manifest_path"].as_str().unwrap()).with_file_name("");
        let (whole, library) = (code(&folder), code(&folder.join("src")));
        for dependency in package["dependencies"].as_array().unwrap() {
            let name = dependency["rename"].as_str().or(dependency["name"].as_str()).unwrap();
            // Tests and build scripts lie outside of `src`.
            let code = if dependency["kind"].is_null() { &library } else { &whole };
            let is_exempt = UNNAMED.iter().any(|(package, other, _)| (*package, *other) == (of, name));
            if is_named(code, &name.replace('-', "_")) == is_exempt {
                unused.push(format!("{of}: {name}"));
            }
            seen += 1;
        }
    }
    assert!(seen > 50, "only {seen} dependencies were seen");
    assert!(
        unused.is_empty(),
        "no code names these dependencies, or UNNAMED lists one that code does name: {unused:?}"
    );
}

#[test]
fn every_dependency_of_the_workspace_is_one_of_a_package() {
    let manifest = std::fs::read_to_string(workspace::root().join("Cargo.toml")).unwrap();
    let (_, rest) = manifest.split_once("[workspace.dependencies]\n").unwrap();
    let listed: BTreeSet<String> = rest
        .lines()
        .take_while(|line| !line.starts_with('['))
        .filter_map(|line| Some(line.split_once(" = ")?.0.to_owned()))
        .collect();
    let names =
        packages().into_iter().flat_map(|package| package["dependencies"].as_array().unwrap().clone());
    let used: BTreeSet<String> =
        names.map(|dependency| dependency["name"].as_str().unwrap().to_owned()).collect();
    assert_eq!(listed.difference(&used).collect::<Vec<_>>(), Vec::<&String>::new());
}

#[test]
fn a_crate_is_named_by_a_path_or_by_use_and_not_by_a_module_or_a_comment() {
    for code in ["use csv;", "use csv as table;", "    let a = csv::Reader::new();", "pub use csv::Reader;"] {
        assert!(is_named(code, "csv"), "{code}");
    }
    for code in
        ["// csv::Reader", "use crate::csv::Reader;", "let csv = 1;", "use seatrial_csv::A;", "csvs::a()"]
    {
        assert!(!is_named(code, "csv"), "{code}");
    }
}

#[test]
fn the_declared_version_of_rust_is_no_newer_than_the_one_that_compiles_and_in_ci_the_same() {
    let output = Command::new("rustc").arg("--version").output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let minor = |version: &str| version.split('.').nth(1).and_then(|minor| minor.parse::<u32>().ok());
    let running = text.split(' ').nth(1).and_then(minor).unwrap_or_else(|| panic!("{text}"));
    for package in packages() {
        let declared = package["rust_version"].as_str().and_then(minor).expect("a declared version");
        assert!(declared <= running, "{} declares more than {text}", package["name"]);
        // What nobody compiles with is no promise.
        assert!(!workspace::is_ci() || declared == running, "{} declares less than {text}", package["name"]);
    }
}
