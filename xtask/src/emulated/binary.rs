//! The real binary as a machine: it lists, plans and measures.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, ensure};
use serde_json::Value;

use super::machine::Machine;
use crate::workspace;

/// The longest that a call of the binary may take in seconds.
const LONGEST: u32 = 120;

/// What is measured, as little as there is.
const MEMORY: &str =
    "run mem.bandwidth -p kernel=read -p threads=1 -p array=1MiB -p time=100ms -p trials=1 -p max_trials=1";
const CLOCK: &str = "run cpu.clock -p time=100ms -p trials=1 -p max_trials=1";

/// Lists, plans, and measures `mem.bandwidth` and `cpu.clock`.
///
/// # Errors
/// What the binary said when it did something else.
pub fn run(machine: &Machine, seatrial: &Path) -> Result<()> {
    let home = workspace::root().join("target/emulated/home");
    let _ = fs::remove_dir_all(&home);
    let call = |line: &str| -> Result<String> {
        let mut command = machine.command(seatrial, LONGEST);
        command.args(line.split_whitespace()).env("SEATRIAL_HOME", &home);
        let output = command.output().context("cannot start the emulator")?;
        let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        ensure!(output.status.success(), "`seatrial {line}` ended with {}:\n{out}{err}", output.status);
        Ok(out.into_owned())
    };
    let listed = call("list")?;
    ensure!(
        listed.contains("mem.bandwidth") && listed.contains("cpu.clock"),
        "`seatrial list` says: {listed}"
    );
    for line in [MEMORY, CLOCK] {
        call(&format!("{line} --plan"))?;
        let text = call(&format!("{line} -o json"))?;
        measured(&text, machine.isa).with_context(|| format!("`seatrial {line}`:\n{text}"))?;
    }
    println!("{}: seatrial lists, plans and measures", machine.name);
    Ok(())
}

/// Whether all cases were measured, with the instruction set `isa` where one is chosen.
fn measured(text: &str, isa: &str) -> Result<()> {
    let json: Value = serde_json::from_str(text).context("no JSON")?;
    let results = json["results"].as_array().context("no results")?;
    ensure!(!results.is_empty(), "no case was run");
    for result in results {
        ensure!(
            result["outcome"] == "measured",
            "the outcome is {}: {}",
            result["outcome"],
            result["reason"]
        );
        if result["bench"] == "mem.bandwidth" {
            let chosen = &result["chosen"]["isa"];
            ensure!(chosen == isa, "the instruction set is {chosen}, not {isa}");
            // The emulator has no mbind(2). A worker that a kernel runs itself would say where its memory is.
            ensure!(result["evidence"]["place"]["denied"].is_string(), "the worker was not emulated");
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_instruction_set_or_outcome_is_told() {
        let text = |outcome: &str, isa: &str| {
            format!(
                r#"{{"results": [{{"bench": "mem.bandwidth", "outcome": "{outcome}", "chosen": {{"isa": "{isa}"}},
                    "evidence": {{"place": {{"denied": "mbind"}}}}}}]}}"#
            )
        };
        assert!(measured(&text("measured", "sse2"), "sse2").is_ok());
        assert!(measured(&text("measured", "avx512"), "sse2").unwrap_err().to_string().contains("not sse2"));
        assert!(
            measured(&text("failed", "sse2"), "sse2").unwrap_err().to_string().contains("the outcome is")
        );
        let native = text("measured", "sse2").replace("denied", "right_percent");
        assert!(measured(&native, "sse2").unwrap_err().to_string().contains("not emulated"));
        assert!(measured(r#"{"results": []}"#, "sse2").is_err());
    }
}
