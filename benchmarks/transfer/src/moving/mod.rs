//! `transfer.move`: what a tool takes to copy a data set from one node to another, or within one.

mod busiest;
mod command;
mod curve;
mod done;
mod held_back;
mod orders;
mod plan;
mod process;
mod receiver;
mod reduce;
mod runner;
mod sender;
#[cfg(test)]
mod tests;
mod tool;

use seatrial_model::{
    About, Actor, AxisSpec, Cost, Interaction, Kind, MetricSpec, Need, ParamSpec, Parts, Remedy, SeriesSpec,
    Unit,
};

use crate::set::with_set;
use seatrial_bench::{Benchmark, Part};

const ID: &str = "transfer.move";

/// The directory that is copied, in the folders of both ends.
const SET: &str = "set";

const PARAMS: [ParamSpec; 22] = with_set(
    &[
        ParamSpec::new("tool", Kind::Choice(&tool::NAMES), "native").doc(
            "native: the mover of `seatrial copy`, started beforehand; scp: scp -r; rsync: rsync -a over ssh, or within one \
             node; tar-ssh: tar into tar over ssh; cp: cp -a within one node; bbcp: bbcp -r; rclone: rclone copy, by sftp over ssh \
             between nodes.",
        ),
        ParamSpec::new("direction", Kind::Choice(&["push", "pull"]), "push").doc(
            "Which node runs the tool: push: the first, which has the files; pull: the second, which fetches them. The files go \
             from the first node to the second either way. scp, rsync, tar-ssh, bbcp and rclone only.",
        ),
        ParamSpec::new("source", Kind::Text, "auto").word("auto").doc(
            "Directory on the first node for the data set, as a full path; auto: the current directory, or /var/tmp if that is \
             in memory.",
        ),
        ParamSpec::new("target", Kind::Text, "auto")
            .word("auto")
            .doc("Directory on the second node, or on the only one, for the copy, as a full path; auto as for `source`."),
    ],
    &[
        ParamSpec::new("streams", Kind::Load(1, 64), "4")
            .doc("Connections of tool=native and of bbcp, files at once of rclone; the others have one."),
        ParamSpec::new("window", Kind::Text, "auto").word("auto").doc(
            "Buffers of each connection of tool=native (SO_SNDBUF, SO_RCVBUF) and window of bbcp: auto: the kernel's, or bbcp's \
             own; bdp: (speed of the interface in bit/s) x (shortest round trip in s) / 8 bytes; or a size.",
        ),
        ParamSpec::new("cipher", Kind::Text, "auto")
            .word("auto")
            .doc(
                "Cipher of scp, rsync, tar-ssh and rclone, as for ssh -c; auto: what both ends agree upon. Of tool=native: \
                 aes-256-gcm or chacha20-poly1305; auto: none, the data goes in the clear.",
            ),
        ParamSpec::new("preserve", Kind::Flag, "false").doc(
            "true: scp -p, bbcp -p and tar -p keep modes and times, seatrial copy also owners and extended attributes. rsync -a, \
             cp -a and seatrial copy keep modes and times always.",
        ),
        ParamSpec::new("cache", Kind::Choice(&["cold", "warm"]), "cold")
            .doc("cold: the page cache drops the data set before each copy; warm: it may hold the set."),
        ParamSpec::new("sync", Kind::Choice(&["none", "end"]), "none").doc(
            "When a copy is over: none: when the tool says so, with the data in the page cache of the target; end: when the \
             file system of the target is flushed besides.",
        ),
        ParamSpec { default: "1 s", ..seatrial_bench::TIME },
        seatrial_bench::TRIALS,
        seatrial_bench::MAX_TRIALS,
        seatrial_bench::PRECISION,
        seatrial_bench::SCHED,
    ],
);

const ABOUT: About = About {
    id: ID,
    version: 1,
    title: "copying a data set with seatrial copy, scp, rsync, rclone, bbcp, tar over ssh or cp",
    doc: include_str!("doc.md"),
    checks: &[
        Remedy::new(
            Actor::User,
            "compare with `seatrial run net.tcp_stream` between the nodes and `transfer.dataset` at both ends: which is the slowest",
        ),
        Remedy::new(Actor::User, "measure again with `-p tool=native`: the tool may be the limit"),
    ],
    params: &PARAMS,
    metrics: &[
        MetricSpec::higher_is_better("goodput", Unit::MegabytesPerSecond)
            .doc("Bytes of all files over the time from the start of the tool to its end."),
        MetricSpec::higher_is_better("files", Unit::PerSecond).doc("Files over the same time."),
        MetricSpec::lower_is_better("sender_cpu", Unit::Nanosecond)
            .doc("Busy time of all CPUs of the first node, with interrupts, for each byte of the files."),
        MetricSpec::lower_is_better("receiver_cpu", Unit::Nanosecond)
            .doc("The same of the second node."),
        MetricSpec::lower_is_better("busiest", Unit::Percent).doc(
            "CPU time of the busiest thread of the tool, on the node that runs the tool (direction=push: the first; pull: the second), \
             in percent of the time of the copy; read every 100 ms.",
        ),
        MetricSpec::lower_is_better("wire", Unit::Ratio)
            .doc("Bytes that the interface of the first node sent, over the bytes of the files; between two nodes only."),
        MetricSpec::lower_is_better("first_done", Unit::Second)
            .doc("Time from the start until the first file had its last change at the target."),
        MetricSpec::lower_is_better("last_done", Unit::Second).doc("The same of the last file."),
        MetricSpec::lower_is_better("verify", Unit::Second).doc(
            "Time in which the second node compared every byte of the copy with what it must be, after the copy; not part of \
             `goodput`.",
        ),
    ],
    series: &[
        seatrial_bench::BY_TIME.doc(
            "What the interface of the first node sent in each interval of 100 ms or more of the first copy of a trial, by the time \
             since the copy began; between two nodes only.",
        ),
        SeriesSpec::higher_is_better(
            "by_size",
            Unit::MegabytesPerSecond,
            &[AxisSpec { name: "size", unit: Unit::Byte }],
        )
        .doc(
            "Of sets with files of several sizes: bytes of the files of more than half of this size and at most this size, over \
             the time in which such a file was the next to be done.",
        ),
    ],
    parts: Parts::OneWay(["sender", "receiver"]),
    needs: &[Need::Directory],
    probes: &["steal", "load", "nic", "diskstats", "kernel_log"],
    cost: Cost { seconds: 30, written: 6 << 30 },
    interaction: Interaction::Loads("the link between the nodes, both file systems, and CPUs of both nodes"),
};

pub const BENCHMARK: Benchmark = Benchmark {
    about: &ABOUT,
    factors: &[],
    plan: plan::plan,
    limits: plan::limits,
    part: |case, place| {
        let prepare = if place.index == 0 { sender::prepare } else { receiver::prepare };
        Part::new(case, place, prepare)
    },
    liveness_check: |case, place| {
        let name = if place.index == 0 { "source" } else { "target" };
        let directory = case.params.text(name).ok()?;
        Some(seatrial_bench::directory::check_directories(case, place, &[directory]))
    },
    reduce: reduce::reduce,
};
