//! Connection times from samples.

use seatrial_model::{Case, Cause, Measures, PartRecord, Reason, Sample, Unit};

use super::client::{CHANNELS, NUMBER};
use seatrial_bench::{Latencies, RoundTrips, Transferred, by_part};

pub fn reduce(case: &Case, parts: &[PartRecord]) -> Result<Measures, Reason> {
    let clients: Vec<&PartRecord> = parts.iter().filter(|part| part.part == "client").collect();
    let mut measures = Measures::default();
    let [slices, median] = CHANNELS;
    let quantiles = [("p99", 0.99), ("p999", 0.999)];
    let own = RoundTrips { median, histogram: "connections" };
    let Some(counted) = own.add_metrics(&clients, "connect", &quantiles, &mut measures) else {
        return Err(Reason::new(Cause::TooShort, "no connection was made within the time; raise -p time="));
    };
    let rates = by_part(clients.iter().copied(), slices, Sample::per_second);
    measures.metric_of_all("rate", Unit::PerSecond, rates);
    measures.keep_evidence(parts, &["connection", "foreign"]);
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
