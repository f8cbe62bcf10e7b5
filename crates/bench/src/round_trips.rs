//! Metrics of clients that count round trips: medians of slices, quantiles of a histogram, and what was lost.

use seatrial_model::{Measures, PartRecord, Sample, Unit};

use crate::{Latencies, by_part};

const NS_PER_US: f64 = 1e3;

/// What a client leaves of its round trips.
#[derive(Clone, Copy, Debug)]
pub struct RoundTrips<'a> {
    /// Channel of the medians of slices.
    pub median: &'a str,
    /// Evidence with the histogram.
    pub histogram: &'a str,
}

impl RoundTrips<'_> {
    /// Adds the medians as the metric `name`, and the quantiles and the slowest. Returns the histograms; `None` when no
    /// client has a slice.
    pub fn add_metrics(
        &self,
        clients: &[&PartRecord],
        name: &str,
        quantiles: &[(&str, f64)],
        measures: &mut Measures,
    ) -> Option<Vec<Latencies>> {
        let median = |sample: &Sample| Some(sample.amount.value() / NS_PER_US);
        let medians = by_part(clients.iter().copied(), self.median, median);
        if medians.iter().all(Vec::is_empty) {
            return None;
        }
        measures.metric_of_all(name, Unit::Microsecond, medians);
        let read = |part: &&PartRecord| Latencies::from_evidence(part.evidence.get(self.histogram)?);
        let counted: Vec<Latencies> = clients.iter().filter_map(read).collect();
        Latencies::add_metrics(&counted, quantiles, NS_PER_US, measures);
        Some(counted)
    }
}

/// Adds the metric `loss`: `lost` of `asked`, as the evidence of the clients has them, in percent.
pub fn add_loss<'a>(clients: impl IntoIterator<Item = &'a PartRecord>, measures: &mut Measures) {
    let count = |part: &PartRecord, name: &str| part.evidence.get(name).and_then(serde_json::Value::as_f64);
    let loss = |part: &PartRecord| match (count(part, "lost"), count(part, "asked")) {
        (Some(lost), Some(asked)) if asked > 0.0 => vec![100.0 * lost / asked],
        _ => Vec::new(),
    };
    measures.metric_of_all("loss", Unit::Percent, clients.into_iter().map(loss).collect());
}
