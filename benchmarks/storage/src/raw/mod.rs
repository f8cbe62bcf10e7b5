//! `storage.raw`: how fast whole disks are read, by place, each alone and all at once. Nothing is ever written.

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
    About, AxisSpec, Bytes, Cost, Interaction, Kind, MetricSpec, Need, ParamSpec, SeriesSpec, Unit,
};

use seatrial_sys::root::SysRoot;

use seatrial_bench::{Benchmark, Part};

const fn rate(name: &'static str, doc: &'static str) -> MetricSpec {
    MetricSpec::higher_is_better(name, Unit::MegabytesPerSecond).doc(doc)
}

const fn latency(name: &'static str, doc: &'static str) -> MetricSpec {
    MetricSpec::lower_is_better(name, Unit::Microsecond).doc(doc)
}

const ABOUT: About = About {
    id: "storage.raw",
    version: 1,
    title: "reading whole disks past their file systems, by place, each alone and all at once",
    doc: include_str!("doc.md"),
    params: &[
        ParamSpec::new("disk", Kind::Text, "auto").word("auto").doc(
            "One disk, by the kernel's name for it (nvme0n1) or the mapping's; auto: every disk of the \
             node.",
        ),
        ParamSpec::new("mode", Kind::Choice(&["direct", "buffered"]), "direct").doc(
            "Past the page cache (O_DIRECT), or through it with the kernel's read-ahead, as hdparm -t \
             reads.",
        ),
        ParamSpec::new("pattern", Kind::Choice(&["seq", "random"]), "seq").doc(
            "Five places from the first sector to the last, or blocks from all over the disk, each of \
             them once.",
        ),
        ParamSpec::new("block", Kind::Size(Bytes::kib(4), Bytes::mib(64)), "auto")
            .word("auto")
            .doc("Bytes of a request; auto is 1 MiB, with mode=buffered 2 MiB, with pattern=random 4 KiB."),
        ParamSpec::new("depth", Kind::Load(1, 256), "auto").word("auto").doc(
            "Requests kept under way; auto is 4, with pattern=random 32, and 1 with mode=buffered or \
             where there is no io_uring.",
        ),
        ParamSpec::new("together", Kind::Flag, "false")
            .doc("One case over all disks of the node, each alone and then all at once, at their beginning."),
        ParamSpec { default: "4 s", ..seatrial_bench::TIME },
        seatrial_bench::TRIALS,
        seatrial_bench::MAX_TRIALS,
        seatrial_bench::PRECISION,
    ],
    metrics: &[
        rate(
            "throughput",
            "Bytes read over time in the slowest zone; with together=true, from all disks at once; with pattern=random, \
             from all over the disk.",
        ),
        rate("first", "The same at the beginning of the disk, where hdparm -t reads."),
        rate("last", "The same at the end of the disk, the inner tracks of one that turns."),
        rate("alone", "With together=true: the sum over the disks, each read by itself."),
        MetricSpec::higher_is_better("sharing", Unit::Ratio).doc(
            "With together=true: all at once over the sum of each alone; 1 where nothing shared holds \
             them back.",
        ),
        MetricSpec::higher_is_better("iops", Unit::PerSecond).doc("With pattern=random: requests a second."),
        latency(
            "latency",
            "With pattern=random: median of the times from asking for a block to learning that it is there.",
        ),
        latency("p99", "With pattern=random: time that 99 % of all requests do not exceed."),
        latency("slowest", "With pattern=random: the longest request."),
    ],
    series: &[
        SeriesSpec::higher_is_better(
            "by_zone",
            Unit::MegabytesPerSecond,
            &[AxisSpec { name: "position", unit: Unit::Percent }],
        )
        .doc(
            "Bytes read over time by place, from the first sector (0 %, outer tracks) to the last (100 \
             %, inner).",
        ),
        SeriesSpec::higher_is_better(
            "by_disk",
            Unit::MegabytesPerSecond,
            &[AxisSpec { name: "disk", unit: Unit::Count }],
        )
        .doc(
            "With together=true: each disk's part while all are read, by its place in the evidence \
             `disks`.",
        ),
    ],
    parts: &["worker"],
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
        Some(crate::liveness::check(case, place, move || {
            let root = SysRoot::live();
            // Opening one reads a block of it.
            config.disks.iter().try_for_each(|name| device::Disk::open(&root, name, &config).map(drop))
        }))
    },
    reduce: reduce::reduce,
};
