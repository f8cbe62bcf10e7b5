//! Round trip times from samples.

use seatrial_model::{Case, Cause, Measures, PartRecord, Reason, Sample, Unit};

use super::client::CHANNELS;
use seatrial_bench::{Latencies, Transferred, by_part};

const MICRO: f64 = 1e3;

pub fn reduce(case: &Case, parts: &[PartRecord]) -> Result<Measures, Reason> {
    let clients: Vec<&PartRecord> = parts.iter().filter(|part| part.part == "client").collect();
    let mut measures = Measures::default();
    let of_slices =
        |channel, value: fn(&Sample) -> Option<f64>| by_part(clients.iter().copied(), channel, value);
    let [round_trips, median] = CHANNELS;
    let medians = of_slices(median, |sample| Some(sample.amount.value() / MICRO));
    if medians.iter().all(Vec::is_empty) {
        return Err(Reason::new(
            Cause::TooShort,
            "no round trip was complete within the time; raise -p time=",
        ));
    }
    measures.metric_of_all("round_trip", Unit::Microsecond, medians);
    measures.metric_of_all("rate", Unit::PerSecond, of_slices(round_trips, Sample::per_second));
    let counted: Vec<Latencies> = clients
        .iter()
        .filter_map(|part| Latencies::from_evidence(part.evidence.get("round_trips")?))
        .collect();
    let quantiles = [("p99", 0.99), ("p999", 0.999), ("p9999", 0.9999)];
    Latencies::add_metrics(&counted, &quantiles, MICRO, &mut measures);
    let count = |part: &PartRecord, name: &str| part.evidence.get(name).and_then(serde_json::Value::as_f64);
    let loss = |part: &&PartRecord| match (count(part, "lost"), count(part, "asked")) {
        (Some(lost), Some(asked)) if asked > 0.0 => vec![100.0 * lost / asked],
        _ => Vec::new(),
    };
    measures.metric_of_all("loss", Unit::Percent, clients.iter().map(loss).collect());
    measures.keep_evidence(clients, &["load_gbit_s", "behind_ns", "connection"]);
    transferred(case, &counted).tell(case, &mut measures);
    Ok(measures)
}

/// Each request and response of a closed loop, and each datagram, has its own packet at least, with headers of 28 B
/// (UDP over IPv4) or more. With rate= several may share a TCP segment.
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
