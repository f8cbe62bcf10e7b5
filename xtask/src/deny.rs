//! Licences, bans and sources of the dependencies, by cargo-deny and `deny.toml`.

use std::path::PathBuf;
use std::process::Command;

use anyhow::Result;

use crate::workspace;

/// The release whose configuration `deny.toml` is written for.
const VERSION: &str = "0.20.2";

/// Runs the checks; a missing cargo-deny is installed below `target/` first, for this workspace alone.
///
/// # Errors
/// When a check fails, or cargo-deny is missing and cannot be installed.
pub fn check() -> Result<()> {
    let program = find().map_or_else(install, Ok)?;
    let mut command = Command::new(program);
    // The advisory database needs a network that the check must do without.
    command.current_dir(workspace::root()).args(["--locked", "check", "licenses", "bans", "sources"]);
    workspace::run(&mut command)
}

/// cargo-deny of the right release: the person's own, or the one that an earlier run installed.
fn find() -> Option<PathBuf> {
    [PathBuf::from("cargo-deny"), own()].into_iter().find(|program| {
        let output = Command::new(program).arg("--version").output();
        output.is_ok_and(|output| {
            String::from_utf8_lossy(&output.stdout).trim() == format!("cargo-deny {VERSION}")
        })
    })
}

fn folder() -> PathBuf {
    workspace::root().join("target/tools")
}

fn own() -> PathBuf {
    folder().join("bin/cargo-deny")
}

/// Unoptimised: that takes a third of the time to compile, and the check itself a second.
fn install() -> Result<PathBuf> {
    let package = format!("cargo-deny@{VERSION}");
    let mut command = workspace::cargo(["install", "--locked", "--debug", "--no-default-features", "--root"]);
    command.arg(folder()).arg(package).env("CARGO_PROFILE_DEV_DEBUG", "false");
    workspace::run(&mut command)?;
    Ok(own())
}
