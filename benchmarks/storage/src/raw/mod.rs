//! `storage.raw`: read rate of whole disks, by position, each alone and all at once. Nothing is ever written.

mod config;
mod device;
mod part;
mod plan;
mod reader;
mod reduce;
#[cfg(test)]
mod tests;
mod zones;

use seatrial_model::{
    About, Actor, AxisSpec, Bytes, Cost, Interaction, Kind, MetricSpec, Need, ParamSpec, Parts, Remedy,
    SeriesSpec, Unit,
};

use seatrial_sys::root::SysRoot;

use crate::io::specs::{latency, rate};
use seatrial_bench::{Benchmark, Part};

const ABOUT: About = About {
    id: "storage.raw",
    version: 1,
    title: "reading whole disks without their file systems, by position, each alone and all at once",
    doc: include_str!("doc.md"),
    checks: &[
        Remedy::new(
            Actor::Root,
            "check health, link speed and kernel messages of the disk (`smartctl -a`, `journalctl -k`)",
        ),
        Remedy::new(
            Actor::Root,
            "check whether a RAID rebuild or another program uses the disk (`iostat -x 1`)",
        ),
        Remedy::new(Actor::Vendor, "replace the disk, its cable or the controller"),
    ],
    params: &[
        ParamSpec::new("disk", Kind::Text, "auto").word("auto").doc(
            "One disk, by its kernel name (nvme0n1) or device-mapper name; auto: every disk of the node.",
        ),
        ParamSpec::new("mode", Kind::Choice(&["direct", "buffered"]), "direct").doc(
            "direct: bypass the page cache (O_DIRECT); buffered: through the page cache with read-ahead, \
             like hdparm -t.",
        ),
        ParamSpec::new("pattern", Kind::Choice(&["seq", "random"]), "seq").doc(
            "seq: sequentially in five zones from the first sector to the last; random: blocks from all over \
             the disk, each once.",
        ),
        ParamSpec::new("block", Kind::Size(Bytes::kib(4), Bytes::mib(64)), "auto")
            .word("auto")
            .doc("Bytes per request; auto is 1 MiB, with mode=buffered 2 MiB, with pattern=random 4 KiB."),
        ParamSpec::new("depth", Kind::Load(1, 256), "auto").word("auto").doc(
            "Requests in flight (queue depth); auto is 4, with pattern=random 32, and 1 with mode=buffered \
             or without io_uring.",
        ),
        ParamSpec::new("together", Kind::Flag, "false")
            .doc("One case for all disks of the node: read the start of each alone, then of all at once."),
        ParamSpec { default: "4 s", ..seatrial_bench::TIME },
        seatrial_bench::TRIALS,
        seatrial_bench::MAX_TRIALS,
        seatrial_bench::PRECISION,
        seatrial_bench::SCHED,
    ],
    metrics: &[
        rate(
            "throughput",
            "Read rate of the slowest zone; with together=true, of all disks at once; with pattern=random, \
             of the whole disk.",
        ),
        rate("first", "Read rate at the start of the disk, where hdparm -t reads."),
        rate("last", "Read rate at the end of the disk: the inner tracks of a hard disk."),
        rate("alone", "With together=true: sum of the read rates of the disks, each read alone."),
        MetricSpec::higher_is_better("sharing", Unit::Ratio).doc(
            "With together=true: rate of all disks at once over the sum of each alone; 1 when no shared link \
             limits them.",
        ),
        MetricSpec::higher_is_better("iops", Unit::PerSecond)
            .doc("With pattern=random: requests per second."),
        latency("latency", "With pattern=random: median time of a request, from submission to completion."),
        latency("p99", "With pattern=random: 99th percentile of the time of a request."),
        latency("slowest", "With pattern=random: time of the slowest request."),
    ],
    series: &[
        SeriesSpec::higher_is_better(
            "by_zone",
            Unit::MegabytesPerSecond,
            &[AxisSpec { name: "position", unit: Unit::Percent }],
        )
        .doc(
            "Read rate by position, from the first sector (0 %, outer tracks) to the last (100 %, inner \
             tracks).",
        ),
        SeriesSpec::higher_is_better(
            "by_disk",
            Unit::MegabytesPerSecond,
            &[AxisSpec { name: "disk", unit: Unit::Count }],
        )
        .doc(
            "With together=true: read rate of each disk while all are read, by its index in the evidence \
             `disks`.",
        ),
    ],
    parts: Parts::One("worker"),
    needs: &[Need::Privilege("read access to block devices: the group disk, or root")],
    probes: &["diskstats", "steal", "load", "clock", "kernel_log"],
    cost: Cost { seconds: 14, written: 0 },
    interaction: Interaction::Loads("the disk, or with together=true all disks of the node"),
};

pub const BENCHMARK: Benchmark = Benchmark {
    about: &ABOUT,
    factors: &[],
    plan: plan::plan,
    limits: plan::limits,
    part: |case, place| Part::alone(case, place, part::RawWorker::prepare),
    liveness_check: |case, place| {
        let config = config::RawConfig::of(case).ok()?;
        Some(seatrial_bench::directory::check(case, place, move || {
            let root = SysRoot::live();
            // `open` reads a block.
            config.disks.iter().try_for_each(|name| device::Disk::open(&root, name, &config).map(drop))
        }))
    },
    reduce: reduce::reduce,
};
