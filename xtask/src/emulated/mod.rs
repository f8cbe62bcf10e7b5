//! Processors that are not there: the unit tests and the binary under user-mode emulation.

mod binary;
mod machine;
mod programs;
mod toolchain;
mod unit;

use std::time::Instant;

use anyhow::{Result, ensure};

use crate::{packages, workspace};
use machine::MACHINES;

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
    let built = minutes(started);
    let (arm, x86): (Vec<_>, Vec<_>) = MACHINES.iter().partition(|machine| machine.is_arm());
    let mut failed = unit::run(&x86, &native.tests)?;
    for machine in x86 {
        failed.extend(
            binary::run(machine, &native.seatrial).err().map(|error| format!("{}: {error:#}", machine.name)),
        );
    }
    let done = minutes(started);
    println!("x86-64: built for {built:.1} min, emulated for {:.1} min", done - built);
    match programs::arm() {
        Ok(tests) => {
            let built = minutes(started);
            failed.extend(unit::run(&arm, &tests)?);
            println!(
                "64-bit Arm: built for {:.1} min, emulated for {:.1} min",
                built - done,
                minutes(started) - built
            );
        }
        Err(error) if workspace::is_ci() => failed.push(format!("{error:#}")),
        Err(error) => println!("skipped 64-bit Arm: {error:#}"),
    }
    ensure!(failed.is_empty(), "{}", failed.join("\n"));
    Ok(())
}
