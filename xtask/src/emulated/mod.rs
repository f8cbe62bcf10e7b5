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
use machine::{ARM, Machine, X86};
use programs::Programs;

/// Runs the unit and conformance tests and the binary on processors that run what this machine does.
///
/// # Errors
/// When a test fails or the binary does not measure; in continuous integration also when something to emulate with is
/// missing.
pub fn as_x86() -> Result<()> {
    if !can_emulate()? {
        return Ok(());
    }
    let started = Instant::now();
    let native = programs::native()?;
    unit::check_left_out(&native)?;
    emulate(&X86, &native, started)
}

/// Compiles the same for 64-bit Arm and runs it there.
///
/// # Errors
/// As [`as_x86`], and when the compiler cannot be had in continuous integration.
pub fn as_arm() -> Result<()> {
    if !can_emulate()? {
        return Ok(());
    }
    let started = Instant::now();
    let Some(compiler) = Compiler::find()? else { return Ok(()) };
    emulate(&[ARM], &programs::arm(&compiler)?, started)
}

fn can_emulate() -> Result<bool> {
    packages::ensure(packages::EMULATED)?;
    let missing = packages::missing_now(packages::EMULATED);
    if let Some(missing) = missing.first() {
        println!("skipped: {} is missing", missing.name);
    }
    Ok(missing.is_empty())
}

/// Runs programs that were built since `started` as each of the machines.
fn emulate(machines: &[Machine], programs: &Programs, started: Instant) -> Result<()> {
    let minutes = || started.elapsed().as_secs_f64() / 60.0;
    let built = minutes();
    let mut failed = unit::run(machines, programs)?;
    for machine in machines {
        let error = binary::run(machine, &programs.seatrial).err();
        failed.extend(error.map(|error| format!("{}: {error:#}", machine.name)));
    }
    println!("built for {built:.1} min, emulated for {:.1} min", minutes() - built);
    ensure!(failed.is_empty(), "{}", failed.join("\n"));
    Ok(())
}
