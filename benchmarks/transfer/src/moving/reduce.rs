//! Reduces copies to rates, and says what holds them back.

use seatrial_bench::directory::leftovers;
use seatrial_bench::{BY_TIME, by_coords, by_time};
use seatrial_model::{Bytes, Case, Cause, Fact, Measures, Nanos, PartRecord, Reason, Sample, Unit};

use super::curve::INTERVAL;
use super::held_back::Times;
use super::runner::LOGIN;
use super::sender::{
    BUSIEST, BUSIEST_THREAD, CONGESTION, COPIED, FILES, FIRST_DONE, LAST_DONE, OF_CLASS, RECEIVER_BUSY,
    SENDER_BUSY, VERIFYING, WIRE, WIRE_CURVE,
};

/// Bytes of a megabyte.
const MEGA: f64 = 1e6;

pub fn reduce(case: &Case, parts: &[PartRecord]) -> Result<Measures, Reason> {
    let bytes = case.planned.bytes("set_bytes")?.map_or(0, Bytes::get) as f64;
    let of_bytes = |sample: &Sample| (bytes > 0.0).then(|| sample.amount.base() / bytes);
    let share = |sample: &Sample| {
        let span = sample.span().get();
        (span > 0).then(|| 100.0 * sample.amount.base() / span as f64)
    };
    let megabytes = |sample: &Sample| Some(sample.per_second()? / MEGA);
    let mut measures = Measures::default();
    let mut add = |name: &str, unit, channel: &str, value: &dyn Fn(&Sample) -> Option<f64>| {
        for all in by_coords(parts, channel, value) {
            measures.metric(name, unit, all.trials);
        }
    };
    add("goodput", Unit::MegabytesPerSecond, COPIED, &megabytes);
    add("files", Unit::PerSecond, FILES, &Sample::per_second);
    add("sender_cpu", Unit::Nanosecond, SENDER_BUSY, &of_bytes);
    add("receiver_cpu", Unit::Nanosecond, RECEIVER_BUSY, &of_bytes);
    add("busiest", Unit::Percent, BUSIEST, &share);
    add("wire", Unit::Ratio, WIRE, &of_bytes);
    let seconds = |sample: &Sample| Some(sample.amount.base() / 1e9);
    add("first_done", Unit::Second, FIRST_DONE, &seconds);
    add("last_done", Unit::Second, LAST_DONE, &seconds);
    add("verify", Unit::Second, VERIFYING, &seconds);
    if !measures.metrics.contains_key("goodput") {
        let text = "no copy came to its end within the time; raise -p time=, or lower -p files= or size=";
        return Err(Reason::new(Cause::TooShort, text));
    }
    let classes = by_coords(parts, OF_CLASS, megabytes);
    if classes.len() > 1 {
        let rows = classes.iter().map(|class| class.row(Unit::MegabytesPerSecond)).collect();
        measures.series.insert("by_size".to_owned(), rows);
    }
    let gigabits = |sample: &Sample| Some(sample.per_second()? * 8.0 / 1e9);
    let curves: Vec<Vec<f64>> =
        by_coords(parts, WIRE_CURVE, gigabits).pop().map_or_else(Vec::new, |curve| curve.trials);
    let longest = curves.iter().map(Vec::len).max().unwrap_or(0) as u64;
    let by_time = by_time(&curves, Nanos(longest * INTERVAL.get()));
    if !by_time.is_empty() {
        measures.series.insert(BY_TIME.name.to_owned(), by_time);
    }
    let kept =
        ["version", "cipher", "window", "command", "words", "copies", LOGIN, BUSIEST_THREAD, CONGESTION];
    measures.keep_evidence(parts, &kept);
    let times = Times::of(case, parts, &measures.evidence);
    let thread = measures.evidence.get(BUSIEST_THREAD).and_then(|name| name.as_str()).unwrap_or_default();
    times.held_back(thread).put(&mut measures.evidence);
    measures.findings.extend(times.one_core_bound(case, &measures.evidence));
    measures.findings.extend(times.window_bound(case));
    measures.findings.extend(times.loss_bound(case, &measures.evidence));
    measures.findings.extend(leftovers(parts));
    Ok(measures)
}
