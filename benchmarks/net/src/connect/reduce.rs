//! From samples to the time that a connection takes.

use seatrial_model::{Case, Cause, Measures, PartRecord, Reason, Sample, Unit};

use super::client::CHANNELS;
use super::config::NUMBER;
use seatrial_bench::{Latencies, Transferred};

/// Nanoseconds of a microsecond.
const MICRO: f64 = 1e3;

/// Every trial gives its slices' medians and rates, and one value of each quantile.
pub fn reduce(case: &Case, parts: &[PartRecord]) -> Result<Measures, Reason> {
    let clients: Vec<&PartRecord> = parts.iter().filter(|part| part.part == "client").collect();
    let of_slices = |channel: &str, value: fn(&Sample) -> Option<f64>| -> Vec<Vec<f64>> {
        let of = |part: &&PartRecord| {
            part.samples.iter().filter(|sample| sample.channel == channel).filter_map(value).collect()
        };
        clients.iter().map(of).collect()
    };
    let [connections, median] = CHANNELS;
    let medians = of_slices(median, |sample| Some(sample.amount.value() / MICRO));
    if medians.iter().all(Vec::is_empty) {
        return Err(Reason::new(Cause::TooShort, "no connection was made within the time; raise -p time="));
    }
    let mut measures = Measures::default();
    let mut add = |name: &str, unit, trials: Vec<Vec<f64>>| {
        // A quantile that one trial had too few connections for is left out.
        if !trials.is_empty() && trials.iter().all(|trial| !trial.is_empty()) {
            measures.metric(name, unit, trials);
        }
    };
    add("connect", Unit::Microsecond, medians);
    add("rate", Unit::PerSecond, of_slices(connections, Sample::per_second));
    let counted: Vec<Latencies> = clients
        .iter()
        .filter_map(|part| Latencies::from_evidence(part.evidence.get("connections")?))
        .collect();
    for (name, share) in [("p99", 0.99), ("p999", 0.999)] {
        let of =
            |trial: &Latencies| trial.quantile(share).map(|it| it.get() as f64 / MICRO).into_iter().collect();
        add(name, Unit::Microsecond, counted.iter().map(of).collect());
    }
    let longest = |trial: &Latencies| vec![trial.longest().get() as f64 / MICRO];
    add("slowest", Unit::Microsecond, counted.iter().map(longest).collect());
    for name in ["connection", "strangers"] {
        if let Some(value) = parts.iter().find_map(|part| part.evidence.get(name)) {
            measures.evidence.insert(name.to_owned(), value.clone());
        }
    }
    transferred(case, &counted).tell(case, &mut measures);
    Ok(measures)
}

/// What the packets of all connections come to at least, headers and all: the payload is nothing, or next to it.
///
/// Of the client a SYN, which Linux never sends without its segment size (20 B of IPv4, 20 of TCP, 4 of option), and the
/// reset that ends the connection; of the server the answer to the SYN. The acknowledgement in between may go with the
/// number that is exchanged, 8 B behind 40 of headers each way.
fn transferred(case: &Case, counted: &[Latencies]) -> Transferred {
    let made: u64 = counted.iter().map(Latencies::count).sum();
    let exchange = if case.params.flag("exchange") == Ok(true) { 40 + NUMBER as u64 } else { 0 };
    Transferred { forward: made * (44 + 40 + exchange), reverse: made * (44 + exchange), buffered: 0 }
}
