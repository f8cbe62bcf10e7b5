//! `nccl.collective`: collective operations over GPUs by NCCL, one process a GPU.

mod aliases;
#[cfg(test)]
mod faults;
mod findings;
mod item;
mod kernel;
mod limits;
mod log;
mod operation;
mod part;
mod plan;
mod ptx;
mod reduce;
mod steer;
#[cfg(test)]
mod tests;

use seatrial_model::{
    About, Actor, AxisSpec, Bytes, Cost, Interaction, Kind, MetricSpec, Need, ParamSpec, Parts, Remedy,
    SeriesSpec, Unit,
};

use seatrial_bench::Benchmark;

pub use aliases::ALIASES;

const BY_SIZE: &[AxisSpec] = &[AxisSpec { name: "size", unit: Unit::Byte }];
const BY_ITERATION: &[AxisSpec] = &[AxisSpec { name: "iteration", unit: Unit::Count }];
const BY_RANK: &[AxisSpec] = &[AxisSpec { name: "rank", unit: Unit::Count }];

const ABOUT: About = About {
    id: "nccl.collective",
    version: 3,
    title: "NCCL collective operations over the GPUs of a node or of several",
    doc: include_str!("doc.md"),
    checks: &[
        Remedy::new(
            Actor::User,
            "see which way NCCL takes (`nccl_log` in the evidence): NVLink between the GPUs of a node, InfiniBand between nodes",
        ),
        Remedy::new(Actor::User, "measure the links alone: `seatrial run gpu.peer_copy`, between nodes `rdma.write_bw`"),
        Remedy::new(Actor::Administrator, "check active NVLinks and their errors (`nvidia-smi nvlink -s`)"),
    ],
    params: &[
        ParamSpec::new("operation", Kind::Choice(operation::OPERATIONS), "all_reduce")
            .doc("The collective operation; those that reduce add."),
        ParamSpec::new("size", Kind::Size(Bytes(4), Bytes::gib(64)), "auto").word("auto").doc(
            "Bytes as nccl-tests counts them: of all_gather, reduce_scatter and all_to_all those of all ranks together; auto: \
             8 B to 8 GiB in powers of 8 as a series, as far as a quarter of the memory holds them and an operation takes no \
             longer than a trial.",
        ),
        ParamSpec::new("type", Kind::Choice(item::TYPES), "fp32").doc("Type of the elements."),
        ParamSpec::new("in_place", Kind::Flag, "false").doc(
            "Whether what is sent and what is received share memory; not with all_to_all and send_receive.",
        ),
        ParamSpec::new("gpus", Kind::Load(1, 64), "auto")
            .word("auto")
            .doc("GPUs of each node, the first ones; auto: all."),
        ParamSpec::new("pace", Kind::Choice(&["stream", "one"]), "stream")
            .doc("stream: operations are queued one after the other, as in nccl-tests; one: each is waited for."),
        ParamSpec::new("like", Kind::Choice(&["none", "nccl-tests"]), "none").doc(
            "nccl-tests: runs of 20 operations after one that is not timed, by the host's clock, the mean over ranks, as \
             nccl-tests does, so that figures can be held against it.",
        ),
        ParamSpec::new("algorithm", Kind::Choice(&["auto", "ring", "tree", "nvls"]), "auto")
            .doc("Algorithm that NCCL has to use (NCCL_ALGO); auto: its own choice for each size."),
        ParamSpec::new("nvlink", Kind::Choice(&["auto", "off"]), "auto").doc(
            "off: no way within the node (NCCL_P2P_DISABLE, NCCL_SHM_DISABLE), so that the GPUs of one node use its network.",
        ),
        ParamSpec::new("library", Kind::Text, "auto").word("auto").doc(
            "NCCL's library, as a file or its folder; auto: libnccl.so.2 where the dynamic linker finds it, in Python wheels \
             and in NVIDIA's HPC SDK.",
        ),
        ParamSpec { default: "1 s", ..seatrial_bench::TIME },
        seatrial_bench::TRIALS,
        seatrial_bench::MAX_TRIALS,
        seatrial_bench::PRECISION,
        seatrial_bench::SCHED,
    ],
    metrics: &[
        MetricSpec::higher_is_better("busbw", Unit::GigabytesPerSecond)
            .doc("Rate of the busiest link at the largest size: algbw times the factor of the operation.")
            .isolates(),
        MetricSpec::higher_is_better("algbw", Unit::GigabytesPerSecond)
            .doc("Bytes of the largest size over the time of the slowest rank."),
        MetricSpec::lower_is_better("latency", Unit::Microsecond)
            .doc("Time of an operation of the smallest size, of the slowest rank."),
        MetricSpec::lower_is_better("half", Unit::Byte)
            .doc("The smallest size with half of the highest busbw or more."),
        MetricSpec::lower_is_better("init", Unit::Second)
            .doc("Time until all ranks have joined (ncclCommInitRank), of the slowest rank."),
    ],
    series: &[
        SeriesSpec::higher_is_better("curve", Unit::GigabytesPerSecond, BY_SIZE)
            .column(4, "busbw")
            .doc("busbw by size."),
        SeriesSpec::lower_is_better("time_by_size", Unit::Microsecond, BY_SIZE)
            .column(2, "time")
            .doc("Time of an operation by size, of the slowest rank."),
        SeriesSpec::higher_is_better("algbw_by_size", Unit::GigabytesPerSecond, BY_SIZE)
            .column(3, "algbw")
            .doc("algbw by size."),
        SeriesSpec::descriptive("count_by_size", Unit::Count, BY_SIZE)
            .column(1, "count")
            .doc("Elements of a rank, or of its part, as nccl-tests counts them."),
        SeriesSpec::lower_is_better("wrong_by_size", Unit::Count, BY_SIZE)
            .column(5, "wrong")
            .doc("Wrong elements on all ranks, of all that were compared."),
        SeriesSpec::lower_is_better("by_rank", Unit::Microsecond, BY_RANK).doc(
            "Time of an operation of the largest size by rank. The others wait for the rank that comes last, whose time is \
             the shortest.",
        ),
        SeriesSpec::lower_is_better("by_iteration", Unit::Microsecond, BY_ITERATION).doc(
            "Time of each of up to 20 operations of the largest size, one after the other, of the slowest rank; as many as \
             fit in a quarter of a second.",
        ),
    ],
    parts: Parts::AllNodes("rank"),
    needs: &[Need::Library("libcuda.so.1"), Need::Library("libnccl.so.2")],
    probes: &["steal", "load", "nic", "ib_port", "kernel_log"],
    cost: Cost { seconds: 10, written: 0 },
    interaction: Interaction::Loads("all GPUs and the links between them"),
};

pub const BENCHMARK: Benchmark = Benchmark {
    about: &ABOUT,
    factors: &[],
    plan: plan::plan,
    limits: limits::limits,
    part: |case, place| part::part(case, place, None),
    liveness_check: |_, _| None,
    reduce: |case, parts| reduce::reduce(case, parts),
};
