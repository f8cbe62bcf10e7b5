//! From counts and histograms to a rate and latencies.

use seatrial_model::{Cause, Measures, PartRecord, Reason, Sample, Unit, Values};

use super::part::{MANY, ONE};
use crate::common::Latencies;

/// Every trial gives the rates and medians of its slices, and one value of each quantile.
pub fn reduce(parts: &[PartRecord]) -> Result<Measures, Reason> {
    let clients: Vec<&PartRecord> = parts.iter().filter(|part| part.index == 0).collect();
    let mut measures = Measures::default();
    let of_slices = |channel: &str, value: &dyn Fn(&Sample) -> Option<f64>| -> Vec<Vec<f64>> {
        let own = |part: &&PartRecord| {
            part.samples.iter().filter(|sample| sample.channel == channel).filter_map(value).collect()
        };
        clients.iter().map(own).collect()
    };
    let mut add = |name: &str, unit, trials: Vec<Vec<f64>>| {
        if !trials.is_empty() && trials.iter().all(|trial| !trial.is_empty()) {
            measures.metrics.insert(name.to_owned(), Values { unit, trials });
        }
    };
    add("rate", Unit::MegaPerSecond, of_slices(MANY, &|sample| Some(sample.per_second()? / 1e6)));
    add("latency", Unit::Microsecond, of_slices(ONE[1], &|sample| Some(sample.amount.value() / 1e3)));
    let read = |part: &&PartRecord| Latencies::from_evidence(part.evidence.get("one_by_one")?);
    let counted: Vec<Latencies> = clients.iter().filter_map(read).collect();
    let of_trials = |value: &dyn Fn(&Latencies) -> Option<f64>| -> Vec<Vec<f64>> {
        counted.iter().map(|trial| value(trial).into_iter().collect()).collect()
    };
    add("p99", Unit::Microsecond, of_trials(&|trial| Some(trial.quantile(0.99)?.get() as f64 / 1e3)));
    add("p999", Unit::Microsecond, of_trials(&|trial| Some(trial.quantile(0.999)?.get() as f64 / 1e3)));
    add("slowest", Unit::Microsecond, of_trials(&|trial| Some(trial.longest().get() as f64 / 1e3)));
    if let Some(device) = clients.iter().find_map(|part| part.evidence.get("device")) {
        measures.evidence.insert("device".to_owned(), device.clone());
    }
    if !measures.metrics.contains_key("rate") && !measures.metrics.contains_key("latency") {
        return Err(Reason::new(Cause::TooShort, "no atomic was done within the time; raise -p time="));
    }
    Ok(measures)
}

#[cfg(test)]
mod tests {
    use super::*;
    use seatrial_model::{Integrity, Nanos, Params, Quantity};

    #[test]
    fn slices_give_the_rate_and_medians_the_latency() {
        let sample = |channel: &str, value: f64, unit| Sample {
            channel: channel.to_owned(),
            at: Params::default(),
            start: Nanos(0),
            end: Nanos::millis(10),
            amount: Quantity::new(value, unit).expect("finite"),
        };
        let part = PartRecord {
            part: "client".to_owned(),
            index: 0,
            node: "n1".to_owned(),
            trial: 0,
            samples: vec![sample(MANY, 20_800.0, Unit::Count), sample(ONE[1], 2_500.0, Unit::Nanosecond)],
            integrity: Integrity::Verified { checked: 8 },
            evidence: seatrial_model::Evidence::new(),
        };
        let measures = reduce(&[part]).expect("reduced");
        // DRAGNET's 2.08 million a second.
        assert_eq!(measures.metrics["rate"].trials, [[2.08]]);
        assert_eq!(measures.metrics["latency"].trials, [[2.5]]);
        assert_eq!(reduce(&[]).expect_err("nothing").cause, Cause::TooShort);
    }
}
