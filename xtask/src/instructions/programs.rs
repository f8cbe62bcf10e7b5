//! The test programs, compiled as in a release.

use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};
use serde_json::Value;

use crate::workspace;

/// The crates that have hot loops.
const CRATES: [&str; 3] = ["seatrial-bench", "seatrial-mem", "seatrial-net"];

#[derive(Debug)]
pub struct Program {
    /// The crate.
    pub name: String,
    pub path: String,
}

/// The version of the compiler.
///
/// # Errors
/// When it does not tell.
pub fn compiler() -> Result<String> {
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let output = Command::new(rustc).arg("--version").output().context("cannot start rustc")?;
    let text = String::from_utf8_lossy(&output.stdout);
    let version = text.split_whitespace().nth(1).context("rustc told no version")?;
    Ok(version.to_owned())
}

/// The unit tests of each crate.
///
/// # Errors
/// When a crate does not compile.
pub fn build() -> Result<Vec<Program>> {
    let mut words = vec![
        "test",
        "--release",
        "--no-run",
        "--lib",
        "--locked",
        "--message-format=json-render-diagnostics",
    ];
    words.extend(CRATES.iter().flat_map(|name| ["--package", *name]));
    let mut cargo = workspace::cargo(&words);
    let shown = workspace::show(&cargo);
    eprintln!("> {shown}");
    let output =
        cargo.stderr(Stdio::inherit()).output().with_context(|| format!("cannot start `{shown}`"))?;
    ensure!(output.status.success(), "`{shown}` ended with {}", output.status);
    let messages = String::from_utf8_lossy(&output.stdout);
    let programs = messages.lines().filter_map(program).collect::<Vec<_>>();
    ensure!(
        programs.len() == CRATES.len(),
        "cargo built {} test programs of {}",
        programs.len(),
        CRATES.len()
    );
    Ok(programs)
}

/// The program that a message of cargo tells of.
fn program(message: &str) -> Option<Program> {
    let message: Value = serde_json::from_str(message).ok()?;
    let path = message["executable"].as_str()?.to_owned();
    Some(Program {
        name: message["target"]["name"].as_str()?.trim_start_matches("seatrial_").to_owned(),
        path,
    })
}
