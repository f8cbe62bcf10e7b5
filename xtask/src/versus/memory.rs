//! `versus memory`: `mem.bandwidth` against likwid-bench, and against its own loops without the harness.
//!
//! Both sides move the same bytes with the same threads in the widest instruction set of the CPU. likwid-bench counts as
//! we do: bytes that the loop names, no write-allocate. Its STREAM triad is `stream_mem` (its `triad` has four arrays,
//! which is other work), so our `triad` is held against that.

use std::process::Command;

use anyhow::{Context, ensure};
use seatrial_mem::kernel::{Isa, Kernel, Store};
use seatrial_model::Unit;
use seatrial_stats::Better;

use super::bare::Bare;
use super::{Area, Figure, Row, Work, ours};
use crate::packages::Package;

pub const MEMORY: Area = Area {
    name: "memory",
    about: "mem.bandwidth against likwid-bench's kernels, and against its own loops without the harness",
    packages: &[Package {
        name: "likwid",
        program: "likwid-bench",
        reason: "its kernels are the reference for memory bandwidth",
    }],
    rows,
    prepare: ours::build,
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

fn rows() -> Vec<Row> {
    let suffix = match Isa::ALL.iter().rfind(|isa| isa.is_available()) {
        Some(Isa::Avx512) => "_avx512",
        Some(Isa::Avx2) => "_avx",
        _ => "_sse",
    };
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let mut rows = Vec::new();
    for (kernel, store, peer) in LOOPS {
        for threads in [Some(cores), (cores > 1).then_some(1)].into_iter().flatten() {
            let theirs = format!("{peer}{suffix}");
            rows.push(row(
                &format!("{kernel} vs {theirs}"),
                kernel,
                threads,
                1.0,
                likwid(&theirs, kernel, threads),
            ));
        }
        let bare = Bare { kernel, store, threads: cores, array_mib: ARRAY_MIB };
        let peer: Work = Box::new(move || bare.in_process());
        rows.push(row(&format!("{kernel} vs bare loop"), kernel, cores, 0.99, peer));
    }
    rows
}

/// A row of `mem.bandwidth` with one of its loops.
fn row(name: &str, kernel: Kernel, threads: usize, goal: f64, peer: Work) -> Row {
    let name = format!("{name}, {threads} threads, {ARRAY_MIB} MiB an array");
    let goal = Some(goal);
    let figure = Figure { name, unit: Unit::GigabytesPerSecond, better: Better::Higher, goal };
    let params = [
        format!("kernel={kernel}"),
        format!("threads={threads}"),
        format!("array={ARRAY_MIB} MiB"),
        "time=600 ms".to_owned(),
    ];
    Row::one(figure, move || ours::median_of_trial("mem.bandwidth", &params, "bandwidth"), peer)
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
