//! The examples in CONTRIBUTING are built and tested exactly as a newcomer would do it, in a copy of the workspace.

use std::path::{Path, PathBuf};
use std::process::Command;

use xtask::workspace;

/// What cargo needs of the workspace to build one of its crates.
const COPIED: &[&str] = &["rustfmt.toml", "crates", "benchmarks", "xtask", "profiles"];

/// Where the modules of the example's family begin.
const FIRST_MODULE: &str = "mod bandwidth;\n";

/// Where the list of the family's benchmarks begins.
const LIST: &str = "&[";

/// Where the exports are listed, and the last of them.
const EXPORTS: &str = "export/mod.rs";
const LAST_EXPORT: &str = "    evidence: Evidence;\n";

/// Where a row of settings is added, and where the settings of that file are listed.
const ROWS: &str = "settings/src/net/core.rs";
const SETTINGS: &str = "crates/settings/src/lib.rs";
const FIRST_ROW: &str = "        core: ";

/// A fenced block of CONTRIBUTING, and the path in backquotes at the end of the text before it.
struct Block {
    path: String,
    text: String,
}

fn blocks() -> Vec<Block> {
    let text = std::fs::read_to_string(workspace::root().join("CONTRIBUTING.md")).unwrap();
    let mut blocks = Vec::new();
    let mut before = "";
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        if line.starts_with("```") {
            let text: String =
                lines.by_ref().take_while(|line| *line != "```").map(|line| format!("{line}\n")).collect();
            let path = before.strip_suffix("`:").and_then(|line| line.rsplit('`').next());
            blocks.extend(path.map(|path| Block { path: path.to_owned(), text }));
        } else if !line.is_empty() {
            before = line;
        }
    }
    blocks
}

/// Copies the workspace and gives its folder and that of its crates. Times of change are kept, so that cargo rebuilds only
/// what the example touches. The crates lie one folder deeper than in the workspace: cargo would take crates of the same
/// relative path for the same ones, and the workspace would be tested with what was built from the copy.
fn copy_workspace() -> (PathBuf, PathBuf) {
    let copy = Path::new(env!("CARGO_TARGET_TMPDIR")).join("contributing");
    let crates = copy.join("copy");
    let _ = std::fs::remove_dir_all(&copy);
    std::fs::create_dir_all(&crates).unwrap();
    for name in COPIED {
        let status =
            Command::new("cp").arg("-a").arg(workspace::root().join(name)).arg(&crates).status().unwrap();
        assert!(status.success(), "cannot copy {name}: {status}");
    }
    std::fs::copy(workspace::root().join("Cargo.lock"), copy.join("Cargo.lock")).unwrap();
    let mut manifest = std::fs::read_to_string(workspace::root().join("Cargo.toml")).unwrap();
    for folder in ["crates/", "benchmarks/", "xtask"] {
        manifest = manifest.replace(&format!("\"{folder}"), &format!("\"copy/{folder}"));
    }
    std::fs::write(copy.join("Cargo.toml"), manifest).unwrap();
    (copy, crates)
}

fn run(command: &mut Command) {
    let output = command.output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{}: {}\n{text}", workspace::show(command), output.status);
}

#[test]
fn the_examples_of_a_benchmark_a_setting_and_an_export_pass_the_tests_for_all() {
    let (copy, crates) = copy_workspace();
    let mut new = 0;
    for block in blocks() {
        let path = crates.join(&block.path);
        let text = match std::fs::read_to_string(&path) {
            // A whole file of the new folder.
            Err(_) => {
                new += 1;
                std::fs::create_dir_all(path.parent().unwrap()).unwrap();
                block.text.clone()
            }
            // The line of the export's block.
            Ok(old) if block.path.ends_with(EXPORTS) => {
                assert!(old.contains(LAST_EXPORT), "{old}");
                old.replacen(LAST_EXPORT, &format!("{LAST_EXPORT}{}", block.text), 1)
            }
            Ok(old) if block.path.ends_with(ROWS) => {
                let name = block.text.split([' ', ':']).nth(2).expect("pub static NAME");
                let list = std::fs::read_to_string(crates.join(SETTINGS)).unwrap();
                assert!(list.contains(FIRST_ROW), "{list}");
                let list = list.replacen(FIRST_ROW, &format!("{FIRST_ROW}{name}, "), 1);
                std::fs::write(crates.join(SETTINGS), list).unwrap();
                format!("{old}\n{}", block.text)
            }
            // The lines to add to its family.
            Ok(old) => {
                let (module, listed) = block.text.split_once('\n').expect("two lines");
                assert!(old.contains(FIRST_MODULE), "{old}");
                let old = old.replacen(FIRST_MODULE, &format!("{FIRST_MODULE}{module}\n"), 1);
                let (head, list) = old.rsplit_once(LIST).expect("a list");
                format!("{head}{LIST}{}{list}", listed.trim())
            }
        };
        std::fs::write(path, text).unwrap();
    }
    assert_eq!(new, 3, "mod.rs and doc.md of the benchmark, and the export");

    run(workspace::cargo([
        "fmt",
        "--package=seatrial-mem",
        "--package=seatrial-report",
        "--package=seatrial-settings",
    ])
    .current_dir(&copy));
    for block in blocks() {
        let text = std::fs::read_to_string(crates.join(&block.path)).unwrap();
        assert!(
            text.contains(&block.text) || block.path.ends_with("lib.rs"),
            "{} is not formatted",
            block.path
        );
    }
    // What it owes, and its own tests; the other benchmarks were tested where they are.
    // In the target folder of the workspace itself, where the dependencies lie compiled.
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).parent().unwrap();
    let test = |which: &[&str]| {
        let mut command = workspace::cargo(["test", "--offline", "--locked", "--target-dir"]);
        run(command.arg(target).args(which).current_dir(&copy));
    };
    test(&["--workspace", "--test=conformance", "--test=reading"]);
    test(&["--package=seatrial-mem", "--package=seatrial-report", "--lib", "--", "first_touch", "export::"]);
}
