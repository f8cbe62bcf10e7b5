//! Rate and latencies from counts and histograms.

use seatrial_model::{Case, Cause, Measures, Params, PartRecord, Reason, Row, Sample, Unit, Values};
use serde_json::Value;

use super::part::ONE;
use super::run::WORD;
use crate::bandwidth::counts::{CHANNEL, PORT};
use seatrial_bench::verbs::{paths, ports_of};
use seatrial_bench::{RoundTrips, Transferred, by_part};

pub fn reduce(case: &Case, parts: &[PartRecord]) -> Result<Measures, Reason> {
    let clients: Vec<&PartRecord> = parts.iter().filter(|part| part.index == 0).collect();
    let ports = ports_of(case, 0).unwrap_or_default();
    let mut measures = Measures::default();
    let rates = |port: Option<u64>| {
        let of_port =
            move |sample: &Sample| sample.per_second().filter(|_| sample.at.count(PORT).ok() == port);
        by_part(clients.iter().copied(), CHANNEL, |sample| Some(of_port(sample)? / WORD as f64 / 1e6))
    };
    measures.metric_of_all("rate", Unit::MegaPerSecond, rates(None));
    let own = RoundTrips { median: ONE[1], histogram: "one_by_one" };
    own.add_metrics(&clients, "latency", &[("p99", 0.99), ("p999", 0.999)], &mut measures);
    measures.keep_evidence(clients.iter().copied(), &["device"]);
    if !measures.metrics.contains_key("rate") && !measures.metrics.contains_key("latency") {
        return Err(Reason::new(Cause::TooShort, "no atomic was complete within the time; raise -p time="));
    }
    if ports.len() > 1 {
        let row = |(number, port): (u64, &&str)| {
            let (values, at) =
                (rates(Some(number)), Params::from_iter([("port".to_owned(), (*port).into())]));
            let is_whole = !values.is_empty() && values.iter().all(|trial| !trial.is_empty());
            is_whole.then_some(Row { at, values: Values { unit: Unit::MegaPerSecond, trials: values } })
        };
        let rows = (0..).zip(&ports).filter_map(row).collect();
        measures.series.insert("by_port".to_owned(), rows);
    }
    let moved: Vec<Transferred> =
        (0..ports.len().max(1)).map(|port| transferred(case, &clients, port)).collect();
    paths::tell(&moved, case, &mut measures);
    Ok(measures)
}

/// Bytes over a port: at least one word per request, and one word per answer.
fn transferred(case: &Case, clients: &[&PartRecord], port: usize) -> Transferred {
    let bytes = |part: &&PartRecord| part.evidence.get("moved")?.get(port).and_then(Value::as_u64);
    let bytes = clients.iter().filter_map(bytes).sum();
    let count = |name: &str| case.params.count(name).unwrap_or(1);
    let under_way = WORD * count("queue_pairs") * count("depth");
    Transferred { forward: bytes, reverse: bytes, buffered: 2 * under_way * clients.len() as u64 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use seatrial_model::{Integrity, Nanos, Quantity, Subject};
    use serde_json::json;

    fn case(port: &str, peer_port: &str) -> Case {
        let about = seatrial_bench::find(crate::BENCHMARKS, "rdma.atomic").expect("there").about;
        let params: Params = about.defaults();
        let budget = seatrial_bench::budget(&params).expect("a budget");
        let mut case = Case::new(about, "n1", Subject::device("hca", port), &params, budget);
        case.nodes.push("n2".to_owned());
        case.planned.set("port", port);
        case.planned.set("peer_port", peer_port);
        case
    }

    fn sample(channel: &str, port: Option<u64>, value: f64, unit: Unit) -> Sample {
        let at = port.map(|port| (PORT.to_owned(), port.into())).into_iter().collect();
        let amount = Quantity::new(value, unit).expect("finite");
        Sample { channel: channel.to_owned(), at, start: Nanos(0), end: Nanos::millis(10), amount }
    }

    fn client(samples: Vec<Sample>, evidence: Value) -> PartRecord {
        PartRecord {
            part: "client".to_owned(),
            index: 0,
            node: "n1".to_owned(),
            trial: 0,
            samples,
            integrity: Integrity::Verified { checked: 8 },
            evidence: serde_json::from_value(evidence).expect("an object"),
        }
    }

    #[test]
    fn slices_give_the_rate_and_medians_the_latency() {
        let case = case("a/1", "b/1");
        let samples = vec![
            sample(CHANNEL, None, 166_400.0, Unit::Byte),
            sample(ONE[1], None, 2_500.0, Unit::Nanosecond),
        ];
        let measures = reduce(&case, &[client(samples, json!({}))]).expect("reduced");
        // DRAGNET's 2.08 million per second.
        assert_eq!(measures.metrics["rate"].trials, [[2.08]]);
        assert_eq!(measures.metrics["latency"].trials, [[2.5]]);
        assert!(!measures.series.contains_key("by_port"), "a port by itself is all of it");
        assert_eq!(reduce(&case, &[]).expect_err("nothing").cause, Cause::TooShort);
    }

    #[test]
    fn of_several_ports_each_has_its_row_and_its_bytes_and_the_sum_is_the_rate() {
        let samples = [(None, 400_000.0), (Some(0), 320_000.0), (Some(1), 80_000.0)];
        let samples = samples.map(|(port, bytes)| sample(CHANNEL, port, bytes, Unit::Byte)).to_vec();
        let part = client(samples, json!({ "moved": [800, 200] }));
        let measures = reduce(&case("a/1+b/1", "c/1+d/1"), &[part]).expect("reduced");
        assert_eq!(measures.metrics["rate"].trials, [[5.0]], "ports are not added to their sum");
        let rows = measures.series["by_port"].iter();
        let rows: Vec<_> = rows.map(|row| (row.at.text("port").expect("told"), &row.values.trials)).collect();
        assert_eq!(rows, [("a/1", &vec![vec![4.0]]), ("b/1", &vec![vec![1.0]])]);
        let moved = measures.evidence["moved"].as_array().expect("rows");
        let told: Vec<_> = moved.iter().map(|row| (&row["sender"]["port"], &row["bytes"])).collect();
        let wanted = [("a/1", 800), ("c/1", 800), ("b/1", 200), ("d/1", 200)];
        let wanted = wanted.map(|(port, bytes)| (json!(port), json!(bytes)));
        assert_eq!(told, wanted.each_ref().map(|(port, bytes)| (port, bytes)));
    }
}
