//! Processors that are not there: the unit tests and the binary under user-mode emulation.

mod binary;
mod compiler;
mod machine;
mod programs;
mod unit;

use std::time::Instant;

use anyhow::{Result, ensure};

use crate::packages;
use compiler::Compiler;
use machine::{ARM, X86};

/// Runs the unit and conformance tests and the binary as each machine.
///
/// # Errors
/// When a test fails or the binary does not measure; in continuous integration also when something to emulate with is
/// missing.
pub fn run() -> Result<()> {
    packages::ensure(packages::EMULATED)?;
    if let Some(missing) = packages::missing_now(packages::EMULATED).first() {
        println!("skipped: {} is missing", missing.name);
        return Ok(());
    }
    let minutes = |started: Instant| started.elapsed().as_secs_f64() / 60.0;
    let started = Instant::now();
    let native = programs::native()?;
    unit::check_left_out(&native)?;
    let arm = Compiler::find()?.map(|compiler| programs::arm(&compiler)).transpose()?;
    let built = minutes(started);
    let mut runs: Vec<_> = X86.iter().map(|machine| (machine, &native)).collect();
    runs.extend(arm.as_ref().map(|programs| (&ARM, programs)));
    let mut failed = unit::run(&runs)?;
    for (machine, programs) in runs {
        let error = binary::run(machine, &programs.seatrial).err();
        failed.extend(error.map(|error| format!("{}: {error:#}", machine.name)));
    }
    println!("built for {built:.1} min, emulated for {:.1} min", minutes(started) - built);
    ensure!(failed.is_empty(), "{}", failed.join("\n"));
    Ok(())
}
