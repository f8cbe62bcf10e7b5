//! Percentiles compared with the sorted round trips.

use std::time::Duration;

use seatrial_model::{Nanos, PartRecord, Phase};
use seatrial_sys::clock::now_ns;

use super::BENCHMARK;
use super::client::CHANNELS;
use super::config::RrConfig;
use super::request_loop::RequestLoop;
use super::tests::unpinned;
use super::wire::{Wait, Wire};
use seatrial_bench::testing::Kept;
use seatrial_bench::{Offer, PeerAddress, Sliced};
use seatrial_bench::{Sink, Stop};

/// A percentile by its definition: the smallest value that at least `part` of all values do not exceed.
fn percentile(sorted: &[u64], part: f64) -> f64 {
    let rank = (part * sorted.len() as f64).ceil() as usize;
    sorted[rank.clamp(1, sorted.len()) - 1] as f64
}

fn told(raw: &[u64]) -> seatrial_model::Measures {
    let (mut latencies, mut kept) = (Sliced::new(CHANNELS), Kept::default());
    let mut now = Nanos(1_000_000_000);
    latencies.begin(now);
    for latency in raw {
        now = now.plus(Nanos(*latency));
        latencies.add(Nanos(*latency), now, &mut kept);
    }
    latencies.end(now, &mut kept);
    kept.evidence("round_trips", latencies.all().to_evidence());
    let part = PartRecord {
        part: "client".to_owned(),
        evidence: kept.evidence,
        ..seatrial_testkit::part(kept.samples)
    };
    BENCHMARK.reduce(&unpinned(&[]), &[part]).expect("numbers")
}

fn hold_against(raw: &[u64], parts: &[(&str, f64)]) {
    let mut sorted = raw.to_vec();
    sorted.sort_unstable();
    let measures = told(raw);
    for (name, part) in parts {
        let (found, truth) = (measures.metrics[*name].trials[0][0] * 1e3, percentile(&sorted, *part));
        assert!((found / truth - 1.0).abs() < 0.001, "{name} of {}: {found} ns and not {truth}", raw.len());
    }
    let longest = *sorted.last().expect("some") as f64;
    assert_eq!(measures.metrics["slowest"].trials, [[longest / 1e3]]);
}

#[test]
fn percentiles_of_any_distribution_are_those_of_the_sorted_raw_samples() {
    let all = [("p99", 0.99), ("p999", 0.999), ("p9999", 0.9999)];
    let mut state = 7_u64;
    let mut random = || {
        // Knuth's MMIX generator; its high bits are good enough.
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((state >> 33) + 1) as f64 / (1_u64 << 31) as f64
    };
    // A long tail (Pareto), two modes, few distinct values, and a uniform distribution.
    let pareto: Vec<u64> = (0..150_000).map(|_| (8_000.0 / random().powf(0.7)) as u64).collect();
    let modes: Vec<u64> = (0..150_000)
        .map(|_| if random() < 0.995 { 20_000 } else { 4_000_000 } + (random() * 999.0) as u64)
        .collect();
    let few: Vec<u64> = (0..150_000).map(|at| [2_047, 2_049, 65_537, 1_000_003][at % 4]).collect();
    let even: Vec<u64> = (1..=150_000).map(|at| at * 10).collect();
    for raw in [pareto, modes, few, even] {
        hold_against(&raw, &all);
    }
}

#[test]
fn percentiles_of_real_round_trips_are_those_of_the_sorted_raw_samples() {
    let case = unpinned(&[]);
    let config = RrConfig::of(&case, &case.places[0]).expect("config");
    let server = BENCHMARK.part(&case, &case.places[1]).prepare().expect("listening");
    let addresses = Offer::of_other::<Vec<PeerAddress>>(&[server.offer().clone()], 0).expect("told");
    let stop = Stop::after(Duration::from_secs(120));
    let raw = std::thread::scope(|scope| {
        let serving = scope.spawn(|| {
            server.connect(&[]).and_then(|mut server| server.run(Phase::Measure, &stop, &mut Kept::default()))
        });
        let wire = Wire::stream(addresses[0].connect(&config.endpoint, 0).expect("connected"));
        wire.set_wait(Wait::Spin, Duration::from_secs(5)).expect("set");
        let mut requests = RequestLoop::new(wire, config.request, config.response);
        let begun = now_ns();
        let mut raw = Vec::new();
        // Enough for the quantiles, or what a busy machine reaches in ten seconds.
        while raw.len() < 20_000 && now_ns() - begun < 10_000_000_000 {
            raw.push(requests.once().expect("answered").expect("TCP loses none").get());
        }
        stop.raise();
        serving.join().expect("joined").expect("served");
        raw
    });
    assert!(raw.len() > 1_000, "{} round trips in ten seconds", raw.len());
    let parts: &[(&str, f64)] =
        if raw.len() >= 10_000 { &[("p99", 0.99), ("p999", 0.999)] } else { &[("p99", 0.99)] };
    hold_against(&raw, parts);
}
