//! `storage.copy`: how fast a file is copied from one directory to another, and what it costs the processor.

mod copying;
mod part;
mod plan;
mod reduce;
#[cfg(test)]
mod tests;

use seatrial_model::{About, Bytes, Cost, Interaction, Kind, MetricSpec, Need, ParamSpec, Unit};

use seatrial_bench::{Benchmark, Part};

const fn rate(name: &'static str, doc: &'static str) -> MetricSpec {
    MetricSpec::higher_is_better(name, Unit::MegabytesPerSecond).doc(doc)
}

const fn share(name: &'static str, doc: &'static str) -> MetricSpec {
    MetricSpec::lower_is_better(name, Unit::Percent).doc(doc)
}

const ABOUT: About = About {
    id: "storage.copy",
    version: 1,
    title: "copying a file from one directory to another, or within one",
    doc: include_str!("doc.md"),
    params: &[
        ParamSpec::new("from", Kind::Text, "auto").word("auto").doc(
            "Directory of the file that is copied, with its full path; auto: the current one, or \
             /var/tmp where that is in memory.",
        ),
        ParamSpec::new("to", Kind::Text, "auto")
            .word("auto")
            .doc("Directory of the copy, with its full path; auto: the same as `from`."),
        ParamSpec::new("size", Kind::Size(Bytes::mib(1), Bytes::gib(1 << 20)), "256 MiB")
            .doc("Bytes of the file."),
        ParamSpec::new("method", Kind::Choice(&["read_write", "copy_file_range"]), "read_write").doc(
            "Through memory of ours, or by the kernel alone (copy_file_range), which may share blocks \
             instead.",
        ),
        ParamSpec::new("block", Kind::Size(Bytes::kib(4), Bytes::mib(64)), "1 MiB")
            .doc("Bytes that are asked for at once."),
        ParamSpec::new("sync", Kind::Choice(&["end", "none"]), "end").doc(
            "Whether a copy is done when it is flushed (fdatasync), or when the page cache has all of \
             it.",
        ),
        ParamSpec::new("source", Kind::Choice(&["cold", "warm"]), "cold")
            .doc("Whether the page cache has let go of the file before each copy, or holds it."),
        ParamSpec { default: "2 s", ..seatrial_bench::TIME },
        seatrial_bench::TRIALS,
        seatrial_bench::MAX_TRIALS,
        seatrial_bench::PRECISION,
    ],
    metrics: &[
        rate("throughput", "Bytes of the file over the time of a copy; with sync=end until it is flushed."),
        rate("unsynced", "With sync=end: bytes of the file over the time until all was handed over."),
        share("user", "Time of the copying thread in user mode, in percent of the time of the copy."),
        share("system", "The same in the kernel; what the kernel writes later by itself is not in it."),
    ],
    series: &[],
    parts: &["worker"],
    needs: &[Need::Directory],
    probes: &["diskstats", "steal", "load", "kernel_log"],
    cost: Cost { seconds: 12, written: 4 << 30 },
    interaction: Interaction::Loads("both directories' file systems and what they lie on"),
};

pub const BENCHMARK: Benchmark = Benchmark {
    about: &ABOUT,
    factors: &[],
    plan: plan::plan,
    limits: plan::limits,
    part: |case, place| Part::alone(case, place, part::CopyWorker::prepare),
    liveness_check: |case, place| {
        let both = [case.params.text("from").ok()?, case.planned.text("to").ok()?];
        Some(crate::liveness::check_directories(case, place, &both))
    },
    reduce: reduce::reduce,
};
