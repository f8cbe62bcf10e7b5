//! Plans and reduction with exact numbers and no clock.

use seatrial_model::machine::{Known, Nic};
use seatrial_model::{Case, Cause, Measures, Nanos, Params, Quantity, Reason, Sample, Site, SiteNode};
use seatrial_mpi_job::{FINALIZE, step};

use super::BENCHMARK;
use super::part::LAUNCHER;
use super::plan::per_node_counts;
use super::program::{INIT, LOAD, WAITING};

fn case_on(nodes: &[&str], typed: &[(&str, &str)]) -> Result<Case, Reason> {
    let nic = Nic {
        name: "eth0".to_owned(),
        up: Known::Known(true),
        networks: Known::Known(vec!["10.0.0.0/24".to_owned()]),
        ..Nic::default()
    };
    let node =
        |name: &&str| SiteNode::new(*name, seatrial_testkit::eight_cores(name, vec![nic.clone()]).machine);
    let site = Site { nodes: nodes.iter().map(node).collect() };
    Ok(BENCHMARK.plan(&seatrial_testkit::params(BENCHMARK.about, typed), &site)?.remove(0))
}

fn case(typed: &[(&str, &str)]) -> Case {
    case_on(&["n1"], typed).expect("a case")
}

#[test]
fn jobs_have_powers_of_two_up_to_a_rank_for_each_core_or_the_number_that_is_asked_for() {
    let counts = |case: &Case| per_node_counts(case).expect("numbers");
    assert_eq!(counts(&case(&[])), [1, 2, 4, 8]);
    assert_eq!(counts(&case(&[("ranks", "6")])), [6]);
    assert_eq!(counts(&case(&[("ranks", "1")])), [1]);
    let two = case_on(&["n1", "n2"], &[]).expect("a case");
    assert_eq!((counts(&two), two.planned.count("ranks")), (vec![1, 2, 4, 8], Ok(16)));
    let of_node = case_on(&["n1", "n2"], &[("ranks_per_node", "3")]).expect("a case");
    assert_eq!((counts(&of_node), of_node.planned.count("ranks")), (vec![3], Ok(6)));
    let odd = case_on(&["n1", "n2"], &[("ranks", "3")]).expect_err("refused");
    assert_eq!(odd.cause, Cause::Contradiction, "{odd}");
}

#[test]
fn a_job_that_hangs_until_its_deadline_is_within_the_time_of_the_case() {
    let (one, all) = (case(&[("ranks", "8")]).budget, case(&[]).budget);
    assert_eq!(one.measure.since(one.slack), Nanos::secs(1));
    // Each job and the one that does not count may take its time to start and its time to end.
    assert_eq!(one.slack.get(), 2 * 2 * one.prepare.get());
    assert_eq!(all.slack.get(), 5 * 2 * all.prepare.get());
}

#[test]
fn more_ranks_than_cores_are_told() {
    assert_eq!(case(&[("ranks", "9")]).findings[0].kind, "oversubscribed");
    assert_eq!(case(&[]).findings, []);
}

const MS: u64 = 1_000_000;

/// A job whose rank i begins `launch` ms after the launcher, loads for `load` ms and is in MPI_Init for `init` ms.
fn job(ranks: u64, round: u64, of_ranks: &[(u64, u64, u64)]) -> Vec<Sample> {
    let at = |ms: u64| Nanos(ms * MS);
    // All load when the last has called.
    let called = of_ranks.iter().map(|(launch, ..)| 1000 + launch).max().expect("ranks") + 500;
    let mut samples = Vec::new();
    for (rank, (launch, load, init)) in of_ranks.iter().enumerate() {
        samples.push(step(WAITING, rank, (at(1000 + launch), at(called))));
        samples.push(step(LOAD, rank, (at(called), at(called + load))));
        samples.push(step(INIT, rank, (at(called + load), at(called + load + init))));
        samples.push(step(FINALIZE, rank, (at(9000), at(9010 + rank as u64))));
    }
    let launcher = (at(1000), at(9050));
    samples.push(Sample::new(LAUNCHER, Params::default(), launcher, Quantity::count(1)));
    for sample in &mut samples {
        sample.at.set("ranks", ranks);
        sample.at.set("round", round);
    }
    samples
}

fn reduced(case: &Case, samples: &[Vec<Sample>]) -> Result<Measures, Reason> {
    let part = seatrial_testkit::part(samples.concat());
    BENCHMARK.reduce(case, &[part])
}

#[test]
fn each_time_is_that_of_the_last_rank_without_the_wait_for_the_call() {
    let jobs = [
        job(1, 0, &[(50, 10, 20)]),
        job(2, 0, &[(100, 10, 40), (120, 20, 30)]),
        job(2, 1, &[(200, 10, 40), (100, 10, 60)]),
        // A job of which the times of a rank are missing says nothing.
        job(2, 2, &[(900, 900, 900)]),
    ];
    let measures = reduced(&case(&[("ranks", "2")]), &jobs).expect("measured");
    let values = |metric: &str| measures.metrics[metric].trials.concat();
    assert_eq!(values("init"), [0.04, 0.06]);
    assert_eq!(values("launch"), [0.12, 0.2]);
    assert_eq!(values("load"), [0.02, 0.01]);
    assert_eq!(values("startup"), [0.17, 0.27]);
    assert_eq!(values("finalize"), [0.011, 0.011]);
    assert_eq!(values("exit"), [0.039, 0.039]);
    let rows = &measures.series["startup_by_ranks"];
    assert_eq!((rows.len(), &rows[0].values.trials), (2, &vec![vec![0.08]]));
    assert_eq!(measures.series["launch_by_rank"][1].values.trials, [[0.12, 0.1]]);
    assert_eq!(measures.evidence["slowest_rank"], 0, "150 + 10 ms against 110 + 15 ms");
    assert_eq!(measures.findings, []);
}

#[test]
fn the_rank_that_comes_last_is_named_with_its_node_and_what_it_does() {
    let case = case_on(&["n1", "n2"], &[("ranks", "4")]).expect("a case");
    let normal = (100, 20, 50);
    for (last, doing) in [((900, 20, 1), "starting its process"), ((110, 800, 1), "loading the library")] {
        let measures = reduced(&case, &[job(4, 0, &[normal, normal, normal, last])]).expect("measured");
        assert_eq!(measures.evidence["slowest_rank"], 3);
        assert_eq!(measures.evidence["slowest_node"], "n2");
        let finding = &measures.findings[0];
        assert_eq!((finding.kind.as_str(), finding.node.as_deref()), ("slow-rank", Some("n2")));
        assert!(finding.text.starts_with("rank 3 on n2") && finding.text.ends_with(doing), "{finding:?}");
    }
    // Of two ranks none can be told from the other, and a tenth of a second is usual.
    let two = case_on(&["n1", "n2"], &[("ranks", "2")]).expect("a case");
    assert_eq!(reduced(&two, &[job(2, 0, &[normal, (900, 20, 1)])]).expect("measured").findings, []);
    let near = reduced(&case, &[job(4, 0, &[normal, normal, normal, (180, 20, 50)])]).expect("measured");
    assert_eq!(near.findings, []);
}

#[test]
fn an_init_that_grows_with_the_ranks_is_told() {
    let found = |small: u64, large: u64| {
        let jobs = [job(1, 0, &[(50, 10, small)]), job(2, 0, &[(50, 10, large), (50, 10, large)])];
        reduced(&case(&[("ranks", "2")]), &jobs).expect("measured").findings
    };
    assert_eq!(found(600, 1170)[0].kind, "init-grows");
    assert!(found(600, 1170)[0].text.contains("1.17 s with 2 ranks and 0.60 s with 1"));
    assert_eq!(found(700, 1170), [], "1.67 times as long");
    assert_eq!(found(60, 117), [], "short");
}

#[test]
fn no_job_is_too_short() {
    assert_eq!(reduced(&case(&[]), &[]).expect_err("nothing").cause, Cause::TooShort);
}
