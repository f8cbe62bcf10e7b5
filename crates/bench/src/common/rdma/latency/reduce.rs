//! From slices and histograms to latencies.

use std::collections::BTreeMap;

use seatrial_model::{Bytes, Case, Cause, Measures, PartRecord, Reason, Row, Sample, Unit, Values};
use serde_json::{Value, json};

use super::ask::CHANNELS;
use crate::common::rdma::{Method, Notice};
use crate::common::{Latencies, by_place};

/// Nanoseconds of a microsecond.
const MICRO: f64 = 1e3;

/// Every trial gives its slices' medians and rates at the smallest size, and one value of each quantile there.
pub fn reduce(method: Method, case: &Case, parts: &[PartRecord]) -> Result<Measures, Reason> {
    let clients: Vec<PartRecord> = parts.iter().filter(|part| part.index == 0).cloned().collect();
    let ways = if method.notice == Notice::Nothing { 1.0 } else { 2.0 };
    let unit = MICRO * ways;
    let median = |sample: &Sample| Some(sample.amount.value() / unit);
    let mut sizes = by_place(&clients, CHANNELS[1], median);
    let bytes = |at: &crate::common::AtPlace| at.at.bytes("size").ok().flatten().map_or(0, Bytes::get);
    sizes.sort_by_key(bytes);
    let Some(smallest) = sizes.first() else { return Err(why_not(&clients)) };
    let mut measures = Measures::default();
    let mut add = |name: &str, unit, trials: Vec<Vec<f64>>| {
        // A quantile that one trial had too few messages for is left out: half of the trials would be no comparison.
        if !trials.is_empty() && trials.iter().all(|trial| !trial.is_empty()) {
            measures.metrics.insert(name.to_owned(), Values { unit, trials });
        }
    };
    add("latency", Unit::Microsecond, smallest.trials.clone());
    let at = smallest.at.clone();
    let rates = by_place(&clients, CHANNELS[0], Sample::per_second);
    if let Some(rates) = rates.into_iter().find(|rates| rates.at == at) {
        add("rate", Unit::PerSecond, rates.trials);
    }
    let counted: Vec<Latencies> =
        clients.iter().filter_map(|part| histogram(part, bytes(smallest))).collect();
    let of_trials = |value: &dyn Fn(&Latencies) -> Option<f64>| -> Vec<Vec<f64>> {
        counted.iter().map(|trial| value(trial).into_iter().collect()).collect()
    };
    let quantile = |part: f64| move |trial: &Latencies| trial.quantile(part).map(|it| it.get() as f64 / unit);
    add("p99", Unit::Microsecond, of_trials(&quantile(0.99)));
    add("p999", Unit::Microsecond, of_trials(&quantile(0.999)));
    add("slowest", Unit::Microsecond, of_trials(&|trial| Some(trial.longest().get() as f64 / unit)));
    if case.params.text("transport").is_ok_and(|word| word != "rc") {
        let count = |part: &PartRecord, name: &str| part.evidence.get(name).and_then(Value::as_f64);
        let loss = |part: &PartRecord| match (count(part, "lost"), count(part, "asked")) {
            (Some(lost), Some(asked)) if asked > 0.0 => vec![100.0 * lost / asked],
            _ => Vec::new(),
        };
        add("loss", Unit::Percent, clients.iter().map(loss).collect());
    }
    let rows = sizes
        .into_iter()
        .map(|at| Row { at: at.at, values: Values { unit: Unit::Microsecond, trials: at.trials } });
    measures.series.insert("by_size".to_owned(), rows.collect());
    let devices: BTreeMap<&str, &Value> =
        parts.iter().filter_map(|part| Some((part.part.as_str(), part.evidence.get("device")?))).collect();
    measures.evidence.insert("devices".to_owned(), json!(devices));
    Ok(measures)
}

/// The histogram of a size.
fn histogram(part: &PartRecord, bytes: u64) -> Option<Latencies> {
    let all = part.evidence.get("by_size")?.as_array()?;
    let own = all.iter().find(|own| own.get("size").and_then(Value::as_u64) == Some(bytes))?;
    Latencies::from_evidence(own.get("round_trips")?)
}

fn why_not(clients: &[PartRecord]) -> Reason {
    let count =
        |name: &str| -> u64 { clients.iter().filter_map(|part| part.evidence.get(name)?.as_u64()).sum() };
    let (asked, lost) = (count("asked"), count("lost"));
    if asked > 0 && asked == lost {
        let text = format!(
            "{asked} messages were sent and none was answered: the path drops them, or the address is of nobody"
        );
        return Reason::new(Cause::IoError, text);
    }
    Reason::new(Cause::TooShort, "no message was answered within the time; raise -p time=")
}

#[cfg(test)]
mod tests {
    use super::*;
    use seatrial_model::{Integrity, Nanos, Params, Subject};
    use seatrial_sys::verbs::VerbKind;

    const SEND: Method = Method { verb: VerbKind::Send, notice: Notice::Completion };

    fn case(transport: &str) -> Case {
        let about = crate::registry().find("rdma.send_lat").expect("there").about();
        let mut params: Params =
            about.params.iter().map(|spec| (spec.name.to_owned(), spec.default_value())).collect();
        params.set("transport", transport);
        let budget = crate::common::budget(&params).expect("a budget");
        Case::new(about, "n1", Subject::device("hca", "rxe0/1"), &params, budget)
    }

    /// A client whose slices had these medians in microseconds, by size.
    fn client(medians: &[(u64, u64)], evidence: Value) -> PartRecord {
        let sample = |(size, micros): &(u64, u64)| {
            let mut at = Params::default();
            at.set("size", Bytes(*size));
            let (channel, amount) = (CHANNELS[1].to_owned(), format!("{micros} us").parse().expect("a time"));
            let amount: seatrial_model::Quantity = amount;
            let amount = amount.to(Unit::Nanosecond).expect("a time");
            Sample { channel, at, start: Nanos(0), end: Nanos::millis(10), amount }
        };
        PartRecord {
            part: "client".to_owned(),
            index: 0,
            node: "n1".to_owned(),
            trial: 0,
            samples: medians.iter().map(sample).collect(),
            integrity: Integrity::Verified { checked: 1 },
            evidence: serde_json::from_value(evidence).expect("an object"),
        }
    }

    #[test]
    fn an_answered_message_takes_half_of_its_round_trip_and_a_served_one_the_whole() {
        let parts = [client(&[(2, 10), (2, 12), (4096, 30)], json!({}))];
        let halves = reduce(SEND, &case("rc"), &parts).expect("reduced");
        assert_eq!(halves.metrics["latency"].trials, [[5.0, 6.0]]);
        assert_eq!(halves.series["by_size"][1].values.trials, [[15.0]]);
        let read = Method { verb: VerbKind::Read, notice: Notice::Nothing };
        assert_eq!(
            reduce(read, &case("rc"), &parts).expect("reduced").metrics["latency"].trials,
            [[10.0, 12.0]]
        );
    }

    #[test]
    fn quantiles_are_those_of_the_smallest_size_and_the_longest_is_exact() {
        let mut latencies = Latencies::default();
        (1..=2000).for_each(|micros| latencies.record(Nanos(micros * 1000)));
        let told = json!([{ "size": 2, "round_trips": latencies.to_evidence() }]);
        let parts = [client(&[(2, 10)], json!({ "by_size": told }))];
        let measures = reduce(SEND, &case("rc"), &parts).expect("reduced");
        assert_eq!(measures.metrics["slowest"].trials, [[1000.0]]);
        let p99 = measures.metrics["p99"].trials[0][0];
        assert!((p99 - 990.0).abs() < 1.0, "{p99}");
        assert!(!measures.metrics.contains_key("p999") && !measures.metrics.contains_key("loss"));
    }

    #[test]
    fn a_path_that_drops_everything_is_a_fault_and_losses_are_told() {
        let reason = reduce(SEND, &case("ud"), &[client(&[], json!({ "asked": 9, "lost": 9 }))])
            .expect_err("no answer");
        assert_eq!(reason.cause, Cause::IoError);
        let some = reduce(SEND, &case("ud"), &[client(&[(2, 10)], json!({ "asked": 200, "lost": 1 }))])
            .expect("reduced");
        assert_eq!(some.metrics["loss"].trials, [[0.5]]);
        assert_eq!(
            reduce(SEND, &case("rc"), &[client(&[], json!({}))]).expect_err("short").cause,
            Cause::TooShort
        );
    }
}
