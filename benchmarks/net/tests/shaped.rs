//! `net.tcp_stream` over a link of a known rate: between two network namespaces, shaped by a token bucket.
//!
//! Needs root, `ip` and `tc` (package `iproute2`); without them the test fails in CI, and is reported as skipped
//! elsewhere.

use std::time::Duration;

use seatrial_model::{Case, Cause, Integrity, Measures, PartRecord, Phase, Quantity, Reason};

#[path = "machine/between.rs"]
mod between;
#[path = "udp/space.rs"]
#[expect(dead_code, reason = "shared with the tests of datagrams, which use all of it")]
mod space;

use between::{Ends, bench, case};
use seatrial_testkit::starved::Watch;
use space::{Net, Pair};

const BENCH: &str = "net.tcp_stream";

/// Tries of one measurement. A busy machine changes the rate of a single try; an error of the method would show in
/// all.
const TRIES: usize = 8;

/// Largest relative difference to the shaper's rate and to what the shaper counted, in an undisturbed try.
const OF_NOMINAL: f64 = 0.003;
const OF_COUNTED: f64 = 0.002;

/// Two nodes with a link whose first end sends at most `mbit` Mbit/s, counted with Ethernet headers. `None` without
/// namespaces.
fn link(mbit: u32) -> Option<Pair> {
    let pair = Pair::new(&Net { four: true, six: false, mtu: 1500 })?;
    shape(&pair, "add", mbit);
    Some(pair)
}

fn shape(pair: &Pair, how: &str, mbit: u32) {
    // A burst of 5 ms, so that a pause of a busy machine does not lower the rate, and no less than the largest chain
    // of segments that the kernel sends in one piece.
    let burst = (mbit * 125_000 / 200).max(64 << 10);
    pair.first.run(&format!("tc qdisc {how} dev v1 root tbf rate {mbit}mbit burst {burst} latency 20ms"));
}

/// The measures, the sender's evidence, bytes per second that the shaper passed meanwhile, and the share of the time
/// without a CPU.
fn measured(pair: &Pair, case: &Case, span: Duration) -> Result<(Measures, f64, f64), Reason> {
    let mut ends = Ends::connected(case, pair)?;
    let watch = Watch::begin();
    ends.run(Phase::WarmUp, Duration::from_millis(500))?;
    let kept = ends.run(Phase::Measure, span)?;
    let starved = watch.end();
    let queue = &kept[0].evidence["queues"][0];
    assert_eq!(queue["kinds"], serde_json::json!(["tbf"]), "{queue}");
    let counted = |name: &str| queue[name].as_u64().expect("a count") as f64;
    let counted = counted("bytes") / counted("window_ns") * 1e9;
    let records = ends.records(kept)?;
    for record in &records {
        assert!(matches!(record.integrity, Integrity::Verified { .. }), "{:?}", record.integrity);
    }
    let measures = bench(BENCH).reduce(case, &records)?;
    Ok((measures, counted, starved))
}

/// Trials of a link whose rate rises to `to` Mbit/s in the middle of each.
fn rising(pair: &Pair, case: &Case, from: u32, to: u32) -> Result<Measures, Reason> {
    let mut records = Vec::new();
    for trial in 0..3 {
        shape(pair, "change", from);
        let mut ends = Ends::connected(case, pair)?;
        ends.run(Phase::WarmUp, Duration::from_millis(500))?;
        let kept = std::thread::scope(|scope| {
            scope.spawn(|| {
                std::thread::sleep(Duration::from_millis(750));
                shape(pair, "change", to);
            });
            ends.run(Phase::Measure, Duration::from_millis(1500))
        })?;
        records.extend(ends.records(kept)?.into_iter().map(|record| PartRecord { trial, ..record }));
    }
    bench(BENCH).reduce(case, &records)
}

fn rate(measures: &Measures) -> f64 {
    let intervals = measures.metrics["throughput"].trials.concat();
    intervals.iter().sum::<f64>() / intervals.len() as f64 * 1.25e8
}

/// Payload of a full frame, as the shaper counts it: MTU 1500 with IPv4, TCP and timestamps, behind 14 B of header.
const PAYLOAD: f64 = 1448.0 / 1514.0;

#[derive(Debug)]
struct Seen {
    of_nominal: f64,
    of_counted: f64,
    starved: f64,
    /// Whether the path, and nothing else, was found as the limiting factor.
    named: bool,
    #[expect(dead_code, reason = "shown when the test fails")]
    limited: String,
}

impl Seen {
    fn of((measures, counted, starved): &(Measures, f64, f64), mbit: u32) -> Self {
        let nominal = f64::from(mbit) * 125_000.0 * PAYLOAD;
        let limited = &measures.evidence["limited_by"];
        Self {
            of_nominal: rate(measures) / nominal - 1.0,
            of_counted: rate(measures) / (counted * PAYLOAD) - 1.0,
            starved: *starved,
            named: limited.get("path").is_some() && measures.findings.is_empty(),
            limited: limited.to_string(),
        }
    }

    fn is_right(&self, mbit: u32) -> bool {
        // At 2 Gbit/s two busy CPUs may be no faster than the link.
        let named = mbit > 400 || self.named;
        named && self.of_nominal.abs() < OF_NOMINAL && self.of_counted.abs() < OF_COUNTED
    }

    /// Whether the difference is no larger than the time without a CPU explains, or the rate is lower and the path
    /// was not found as the limit.
    fn is_explained(&self) -> bool {
        let by = |off: f64, allowed: f64| seatrial_testkit::starved::explains(self.starved, off - allowed);
        let is_low_for_a_reason = self.of_nominal < 0.0 && !self.named;
        by(self.of_counted.abs(), OF_COUNTED)
            && (is_low_for_a_reason || by(self.of_nominal.abs(), OF_NOMINAL))
    }
}

#[test]
fn a_shaped_links_rate_is_found_and_the_link_is_named_as_the_limit() {
    for mbit in [50, 150, 400, 1000, 2000] {
        let Some(pair) = link(mbit) else { return };
        let case = case(BENCH, 1, &[("congestion", "cubic"), ("send", "write"), ("receive", "read")]);
        let (mut seen, mut failed): (Vec<Seen>, Vec<Reason>) = (Vec::new(), Vec::new());
        while !seen.last().is_some_and(|last| last.is_right(mbit)) && seen.len() + failed.len() < TRIES {
            match measured(&pair, &case, Duration::from_millis(1500)) {
                Ok(measured) => seen.push(Seen::of(&measured, mbit)),
                // An end without a CPU for seconds is taken for gone.
                Err(error) => failed.push(error),
            }
        }
        #[expect(clippy::print_stdout, reason = "shown when the test fails or is asked to")]
        {
            println!("{mbit} Mbit/s: {seen:?} {failed:?}");
        }
        // A machine on which every try was disturbed shows it, and the difference must be explained by that.
        let is_right = seen.last().is_some_and(|last| last.is_right(mbit));
        let is_explained = !seen.is_empty() && seen.iter().all(Seen::is_explained);
        assert!(is_right || is_explained, "{mbit} Mbit/s: {seen:#?} {failed:#?}");
    }
}

#[test]
fn a_link_that_becomes_faster_while_a_trial_runs_is_told_to_rise_still() {
    let Some(pair) = link(50) else { return };
    let case = case(
        BENCH,
        1,
        &[("congestion", "cubic"), ("send", "write"), ("receive", "read"), ("time", "1500 ms")],
    );
    let mut failed = Vec::new();
    for _ in 0..TRIES {
        let measures = match rising(&pair, &case, 50, 150) {
            Ok(measures) => measures,
            Err(error) => {
                failed.push(error);
                continue;
            }
        };
        let rows: Vec<f64> =
            measures.series["by_time"].iter().map(|row| seatrial_bench::median(&row.values.trials)).collect();
        assert!(rows.len() >= 10, "{rows:?}");
        let told = measures.findings.iter().find(|finding| finding.kind == "still-rising");
        let ratio = told.and_then(|finding| finding.value).map(Quantity::value);
        // Truth is what the shaper let through: three times as much.
        if ratio.is_some_and(|ratio| (ratio - 3.0).abs() < 0.3) {
            return;
        }
        failed.push(Reason::new(Cause::Underloaded, format!("{ratio:?} {rows:?}")));
    }
    panic!("{failed:#?}");
}
