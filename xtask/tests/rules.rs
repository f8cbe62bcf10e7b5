//! Rules of CONTRIBUTING that a compiler does not check.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use xtask::workspace;

/// More than this is split.
const MOST_LINES: usize = 600;

/// All Rust files of the workspace, with paths below its root.
fn sources() -> Vec<(PathBuf, String)> {
    let mut found = Vec::new();
    let mut folders = ["crates", "benchmarks", "xtask"].map(|name| workspace::root().join(name)).to_vec();
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                let text = std::fs::read_to_string(&path).unwrap();
                found.push((path.strip_prefix(workspace::root()).unwrap().to_path_buf(), text));
            }
        }
    }
    assert!(found.iter().any(|(path, _)| path == Path::new("xtask/tests/rules.rs")));
    found
}

#[test]
fn no_file_is_longer_than_600_lines() {
    for (path, text) in sources() {
        let lines = text.lines().count();
        assert!(lines <= MOST_LINES, "{} has {lines} lines; split it", path.display());
    }
}

#[test]
fn unsafe_code_stands_only_in_sys_and_in_kernels() {
    // Put together, so that this file does not find itself.
    let opened = ["(unsafe", "_code"].concat();
    for (path, text) in sources().into_iter().filter(|(_, text)| text.contains(&opened)) {
        let allowed = path.starts_with("crates/sys")
            || path
                .components()
                .any(|part| Path::new(part.as_os_str()).file_stem().is_some_and(|stem| stem == "kernel"));
        assert!(allowed, "{} allows unsafe code; it belongs in `sys` or in a `kernel.rs`", path.display());
        assert!(text.contains("reason = "), "{} gives no reason for its unsafe code", path.display());
    }
}

#[test]
fn every_file_of_a_library_says_what_it_is_for() {
    for (path, text) in sources() {
        let is_source = path.components().any(|part| part.as_os_str() == "src");
        assert!(!is_source || text.starts_with("//! "), "{} does not start with its purpose", path.display());
    }
}

#[test]
fn only_settings_apply_restore_and_studies_of_settings_change_a_setting() {
    // Put together, so that this file does not find itself.
    let command = ["Command::Settings", " { order }"].concat();
    let call = ["order_", "settings(fleet"].concat();
    let named = |text: &str| -> BTreeSet<PathBuf> {
        sources().into_iter().filter(|(_, of)| of.contains(text)).map(|(path, _)| path).collect()
    };
    let paths = |known: [&str; 2]| -> BTreeSet<PathBuf> { known.into_iter().map(PathBuf::from).collect() };
    // The agent receives it.
    let sent = ["crates/cluster/src/agent/run.rs", "crates/cluster/src/settings_orders.rs"];
    assert_eq!(named(&command), paths(sent));
    let ordered = ["crates/cli/src/command/settings/orders.rs", "crates/engine/src/runner/host_settings.rs"];
    assert_eq!(named(&call), paths(ordered));
}
