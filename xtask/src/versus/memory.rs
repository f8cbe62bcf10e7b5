//! `versus memory`: `mem.bandwidth` against likwid-bench, and against its own loops without the harness.
//!
//! Both sides move the same bytes with the same threads in the widest instruction set of the CPU. likwid-bench counts as
//! we do: bytes that the loop names, no write-allocate. Its STREAM triad is `stream_mem` (its `triad` has four arrays,
//! which is other work), so our `triad` is held against that.

use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context, Result, ensure};
use seatrial_bench::mem::bandwidth::kernel::{Isa, Kernel, Store};
use seatrial_model::Unit;
use seatrial_stats::Better;

use super::bare::Bare;
use super::{Area, Row, Work};
use crate::packages::Package;
use crate::workspace;

/// The area.
pub const MEMORY: Area = Area {
    name: "memory",
    about: "mem.bandwidth against likwid-bench's kernels, and against its own loops without the harness",
    packages: &[Package {
        name: "likwid",
        program: "likwid-bench",
        reason: "its kernels are the reference for memory bandwidth",
    }],
    rows,
    alone: None,
};

/// Size of each array over all threads: above what any cache of the machines at hand holds, and quick to fill.
const ARRAY_MIB: u64 = 640;

/// Our loop, its kind of store, and the same loop of likwid-bench.
const LOOPS: [(Kernel, Option<Store>, &str); 4] = [
    (Kernel::Read, None, "load"),
    (Kernel::Write, Some(Store::NonTemporal), "store_mem"),
    (Kernel::Copy, Some(Store::NonTemporal), "copy_mem"),
    (Kernel::Triad, Some(Store::NonTemporal), "stream_mem"),
];

fn rows() -> Result<Vec<Row>> {
    workspace::run(&mut workspace::cargo(["build", "--release", "--locked", "--package", "seatrial"]))?;
    let widest = *Isa::ALL
        .iter()
        .rfind(|isa| isa.is_available())
        .context("no instruction set that we have loops for")?;
    let suffix = match widest {
        Isa::Avx512 => "_avx512",
        Isa::Avx2 => "_avx",
        _ => "_sse",
    };
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let mut rows = Vec::new();
    for (kernel, store, peer) in LOOPS {
        for threads in [cores, 1] {
            let theirs = format!("{peer}{suffix}");
            rows.push(row(
                &format!("{kernel} vs {theirs}"),
                threads,
                1.0,
                ours(kernel, threads),
                likwid(&theirs, kernel, threads),
            ));
        }
        let bare = Bare { kernel, store, threads: cores, array_mib: ARRAY_MIB };
        let peer: Work = Box::new(move || bare.in_process());
        rows.push(row(&format!("{kernel} vs bare loop"), cores, 0.99, ours(kernel, cores), peer));
    }
    Ok(rows)
}

fn row(name: &str, threads: usize, goal: f64, ours: Work, peer: Work) -> Row {
    let name = format!("{name}, {threads} threads, {ARRAY_MIB} MiB an array");
    Row { name, unit: Unit::GigabytesPerSecond, better: Better::Higher, goal, ours, peer }
}

/// One trial of `mem.bandwidth`, by the release binary.
fn ours(kernel: Kernel, threads: usize) -> Work {
    Box::new(move || {
        let home = std::env::temp_dir().join(format!("seatrial-versus-{}", std::process::id()));
        let target = std::env::var_os("CARGO_TARGET_DIR")
            .map_or_else(|| workspace::root().join("target"), PathBuf::from);
        let mut command = Command::new(target.join("release/seatrial"));
        command.args(["run", "mem.bandwidth", "-o", "json", "-p", &format!("kernel={kernel}")]);
        command.args(["-p", &format!("threads={threads}"), "-p", &format!("array={ARRAY_MIB} MiB")]);
        command.args(["-p", "trials=1", "-p", "max_trials=1", "-p", "time=600 ms"]);
        let output = command.env("SEATRIAL_HOME", &home).output().context("cannot start seatrial")?;
        let removed = std::fs::remove_dir_all(&home);
        ensure!(output.status.success(), "seatrial: {}", String::from_utf8_lossy(&output.stderr));
        removed.context("cannot remove the run folder of a round")?;
        let document: serde_json::Value = serde_json::from_slice(&output.stdout)?;
        let median = &document["results"][0]["metrics"]["bandwidth"]["median"];
        median.as_f64().with_context(|| format!("no bandwidth in the document: {median}"))
    })
}

/// One run of a kernel of likwid-bench, about a second long.
fn likwid(kernel: &str, ours: Kernel, threads: usize) -> Work {
    let kernel = kernel.to_owned();
    // The size it is given is that of all arrays together, in decimal megabytes.
    let megabytes = ARRAY_MIB * ours.arrays() as u64 * (1 << 20) / 1_000_000;
    Box::new(move || {
        let mut command = Command::new("likwid-bench");
        command.args(["-t", &kernel, "-s", "1", "-w", &format!("N:{megabytes}MB:{threads}")]);
        // The same kind of pages on both sides: ours are huge where the kernel gives them.
        command.env("GLIBC_TUNABLES", "glibc.malloc.hugetlb=1");
        let output = command.output().context("cannot start likwid-bench")?;
        ensure!(output.status.success(), "likwid-bench: {}", String::from_utf8_lossy(&output.stderr));
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let line = text.lines().find_map(|line| line.strip_prefix("MByte/s:"));
        let rate: f64 = line.context("likwid-bench printed no MByte/s")?.trim().parse()?;
        Ok(rate / 1e3)
    })
}
