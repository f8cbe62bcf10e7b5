//! `versus memory`: `mem.bandwidth` against likwid-bench, and against its own loops without the harness.
//!
//! Both sides move the same bytes with the same threads in the widest instruction set of the CPU. likwid-bench counts as
//! we do: bytes that the loop names, no write-allocate. Its STREAM triad is `stream_mem` (its `triad` has four arrays,
//! which is other work), so our `triad` is held against that. stream.c is what a compiler makes of its loops: regular stores, and
//! the pages that static arrays get; ours has the same in those rows. It prints the best of ten times and their mean. All rows
//! compare means.

use std::process::Command;

use anyhow::{Context, Result, ensure};
use seatrial_mem::kernel::{Isa, Kernel, Store};
use seatrial_model::Unit;
use seatrial_stats::Better;

use super::bare::Bare;
use super::peer::{GCC, GIT, Peer};
use super::{Area, Figure, Hardware, Row, Work, ours};
use crate::packages::Package;

pub const MEMORY: Area = Area {
    name: "memory",
    about: "mem.bandwidth against likwid-bench's kernels and stream.c, and against its own loops without the harness",
    packages: &[Package {
        name: "likwid",
        program: "likwid-bench",
        reason: "its kernels are the reference for memory bandwidth",
    }],
    peers: &[&STREAM],
    rows,
    prepare: ours::build,
    alone: None,
    machine: Hardware::here,
};

/// Size of each array over all threads: above what any cache of the machines at hand holds, and quick to fill.
const ARRAY_MIB: u64 = 640;

/// McCalpin's program. The arrays are as large as ours.
const STREAM: Peer = Peer {
    name: "stream",
    area: "memory",
    url: "https://github.com/jeffhammond/STREAM",
    commit: "6703f7504a38a8da96b353cadafa64d3c2d7a2d3",
    packages: &[GCC, GIT],
    build: "gcc -O3 -march=native -fopenmp -DSTREAM_ARRAY_SIZE=83886080 -DNTIMES=10 stream.c -o stream",
    programs: &["stream"],
};

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
    for threads in [Some(cores), (cores > 1).then_some(1)].into_iter().flatten() {
        rows.push(beside_stream(threads));
    }
    rows
}

/// The triad with regular stores.
fn beside_stream(threads: usize) -> Row {
    let params = [
        "kernel=triad".to_owned(),
        "store=regular".to_owned(),
        format!("pages={}", ours::pages()),
        format!("threads={threads}"),
        format!("array={ARRAY_MIB} MiB"),
        "time=600 ms".to_owned(),
    ];
    let ours = move || ours::mean_of_trial("mem.bandwidth", &params, "bandwidth");
    let figure = Figure {
        name: format!("triad, regular stores vs stream.c, {threads} threads, {ARRAY_MIB} MiB an array"),
        unit: Unit::GigabytesPerSecond,
        better: Better::Higher,
        goal: Some(1.0),
    };
    Row::one(figure, ours, move || stream(threads)).unless(|| STREAM.hindrance())
}

/// The mean rate of the triad of one run of stream.c, in GB/s.
fn stream(threads: usize) -> Result<f64> {
    let mut command = Command::new(STREAM.program("stream")?);
    command.envs([
        ("OMP_NUM_THREADS", threads.to_string().as_str()),
        ("OMP_PROC_BIND", "true"),
        ("OMP_PLACES", "cores"),
    ]);
    let output = command.output().context("cannot start stream.c")?;
    let text = String::from_utf8_lossy(&output.stdout);
    ensure!(output.status.success(), "stream.c ended with {}: {text}", output.status);
    mean_of_triad(&text).with_context(|| format!("stream.c printed no triad: {text}"))
}

/// Three arrays in the time of the second column, the mean.
fn mean_of_triad(text: &str) -> Option<f64> {
    let line = text.lines().find_map(|line| line.strip_prefix("Triad:"))?;
    let seconds: f64 = line.split_whitespace().nth(1)?.parse().ok()?;
    Some(3.0 * (ARRAY_MIB << 20) as f64 / seconds / 1e9)
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
    Row::one(figure, move || ours::mean_of_trial("mem.bandwidth", &params, "bandwidth"), peer)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_stream_c_the_mean_time_counts() {
        let table = "Function    Best Rate MB/s  Avg time     Min time     Max time\n\
                     Add:           12000.0     0.170000     0.160000     0.180000\n\
                     Triad:         12582.9     0.201326592  0.160000     0.210000\n";
        assert!((mean_of_triad(table).unwrap() - 10.0).abs() < 1e-9);
        assert_eq!(mean_of_triad("Solution Validates\n"), None);
    }
}
