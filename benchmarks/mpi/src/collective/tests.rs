//! Plans and reduction with exact numbers and no clock.

use seatrial_model::{Case, Cause, Measures, Nanos, Reason, Sample};

use super::BENCHMARK;
use super::config::{Buffers, Collective, CollectiveConfig, OPERATIONS, osu_iterations};
use super::kernel::OverlapTimes;
use super::samples::CallRun;
use crate::fixture::site;

fn case(typed: &[(&str, &str)]) -> Result<Case, Reason> {
    let params = seatrial_testkit::params(BENCHMARK.about, typed);
    Ok(BENCHMARK.plan(&params, &site())?.remove(0))
}

fn config(typed: &[(&str, &str)]) -> CollectiveConfig {
    CollectiveConfig::of(&case(typed).expect("a case")).expect("read")
}

#[test]
fn without_a_number_each_core_has_a_rank() {
    let all = case(&[]).expect("a case");
    assert_eq!((all.planned.count("ranks"), all.places[0].bindings.len()), (Ok(8), 8));
    assert_eq!(all.findings, []);
    let ten = case(&[("ranks", "10")]).expect("a case");
    assert!(ten.places[0].bindings.is_empty(), "none is pinned");
    assert_eq!(ten.findings[0].kind, "oversubscribed");
}

#[test]
fn sizes_are_those_in_which_each_rank_has_an_element() {
    assert_eq!(config(&[]).sizes, (2..=20).map(|power| 1 << power).collect::<Vec<u64>>());
    assert_eq!(config(&[("op", "reduce_scatter_block")]).sizes[0], 32);
    assert_eq!(config(&[("op", "barrier")]).sizes, [0]);
    assert_eq!(config(&[("size", "1KiB")]).sizes, [1024]);
}

#[test]
fn contradictions_are_refused() {
    for (typed, why) in [
        (&[("op", "barrier"), ("size", "8B")][..], "size=8 B: op=barrier moves no data"),
        (&[("op", "ibarrier"), ("size", "8B")], "size=8 B: op=ibarrier moves no data"),
        (&[("size", "6B")], "size=6 B: elements have 4 B"),
        (&[("op", "reduce_scatter_block"), ("size", "16B")], "size=16 B: op=reduce_scatter_block"),
    ] {
        let reason = case(typed).expect_err(why);
        assert!(reason.cause == Cause::Contradiction && reason.text.starts_with(why), "{reason}");
    }
    let reason = case(&[("op", "alltoall"), ("size", "1GiB"), ("ranks", "1000")]).expect_err("too much");
    assert!(reason.cause == Cause::NoSpace && reason.text.contains("op=alltoall"), "{reason}");
}

#[test]
fn buffers_have_the_lengths_that_the_operations_need() {
    let of = |op: Collective| {
        [0, 1].map(|rank| {
            let Buffers { out, into } = op.buffers(10, 4, rank);
            (out, into)
        })
    };
    assert_eq!(of(Collective::Barrier), [(0, 0); 2]);
    assert_eq!(of(Collective::Bcast), [(0, 10); 2]);
    assert_eq!(of(Collective::Reduce), [(10, 10), (10, 0)]);
    assert_eq!(of(Collective::Scan), [(10, 10); 2]);
    assert_eq!(of(Collective::Allgather), [(10, 40); 2]);
    assert_eq!(of(Collective::Alltoall), [(40, 40); 2]);
    assert_eq!(of(Collective::ReduceScatterBlock), [(8, 2); 2]);
    assert_eq!(of(Collective::Gather), [(10, 40), (10, 0)]);
    assert_eq!(of(Collective::Scatter), [(40, 10), (0, 10)]);
}

#[test]
fn every_operation_has_its_word() {
    for word in OPERATIONS {
        let config = config(&[("op", word)]);
        let blocking = serde_json::to_value(config.op).expect("a word");
        let prefix = if config.non_blocking { "i" } else { "" };
        assert_eq!(format!("{prefix}{}", blocking.as_str().expect("text")), *word);
    }
}

#[test]
fn counts_of_osu_are_those_of_its_source() {
    assert_eq!((osu_iterations(8192), osu_iterations(8193)), ((100, 1000), (10, 100)));
    assert!(config(&[("like", "osu")]).osu);
}

/// What a rank tells of ten calls of these nanoseconds together, in a turn.
fn run(rank: usize, size: u64, slice: u64, time_ns: u64, completion_ns: f64) -> Vec<Sample> {
    let (start, end) = (Nanos(slice * 100_000), Nanos((slice + 1) * 100_000));
    let mut samples = Vec::new();
    CallRun { start, end, count: 10, time_ns, completion_ns, overlap: None }.emit(
        rank,
        size,
        slice,
        &mut samples,
    );
    samples
}

fn reduced(typed: &[(&str, &str)], samples: Vec<Sample>) -> Result<Measures, Reason> {
    let part = seatrial_testkit::part(samples);
    BENCHMARK.reduce(&case(typed).expect("a case"), &[part])
}

#[test]
fn latency_is_the_mean_over_ranks_and_completion_that_of_the_last() {
    let samples = [
        run(0, 8, 0, 10_000, 4000.0),
        run(1, 8, 0, 30_000, 0.0),
        // Two runs of one turn are one value.
        run(0, 8, 2, 10_000, 4000.0),
        run(0, 8, 2, 30_000, 8000.0),
        run(1, 8, 2, 40_000, 0.0),
        run(0, 16, 1, 50_000, 5000.0),
        run(1, 16, 1, 50_000, 0.0),
        // A turn in which a rank has no sample counts for nothing.
        run(0, 16, 3, 90_000, 9000.0),
    ];
    let measures = reduced(&[("ranks", "2")], samples.concat()).expect("measured");
    let values = |metric: &str| measures.metrics[metric].trials.concat();
    assert_eq!(values("latency"), [2.0, 3.0]);
    assert_eq!(values("completion"), [0.4, 0.6]);
    assert_eq!(values("slowest_latency"), [3.0, 4.0]);
    assert_eq!(measures.evidence["slowest_rank"], 1);
    let rows = &measures.series["latency_by_size"];
    assert_eq!((rows.len(), &rows[1].values.trials), (2, &vec![vec![5.0]]));
    assert_eq!(measures.series["completion_by_size"][1].values.trials, [[0.5]]);
    assert_eq!(measures.series["latency_by_rank"].len(), 2);
    assert!(measures.findings[0].text.starts_with("17 sizes were not measured"), "{:?}", measures.findings);
}

#[test]
fn a_barrier_has_no_sizes() {
    let samples = [run(0, 0, 0, 10_000, 1000.0), run(1, 0, 0, 10_000, 0.0)].concat();
    let measures = reduced(&[("op", "barrier"), ("ranks", "2")], samples).expect("measured");
    assert_eq!(measures.series.keys().collect::<Vec<_>>(), ["latency_by_rank"]);
    assert_eq!(measures.findings, []);
}

/// A rank whose ten calls take 10 us alone and `overall_ns` with a computation of 8 us.
fn overlapped(rank: usize, size: u64, overall_ns: u64) -> Vec<Sample> {
    let overlap = Some(OverlapTimes { overall_ns, computation_ns: 8000 });
    let (start, end, mut samples) = (Nanos(0), Nanos(100_000), Vec::new());
    CallRun { start, end, count: 10, time_ns: 10_000, completion_ns: 0.0, overlap }.emit(
        rank,
        size,
        size,
        &mut samples,
    );
    samples
}

#[test]
fn overlap_is_what_a_call_does_not_add_to_the_computation() {
    let samples = [
        // 8 us of computation and 10 us of calls: one after the other, then 3 us of both ranks' 20 us left over.
        overlapped(0, 4, 18_000),
        overlapped(1, 4, 19_000),
        overlapped(0, 8, 9000),
        overlapped(1, 8, 10_000),
        // Noise cannot hide more than all.
        overlapped(0, 16, 7000),
        overlapped(1, 16, 7000),
    ];
    let measures = reduced(&[("op", "iallreduce"), ("ranks", "2")], samples.concat()).expect("measured");
    let rows: Vec<_> =
        measures.series["overlap_by_size"].iter().map(|row| row.values.trials.concat()).collect();
    assert_eq!(rows, [[0.0], [85.0], [100.0]]);
    assert_eq!(measures.metrics["overlap"].trials, [[100.0]], "of the largest size");
    let blocking = reduced(&[("ranks", "2")], [run(0, 8, 0, 1, 0.0), run(1, 8, 0, 1, 0.0)].concat());
    assert!(!blocking.expect("measured").metrics.contains_key("overlap"));
}

#[test]
fn too_few_calls_are_too_short() {
    assert_eq!(reduced(&[], Vec::new()).expect_err("nothing").cause, Cause::TooShort);
}
