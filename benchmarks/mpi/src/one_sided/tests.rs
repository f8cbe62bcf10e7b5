//! Plans, limits and reduction with exact numbers and no clock.

use seatrial_model::{Case, Cause, Limit, Measures, Nanos, Params, Quantity, Reason, Sample};
use seatrial_mpi_job::between_nodes::MESSAGES;

use super::BENCHMARK;
use super::config::{OPERATIONS, OneSidedConfig, SYNCHRONIZATIONS, WINDOWS, osu_iterations};
use crate::copies::region;
use crate::fixture::site;

fn case(typed: &[(&str, &str)]) -> Result<Case, Reason> {
    let params = seatrial_testkit::params(BENCHMARK.about, typed);
    Ok(BENCHMARK.plan(&params, &site())?.remove(0))
}

fn config(typed: &[(&str, &str)]) -> OneSidedConfig {
    OneSidedConfig::of(&case(typed).expect("a case")).expect("read")
}

#[test]
fn contradictions_are_refused() {
    for (typed, why) in [
        (&[("ranks", "3")][..], "ranks=3"),
        (&[("like", "osu"), ("ranks", "4")], "ranks=4"),
        (&[("like", "osu"), ("sync", "fence")], "sync=fence"),
        (&[("like", "osu"), ("depth", "8")], "depth=8"),
        (&[("like", "osu"), ("depth", "64"), ("op", "accumulate")], "depth=64"),
        (&[("like", "osu"), ("buffers", "fresh")], "buffers=fresh: like=osu"),
        (&[("op", "accumulate"), ("buffers", "fresh")], "buffers=fresh: operations on elements"),
        (&[("op", "accumulate"), ("size", "12B")], "size=12 B: elements have 8 B"),
        (&[("op", "fetch_and_op"), ("size", "16B")], "size=16 B: op=fetch_and_op"),
    ] {
        let reason = case(typed).expect_err(why);
        assert!(reason.cause == Cause::Contradiction && reason.text.starts_with(why), "{reason}");
    }
    let reason = case(&[("size", "1GiB"), ("depth", "64")]).expect_err("64 GiB a rank");
    assert_eq!(reason.cause, Cause::NoSpace);
    assert!(reason.text.contains("lower depth=, size= or ranks="), "{reason}");
}

#[test]
fn sizes_are_those_that_the_operation_can_have() {
    let powers = |from: u32| (from..=22).map(|power| 1 << power).collect::<Vec<u64>>();
    assert_eq!(config(&[]).sizes, powers(0));
    assert_eq!(config(&[("op", "accumulate")]).sizes, powers(3));
    assert_eq!(config(&[("op", "compare_and_swap")]).sizes, [8]);
    assert_eq!(config(&[("op", "get"), ("size", "3B")]).sizes, [3]);
}

#[test]
fn every_word_of_a_parameter_has_its_meaning() {
    for word in OPERATIONS {
        assert_eq!(serde_json::to_value(config(&[("op", word)]).op).expect("a word"), *word);
    }
    let lower = |value: &dyn std::fmt::Debug| format!("{value:?}").to_lowercase();
    for word in WINDOWS {
        assert_eq!(lower(&config(&[("window", word)]).memory().expect("known")), *word);
    }
    for word in SYNCHRONIZATIONS {
        assert_eq!(lower(&config(&[("sync", word)]).synchronization().expect("known")), *word);
    }
}

#[test]
fn counts_of_osu_are_those_of_its_source() {
    assert_eq!((osu_iterations(1, 8192), osu_iterations(1, 8193)), ((100, 10_000), (10, 1000)));
    assert_eq!((osu_iterations(64, 8192), osu_iterations(64, 8193)), ((10, 100), (2, 20)));
}

#[test]
fn only_copies_through_memory_have_a_limit() {
    let bandwidth = |typed: &[(&str, &str)]| {
        let case = case(typed).expect("a case");
        let limits = BENCHMARK.limits(&case, &site());
        (region(&case).expect("planned"), limits["bandwidth"].clone())
    };
    // Two regions are four times the caches.
    let (fresh, limit) = bandwidth(&[("depth", "8"), ("size", "1MiB")]);
    assert_eq!(fresh, 64 << 20);
    assert!(!format!("{limit:?}").contains("caches"), "{limit:?}");
    for typed in [&[("depth", "8"), ("buffers", "one")][..], &[("depth", "8"), ("op", "accumulate")], &[]] {
        let (fresh, limit) = bandwidth(typed);
        assert!(fresh == 0 && matches!(limit, Limit::Unknown { .. }), "{limit:?}");
    }
}

/// Operations of a rank within nanoseconds.
fn sample(rank: u64, size: u64, slice: u64, span: (u64, u64), operations: u64) -> Sample {
    let at = Params::from([("rank", rank.into()), ("size", size.into()), ("slice", slice.into())]);
    Sample::new(MESSAGES, at, (Nanos(span.0), Nanos(span.1)), Quantity::count(operations))
}

fn reduced(typed: &[(&str, &str)], samples: Vec<Sample>) -> Result<Measures, Reason> {
    let part = seatrial_testkit::part(samples);
    BENCHMARK.reduce(&case(typed).expect("a case"), &[part])
}

#[test]
fn latency_is_the_time_of_an_operation_over_the_pairs() {
    let samples = vec![
        sample(0, 8, 0, (0, 10_000), 10),
        sample(1, 8, 0, (0, 30_000), 10),
        // The ranks that are operated on have times where they take part.
        sample(2, 8, 0, (0, 90_000), 10),
        sample(3, 8, 0, (0, 90_000), 10),
        sample(0, 16, 1, (10_000, 90_000), 10),
        sample(1, 16, 1, (10_000, 90_000), 10),
    ];
    let measures = reduced(&[("ranks", "4"), ("sync", "fence")], samples).expect("measured");
    assert_eq!(measures.metrics["latency"].trials.concat(), [2.0]);
    assert_eq!(measures.series["latency_by_size"].len(), 2);
    assert_eq!(measures.series["latency_by_rank"].len(), 4);
    assert!(!measures.metrics.contains_key("bandwidth"));
    assert!(measures.findings.iter().any(|finding| finding.text.starts_with("21 sizes were not measured")));
}

#[test]
fn payload_and_rate_add_up_while_all_pairs_operate() {
    let samples = vec![
        sample(0, 1024, 0, (0, 1024), 8),
        sample(1, 1024, 0, (0, 2048), 8),
        sample(0, 128, 1, (2048, 3072), 8),
        sample(1, 128, 1, (2048, 3072), 8),
    ];
    let measures = reduced(&[("ranks", "4"), ("depth", "8")], samples).expect("measured");
    let near = |metric: &str, wanted: f64| {
        let values = measures.metrics[metric].trials.concat();
        assert!(values.len() == 1 && (values[0] / wanted - 1.0).abs() < 1e-9, "{metric}: {values:?}");
    };
    near("bandwidth", 12.0);
    near("rate", 15.625);
    assert_eq!(measures.evidence["fastest_size"], 1024);
    assert_eq!(measures.series["bandwidth_by_size"].len(), 2);
    let atomic = reduced(&[("op", "fetch_and_op"), ("depth", "8")], vec![sample(0, 8, 0, (0, 1000), 8)]);
    let atomic = atomic.expect("measured");
    let metrics: Vec<&String> = atomic.metrics.keys().collect();
    assert_eq!(metrics, ["rate", "slowest_rate"]);
    assert_eq!(reduced(&[], Vec::new()).expect_err("nothing").cause, Cause::TooShort);
}
