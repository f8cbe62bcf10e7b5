//! Round trip times from samples.

use seatrial_model::{Case, Cause, Measures, PartRecord, Reason, Sample, Unit};

use super::client::CHANNELS;
use seatrial_bench::{Latencies, RoundTrips, Transferred, add_loss, by_part};

pub fn reduce(case: &Case, parts: &[PartRecord]) -> Result<Measures, Reason> {
    let clients: Vec<&PartRecord> = parts.iter().filter(|part| part.part == "client").collect();
    let mut measures = Measures::default();
    let [slices, median] = CHANNELS;
    let quantiles = [("p99", 0.99), ("p999", 0.999), ("p9999", 0.9999)];
    let own = RoundTrips { median, histogram: "round_trips" };
    let Some(counted) = own.add_metrics(&clients, "round_trip", &quantiles, &mut measures) else {
        let text = "no round trip was complete within the time; raise -p time=";
        return Err(Reason::new(Cause::TooShort, text));
    };
    let rates = by_part(clients.iter().copied(), slices, Sample::per_second);
    measures.metric_of_all("rate", Unit::PerSecond, rates);
    add_loss(clients.iter().copied(), &mut measures);
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
