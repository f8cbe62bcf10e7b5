//! Real workers on a small scenario. Their speed is not asserted: other load may have the cores.

use std::thread;
use std::time::Duration;

use seatrial_model::{Binding, Cause, Integrity, Nanos, PartPlacement, Phase};
use seatrial_sys::affinity;
use seatrial_sys::memory::Pages;
use seatrial_sys::sched::Class;

use crate::pipeline::fixture::toy;
use crate::pipeline::part::PipelineWorker;
use crate::pipeline::reduce;
use crate::pipeline::ring::BlockRings;
use crate::pipeline::settings::{Blocks, Mode, Settings, Threads};
use crate::pipeline::window::LEAD;
use seatrial_bench::testing::Kept;
use seatrial_bench::{Running, Stop};

const ROUNDS: u64 = 5;

/// All CPUs, or only the first; one node, with first touch.
fn place(single: bool) -> PartPlacement {
    let cpus = affinity::allowed().expect("a mask");
    let binding = |cpu| Binding { cpu, node: 0, domain: 0, memory: None };
    let bindings = cpus.iter().take(if single { 1 } else { usize::MAX }).map(binding).collect();
    PartPlacement::new("worker", 0, "n1", bindings)
}

fn settings(mode: Mode, threads: Threads) -> Settings {
    Settings { scenario: toy(3), mode, threads, blocks: Blocks::Rotate, class: Class::Other }
}

fn worker(settings: &Settings, place: &PartPlacement) -> PipelineWorker {
    worker_for(ROUNDS, settings, place)
}

fn worker_for(rounds: u64, settings: &Settings, place: &PartPlacement) -> PipelineWorker {
    let rings = BlockRings::of(&settings.scenario, vec![3, 2, 1, 2]);
    PipelineWorker::of(place, settings.clone(), rings, vec![Pages::Base], rounds).expect("a worker")
}

fn stop_after(rounds: u64) -> Stop {
    Stop::after(Nanos(rounds * Nanos::millis(8).get()).plus(LEAD).into())
}

/// Takes a worker through all phases; `measure` makes the stop signal of the measuring phase as it begins.
fn run(worker: &mut PipelineWorker, measure: impl FnOnce() -> Stop) -> (Kept, Integrity) {
    let mut kept = Kept::default();
    worker.run(Phase::WarmUp, &stop_after(2), &mut kept).expect("warm");
    assert!(kept.samples.is_empty(), "the warm-up keeps nothing");
    worker.run(Phase::Measure, &measure(), &mut kept).expect("measured");
    let integrity = worker.verify().expect("checked");
    (kept, integrity)
}

#[test]
fn every_way_to_share_the_work_does_all_of_it_on_any_number_of_cores() {
    for threads in [Threads::Core, Threads::Step] {
        for single in [true, false] {
            let (settings, place) = (settings(Mode::Paced, threads), place(single));
            // Time for many more rounds than planned, because the machine may be busy.
            let (kept, integrity) = run(&mut worker(&settings, &place), || stop_after(ROUNDS + 20_000));
            let due: f64 = kept
                .samples
                .iter()
                .filter(|sample| sample.channel == "due")
                .map(|sample| sample.amount.value())
                .sum();
            // 4, 2, 1 and 1 blocks per round and station.
            assert_eq!(due, (3 * 8 * ROUNDS) as f64, "{threads:?}");
            assert!(matches!(integrity, Integrity::Verified { checked } if checked > 0), "{integrity:?}");
            for name in ["place", "pages", "isa", "prefetch", "sched", "lateness"] {
                assert!(kept.evidence.contains_key(name), "{name}");
            }
            let records = [kept.record(&place, integrity)];
            let measures = reduce::of(&settings, &[place], &records).expect("figures");
            for values in measures.metrics.values() {
                assert!(values.trials.iter().flatten().all(|value| value.is_finite() && *value >= 0.0));
            }
            assert_eq!((measures.metrics.len(), measures.series["by_step"].len()), (7, 4));
        }
    }
}

#[test]
fn a_search_tries_from_a_fresh_start_each_time_and_says_what_it_found() {
    let (settings, place) = (settings(Mode::Max, Threads::Core), place(false));
    let tried = |rounds: u64| run(&mut worker(&settings, &place), || stop_after(rounds));
    let tried = [100, 1000, 10_000, 10_000].into_iter().map(tried).find(|(kept, _)| !kept.samples.is_empty());
    let (kept, integrity) = tried.expect("a try");
    assert!(matches!(integrity, Integrity::Verified { .. }), "{integrity:?}");
    let mut paces: Vec<String> =
        kept.samples.iter().map(|sample| sample.at.get("pace").expect("a pace").to_string()).collect();
    paces.dedup();
    let tries = paces.len();
    assert!(tries >= 1, "no try");
    paces.sort();
    paces.dedup();
    assert_eq!(paces.len(), tries, "a pace was tried twice");
    assert!(kept.evidence["search"]["guess"].is_number(), "{:?}", kept.evidence["search"]);
    let records = [kept.record(&place, integrity)];
    match reduce::of(&settings, &[place], &records) {
        Ok(measures) => assert!(measures.metrics["headroom"].trials[0][0] > 0.0),
        Err(reason) => assert_eq!(reason.cause, Cause::TooShort),
    }
}

#[test]
fn a_flipped_bit_anywhere_is_found_after_the_run() {
    let (settings, place) = (settings(Mode::Paced, Threads::Core), place(false));
    let mut worker = worker(&settings, &place);
    let (_, integrity) = run(&mut worker, || stop_after(ROUNDS + 20_000));
    assert!(matches!(integrity, Integrity::Verified { .. }), "{integrity:?}");
    // The last stream reads; the one before it transposes, with its destination behind its source of 8 KiB and a gap.
    for (stream, word) in [(11, 100), (10, (8192 + 2048) / 8 + 100), (8, 100)] {
        let shared = std::sync::Arc::clone(&worker.shared);
        let flip = || shared.streams.lock(stream).as_mut().expect("made").flip(word);
        flip();
        let found = worker.verify().expect("checked");
        assert!(matches!(found, Integrity::Corrupt { wrong: 1, .. }), "stream {stream}: {found:?}");
        flip();
        assert!(matches!(worker.verify(), Ok(Integrity::Verified { .. })));
    }
}

#[test]
fn a_phase_that_is_stopped_or_too_short_leaves_no_samples_and_hangs_nobody() {
    let (settings, place) = (settings(Mode::Paced, Threads::Step), place(true));
    let raised = || {
        let stop = Stop::after(Duration::from_secs(3600));
        stop.raise();
        stop
    };
    for measure in [raised, || Stop::after(Duration::from_millis(1))] {
        let (kept, _) = run(&mut worker(&settings, &place), measure);
        assert!(kept.samples.is_empty());
    }
    // Each phase would last long: a window of 800 s, an endless warm-up, an hour here.
    for phase in [Phase::Measure, Phase::WarmUp] {
        let mut halted = worker_for(100_000, &settings, &place);
        let stop = Stop::after(Duration::from_secs(3600));
        let signal = stop.clone();
        let raise = thread::spawn(move || {
            thread::sleep(Duration::from_millis(60));
            signal.raise();
        });
        let mut kept = Kept::default();
        halted.run(phase, &stop, &mut kept).expect("ended");
        raise.join().expect("raised");
        assert!(stop.is_over() && kept.samples.is_empty(), "{phase:?}");
    }
}

#[test]
fn a_search_makes_no_try_shorter_than_it_should_be() {
    let (settings, place) = (settings(Mode::Max, Threads::Core), place(false));
    // A try takes 10 rounds at the scenario's own pace, for which there is no time.
    let (kept, _) = run(&mut worker_for(80, &settings, &place), || stop_after(3));
    assert!(kept.samples.is_empty());
    assert!(kept.evidence["search"]["untried"].is_number(), "{:?}", kept.evidence["search"]);
}
