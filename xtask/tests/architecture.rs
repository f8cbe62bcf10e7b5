//! The README's map of the crates is complete, and dependencies point downwards on it.

use std::collections::BTreeSet;
use std::process::Command;

use serde_json::Value;
use xtask::workspace;

/// Names in the first column of the README's map, from top to bottom.
fn map() -> Vec<String> {
    let readme = std::fs::read_to_string(workspace::root().join("README.md")).unwrap();
    let section =
        readme.split("\n## ").find(|section| section.starts_with("Map\n")).expect("a section 'Map'");
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
    let entries = std::fs::read_dir(workspace::root().join("crates")).unwrap();
    let mut folders: BTreeSet<String> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    folders.insert("xtask".to_owned());
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
