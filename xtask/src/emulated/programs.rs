//! What is run: the test programs and the binary, as cargo builds them.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};
use serde_json::Value;

use super::compiler::Compiler;
use crate::workspace;

/// The crates whose unit tests run: those that choose instructions by the processor or read the machine. The one that takes
/// longest comes first.
const CRATES: &[&str] = &["mem", "sys", "bench", "cpu", "inventory"];

/// Where a program stands in the order of [`CRATES`].
pub fn rank(name: &str) -> usize {
    CRATES.iter().position(|one| *one == name).unwrap_or(CRATES.len())
}

/// What has cargo build them.
const TESTS: [&str; 4] = ["test", "--no-run", "--lib", "--test=conformance"];

/// The conformance test of the benchmarks, in the crate `registry`.
const CONFORMANCE: &str = "conformance";

const REGISTRY: &str = "registry";

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Program {
    /// The crate and, if it is not the crate's unit tests, the test.
    pub name: String,
    pub path: PathBuf,
    /// The crate's folder, where its tests are run.
    pub folder: PathBuf,
}

/// What is run as machines of one kind.
#[derive(Debug)]
pub struct Programs {
    pub tests: Vec<Program>,
    pub seatrial: PathBuf,
    /// The compiler of libraries that the tests make, if it is another than that of this machine.
    pub rustc: Option<PathBuf>,
}

/// Those of this machine: the very ones that `cargo xtask test` runs.
///
/// # Errors
/// When something does not compile.
pub fn native() -> Result<Programs> {
    build(|args| workspace::cargo(args))
}

/// Those of 64-bit Arm.
///
/// # Errors
/// When something does not compile.
pub fn arm(compiler: &Compiler) -> Result<Programs> {
    let rustc = Some(compiler.script()?);
    Ok(Programs { rustc, ..build(|args| compiler.cargo(args))? })
}

/// Has `cargo` build the binary and the tests.
fn build(cargo: impl Fn(&[&str]) -> Command) -> Result<Programs> {
    let crates = CRATES.iter().map(|name| format!("seatrial-{name}"));
    // With xtask, which brings about the features of shared dependencies that the whole workspace has: what the binary
    // and the tests share is compiled once.
    let all = crates.chain(["seatrial", "seatrial-registry", "xtask"].map(str::to_owned));
    let mut words: Vec<String> = all.flat_map(|name| ["--package".to_owned(), name]).collect();
    words.extend(["--locked", "--message-format=json"].map(str::to_owned));
    let mut all = artifacts(cargo(&["build", "--bin=seatrial"]).args(&words))?;
    all.extend(artifacts(cargo(&TESTS).args(&words))?);
    let seatrial = binary(&all).context("cargo built no binary seatrial")?;
    Ok(Programs { tests: tests(&all)?, seatrial, rustc: None })
}

/// Runs cargo and collects what it says of the programs it built.
fn artifacts(cargo: &mut Command) -> Result<Vec<Value>> {
    let shown = workspace::show(cargo);
    eprintln!("> {shown}");
    let output =
        cargo.stderr(Stdio::inherit()).output().with_context(|| format!("cannot start `{shown}`"))?;
    let text = String::from_utf8_lossy(&output.stdout);
    let messages: Vec<Value> = text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
    if !output.status.success() {
        for rendered in messages.iter().filter_map(|message| message["message"]["rendered"].as_str()) {
            eprint!("{rendered}");
        }
    }
    ensure!(output.status.success(), "`{shown}` ended with {}", output.status);
    Ok(messages)
}

/// The test programs to run among all that was built; none may be missing.
fn tests(messages: &[Value]) -> Result<Vec<Program>> {
    let mut tests = Vec::new();
    for message in messages {
        let (Some(path), Some(manifest)) =
            (message["executable"].as_str(), message["manifest_path"].as_str())
        else {
            continue;
        };
        let folder = Path::new(manifest).parent().unwrap_or(Path::new("/"));
        let part = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let name = match (message["target"]["kind"][0].as_str(), message["target"]["name"].as_str()) {
            (Some("lib"), _) if CRATES.contains(&part.as_str()) => part,
            (Some("test"), Some(CONFORMANCE)) if part == REGISTRY => format!("{part} {CONFORMANCE}"),
            _ => continue,
        };
        tests.push(Program { name, path: path.into(), folder: folder.to_owned() });
    }
    for wanted in CRATES.iter().copied().chain(["registry conformance"]) {
        ensure!(tests.iter().any(|test| test.name == wanted), "cargo built no test program of {wanted}");
    }
    Ok(tests)
}

/// The binary among all that was built.
fn binary(messages: &[Value]) -> Option<PathBuf> {
    let is_binary = |message: &&Value| {
        message["target"]["kind"][0] == "bin"
            && message["target"]["name"] == "seatrial"
            && message["profile"]["test"] == false
    };
    messages.iter().filter(is_binary).find_map(|message| Some(message["executable"].as_str()?.into()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn artifact(part: &str, kind: &str, name: &str, is_test: bool) -> Value {
        json!({
            "reason": "compiler-artifact",
            "manifest_path": format!("/w/crates/{part}/Cargo.toml"),
            "target": {"kind": [kind], "name": name},
            "profile": {"test": is_test},
            "executable": format!("/t/{name}-{part}"),
        })
    }

    #[test]
    fn the_chosen_programs_are_found_and_a_missing_one_is_named() {
        let mut messages: Vec<Value> =
            CRATES.iter().map(|part| artifact(part, "lib", &format!("seatrial_{part}"), true)).collect();
        messages.push(artifact("registry", "test", "conformance", true));
        messages.push(artifact("settings", "test", "conformance", true));
        messages.push(artifact("cli", "bin", "seatrial", true));
        messages.push(artifact("report", "lib", "seatrial_report", true));
        assert_eq!(binary(&messages), None);
        messages.push(artifact("cli", "bin", "seatrial", false));
        assert_eq!(binary(&messages).as_deref(), Some(Path::new("/t/seatrial-cli")));
        let found = tests(&messages).unwrap();
        assert_eq!(found.len(), CRATES.len() + 1);
        assert_eq!(found[0].folder, Path::new("/w/crates/mem"));
        messages.remove(0);
        assert_eq!(tests(&messages).unwrap_err().to_string(), "cargo built no test program of mem");
    }
}
