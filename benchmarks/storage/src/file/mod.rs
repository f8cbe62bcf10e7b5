//! `storage.file`: rate of reading and writing files in a directory, by threads, block size and queue depth.

use seatrial_model::{About, Actor, Cost, Interaction, Need, Parts, Remedy};

use crate::io::specs::{self, latency, rate};
use crate::io::{clients, job, limit, part, plan, reduce, rounds};
use crate::many;
use seatrial_bench::{Benchmark, Part};

pub(crate) const ABOUT: About = About {
    id: "storage.file",
    version: 1,
    title: "reading and writing files, by threads, block size and queue depth",
    doc: include_str!("doc.md"),
    checks: &[
        Remedy::new(
            Actor::Root,
            "run `seatrial run storage.raw` on the disks below, and check their health (`smartctl -a`); of a network file system check the server",
        ),
        Remedy::new(Actor::User, "measure again with more requests in flight: `-p depth=32`, more threads"),
    ],
    params: specs::JOB,
    metrics: &[
        specs::THROUGHPUT,
        rate("read", "With operation=mixed: bytes read, over the same time."),
        rate("written", "With operation=mixed: bytes written, over the same time."),
        rate("durable", "Bytes written over the time until they are flushed, fdatasync included."),
        specs::FIRST_DONE,
        specs::LAST_DONE,
        specs::IOPS,
        specs::LATENCY,
        specs::P99,
        specs::P999,
        specs::SLOWEST,
        latency("flush", "Time of fdatasync at the end, in the slowest thread."),
        specs::CPU_PER_IO,
        specs::FAIRNESS.doc(
            "Jain's fairness index of the rates of the threads, or of the nodes of a case of many: 1 when all are equal, \
             1 / number when one has everything.",
        ),
        specs::SLOWEST_NODE,
    ],
    series: specs::SERIES_OF_NODES,
    parts: Parts::OneOrMore("worker"),
    needs: &[Need::Directory],
    probes: &["diskstats", "nfs", "steal", "load", "clock", "kernel_log"],
    cost: Cost { seconds: 12, written: 3 << 30 },
    interaction: Interaction::Loads("the file system of the directory and the devices below it"),
};

pub const BENCHMARK: Benchmark = Benchmark {
    about: &ABOUT,
    factors: &[],
    plan: plan::plan,
    limits: limit::limits,
    part: |case, place| match case.planned.text("directory") {
        Ok(directory) if many::is_of_many(case) => {
            many::part(case, place, directory.to_owned(), part::Unconnected::prepare, part::Unconnected::open)
        }
        _ => Part::alone(case, place, part::IoWorker::prepare),
    },
    liveness_check: |case, place| {
        Some(seatrial_bench::directory::check_directories(
            case,
            place,
            &[case.planned.text("directory").ok()?],
        ))
    },
    reduce: |case, parts| {
        if many::is_of_many(case) {
            clients::reduce(case, parts)
        } else if job::JobSpec::of(&case.params)?.rounds > 1 {
            rounds::reduce(case, parts)
        } else {
            reduce::reduce(case, parts)
        }
    },
};
