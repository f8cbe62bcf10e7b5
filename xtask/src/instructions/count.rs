//! Counting by valgrind.

use std::process::Command;

use anyhow::{Context, Result, ensure};

use super::programs::Program;

/// The module that holds hot loops.
const MODULE: &str = "hot_loops::";

/// Asks a hot loop for so many rounds.
const ROUNDS: &str = "SEATRIAL_HOT_LOOP_ROUNDS";
const FEW: u32 = 1000;
const MANY: u32 = 31_000;

/// The instructions of a round of each hot loop of a program.
///
/// # Errors
/// When a loop fails, or valgrind does not tell its instructions.
pub fn rounds(program: &Program) -> Result<Vec<(String, f64)>> {
    let output = Command::new(&program.path).args([MODULE, "--list"]).output();
    let output = output.with_context(|| format!("cannot start {}", program.path))?;
    let listed = String::from_utf8_lossy(&output.stdout);
    let tests: Vec<&str> = listed.lines().filter_map(|line| line.strip_suffix(": test")).collect();
    ensure!(!tests.is_empty(), "{} has no hot loops", program.name);
    let of = |test: &&str| {
        let difference = instructions(program, test, MANY)? - instructions(program, test, FEW)?;
        let name = test.replace(MODULE, "");
        // The programs around the loop differ by some hundred instructions from run to run.
        let round = (difference / f64::from(MANY - FEW) * 10.0).round() / 10.0;
        Ok((format!("{}::{name}", program.name), round))
    };
    tests.iter().map(of).collect()
}

/// The instructions of a whole run.
fn instructions(program: &Program, test: &str, rounds: u32) -> Result<f64> {
    let output = Command::new("valgrind")
        .args(["--tool=callgrind", "--callgrind-out-file=/dev/null", &program.path])
        // In the main thread.
        .args([test, "--exact", "--test-threads=1"])
        .env(ROUNDS, rounds.to_string())
        .output()
        .context("cannot start valgrind")?;
    let said = String::from_utf8_lossy(&output.stderr);
    ensure!(
        output.status.success(),
        "{} {test} ended with {}: {said}{}",
        program.name,
        output.status,
        String::from_utf8_lossy(&output.stdout)
    );
    collected(&said).with_context(|| format!("valgrind told no instructions of {test}: {said}"))
}

/// What valgrind counted: `==7== Collected : 123`.
fn collected(said: &str) -> Option<f64> {
    said.lines().find_map(|line| line.split_once("Collected :")?.1.trim().parse().ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_valgrind_counted_is_read() {
        let said = "==7== Events    : Ir\n==7== Collected : 123456\n==7== \n==7== I   refs:      123,456\n";
        assert_eq!(collected(said), Some(123_456.0));
        assert_eq!(collected("valgrind: failed to start"), None);
    }
}
