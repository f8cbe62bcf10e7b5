//! From samples to round trip times.

use seatrial_model::{Case, Cause, Measures, PartRecord, Reason, Unit};

use seatrial_bench::{Latencies, Transferred};

/// Nanoseconds of a microsecond.
const MICRO: f64 = 1e3;

/// Every trial gives its slices' medians and rates, and one value of each quantile.
pub fn reduce(case: &Case, parts: &[PartRecord]) -> Result<Measures, Reason> {
    let clients: Vec<&PartRecord> = parts.iter().filter(|part| part.part == "client").collect();
    let mut measures = Measures::default();
    let mut add = |name: &str, unit, trials: Vec<Vec<f64>>| {
        // A quantile that one trial had too few round trips for is left out: half of the trials would be no comparison.
        if !trials.is_empty() && trials.iter().all(|trial| !trial.is_empty()) {
            measures.metric(name, unit, trials);
        }
    };
    let of_slices = |channel: &str, value: fn(&seatrial_model::Sample) -> Option<f64>| -> Vec<Vec<f64>> {
        let of = |part: &&PartRecord| {
            part.samples.iter().filter(|sample| sample.channel == channel).filter_map(value).collect()
        };
        clients.iter().map(of).collect()
    };
    let medians = of_slices("median", |sample| Some(sample.amount.value() / MICRO));
    if medians.iter().all(Vec::is_empty) {
        return Err(Reason::new(
            Cause::TooShort,
            "no round trip was finished within the time; raise -p time=",
        ));
    }
    add("round_trip", Unit::Microsecond, medians);
    add("rate", Unit::PerSecond, of_slices("round_trips", seatrial_model::Sample::per_second));
    let counted: Vec<Latencies> = clients
        .iter()
        .filter_map(|part| Latencies::from_evidence(part.evidence.get("round_trips")?))
        .collect();
    let of_trials = |value: &dyn Fn(&Latencies) -> Option<f64>| -> Vec<Vec<f64>> {
        counted.iter().map(|trial| value(trial).into_iter().collect()).collect()
    };
    let quantile =
        |part: f64| move |trial: &Latencies| trial.quantile(part).map(|it| it.get() as f64 / MICRO);
    add("p99", Unit::Microsecond, of_trials(&quantile(0.99)));
    add("p999", Unit::Microsecond, of_trials(&quantile(0.999)));
    add("p9999", Unit::Microsecond, of_trials(&quantile(0.9999)));
    add("slowest", Unit::Microsecond, of_trials(&|trial| Some(trial.longest().get() as f64 / MICRO)));
    let count = |part: &PartRecord, name: &str| part.evidence.get(name).and_then(serde_json::Value::as_f64);
    let loss = |part: &&PartRecord| match (count(part, "lost"), count(part, "asked")) {
        (Some(lost), Some(asked)) if asked > 0.0 => vec![100.0 * lost / asked],
        _ => Vec::new(),
    };
    let losses: Vec<Vec<f64>> = clients.iter().map(loss).collect();
    add("loss", Unit::Percent, losses);
    for name in ["load_gbit_s", "behind_ns"] {
        if let Some(value) = clients.iter().find_map(|part| part.evidence.get(name)) {
            measures.evidence.insert(name.to_owned(), value.clone());
        }
    }
    transferred(case, &counted).tell(case, &mut measures);
    if let Some(connection) = clients.iter().find_map(|part| part.evidence.get("connection")) {
        measures.evidence.insert("connection".to_owned(), connection.clone());
    }
    Ok(measures)
}

/// Each question and each answer of a closed loop, and each datagram, is a packet of its own at least, with headers of 28 B
/// (UDP over IPv4) or more. At a set rate several may share a segment of TCP.
fn transferred(case: &Case, counted: &[Latencies]) -> Transferred {
    let round_trips: u64 = counted.iter().map(Latencies::count).sum();
    let text = |name: &str| case.params.text(name);
    let headers = if text("rate") == Ok("max") || text("protocol") == Ok("udp") { 28 } else { 0 };
    let bytes = |name: &str| {
        let size = case.params.bytes(name).ok().flatten().map_or(0, seatrial_model::Bytes::get);
        round_trips.saturating_mul(size.saturating_add(headers))
    };
    Transferred { forward: bytes("request"), reverse: bytes("response"), buffered: 0 }
}
