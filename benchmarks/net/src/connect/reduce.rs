//! Connection times from samples.

use seatrial_model::{Case, Cause, Measures, PartRecord, Reason, Sample, Unit};

use super::client::{CHANNELS, NUMBER};
use seatrial_bench::{Latencies, Transferred, by_part};

const MICRO: f64 = 1e3;

pub fn reduce(case: &Case, parts: &[PartRecord]) -> Result<Measures, Reason> {
    let clients: Vec<&PartRecord> = parts.iter().filter(|part| part.part == "client").collect();
    let of_slices =
        |channel, value: fn(&Sample) -> Option<f64>| by_part(clients.iter().copied(), channel, value);
    let [connections, median] = CHANNELS;
    let medians = of_slices(median, |sample| Some(sample.amount.value() / MICRO));
    if medians.iter().all(Vec::is_empty) {
        return Err(Reason::new(Cause::TooShort, "no connection was made within the time; raise -p time="));
    }
    let mut measures = Measures::default();
    measures.metric_of_all("connect", Unit::Microsecond, medians);
    measures.metric_of_all("rate", Unit::PerSecond, of_slices(connections, Sample::per_second));
    let counted: Vec<Latencies> = clients
        .iter()
        .filter_map(|part| Latencies::from_evidence(part.evidence.get("connections")?))
        .collect();
    Latencies::add_metrics(&counted, &[("p99", 0.99), ("p999", 0.999)], MICRO, &mut measures);
    measures.keep_evidence(parts, &["connection", "strangers"]);
    transferred(case, &counted).tell(case, &mut measures);
    Ok(measures)
}

/// Least bytes of the packets of all connections, with headers: the payload is 0 or 8 B.
///
/// From the client a SYN, which Linux always sends with an MSS option (20 B of IPv4, 20 of TCP, 4 of option), and the
/// reset that ends the connection; from the server the SYN-ACK. The client's ACK may go with the exchanged number, 8
/// B behind 40 B of headers each way.
fn transferred(case: &Case, counted: &[Latencies]) -> Transferred {
    let made: u64 = counted.iter().map(Latencies::count).sum();
    let exchange = if case.params.flag("exchange") == Ok(true) { 40 + NUMBER as u64 } else { 0 };
    Transferred { forward: made * (44 + 40 + exchange), reverse: made * (44 + exchange), buffered: 0 }
}
