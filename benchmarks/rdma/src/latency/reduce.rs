//! Latencies from slices and histograms.

use std::collections::BTreeMap;

use seatrial_model::{Bytes, Case, Cause, Measures, Params, PartRecord, Reason, Row, Sample, Unit, Values};
use seatrial_sys::verbs::VerbKind;
use serde_json::{Value, json};

use super::part::PORT;
use super::requester::CHANNELS;
use seatrial_bench::verbs::{Method, RemoteCompletion, paths, ports_of};
use seatrial_bench::{AtCoords, Latencies, Transferred, add_loss, by_coords};

const MICRO: f64 = 1e3;

/// Each trial gives the medians and rates of its slices at the smallest size, and one value of each quantile there;
/// over all ports, with the medians of each port in addition.
pub fn reduce(method: Method, case: &Case, parts: &[PartRecord]) -> Result<Measures, Reason> {
    let by_port: Vec<PartRecord> = parts.iter().filter(|part| part.index == 0).cloned().collect();
    let clients: Vec<PartRecord> = by_port.iter().map(of_all_ports).collect();
    let messages = if method.remote_completion == RemoteCompletion::None { 1.0 } else { 2.0 };
    let unit = MICRO * messages;
    let median = |sample: &Sample| Some(sample.amount.value() / unit);
    let mut sizes = by_coords(&clients, CHANNELS[1], median);
    sizes.sort_by_key(bytes);
    let Some(smallest) = sizes.first() else { return Err(why_not(&clients)) };
    let ports = ports_of(case, 0).unwrap_or_default();
    if let Some(silent) = silent(&by_port, &ports) {
        return Err(silent);
    }
    let mut measures = Measures::default();
    measures.metric_of_all("latency", Unit::Microsecond, smallest.trials.clone());
    let at = smallest.at.clone();
    let rates = by_coords(&clients, CHANNELS[0], Sample::per_second);
    if let Some(rates) = rates.into_iter().find(|rates| rates.at == at) {
        measures.metric_of_all("rate", Unit::PerSecond, rates.trials);
    }
    let counted: Vec<Latencies> =
        clients.iter().filter_map(|part| histogram(part, bytes(smallest), None)).collect();
    Latencies::add_metrics(&counted, &[("p99", 0.99), ("p999", 0.999)], unit, &mut measures);
    if case.params.text("transport").is_ok_and(|word| word != "rc") {
        add_loss(&clients, &mut measures);
    }
    let row = |at: Params, trials| Row { at, values: Values { unit: Unit::Microsecond, trials } };
    if ports.len() > 1 {
        let all = by_coords(&by_port, CHANNELS[1], median);
        let of = |(number, port): (u64, &&str)| {
            let is_it = |at: &&AtCoords| {
                at.at.count(PORT) == Ok(number) && at.at.get("size") == smallest.at.get("size")
            };
            let own = all.iter().find(is_it).filter(|at| at.trials.len() == by_port.len())?;
            Some(row(Params::from_iter([("port".to_owned(), (*port).into())]), own.trials.clone()))
        };
        measures.series.insert("by_port".to_owned(), (0..).zip(&ports).filter_map(of).collect());
    }
    let moved: Vec<Transferred> =
        (0..ports.len().max(1)).map(|port| transferred(method, &clients, &sizes, port)).collect();
    paths::tell(&moved, case, &mut measures);
    let rows = sizes.into_iter().map(|at| row(at.at, at.trials)).collect();
    measures.series.insert("by_size".to_owned(), rows);
    let devices: BTreeMap<&str, &Value> =
        parts.iter().filter_map(|part| Some((part.part.as_str(), part.evidence.get("device")?))).collect();
    measures.evidence.insert("devices".to_owned(), json!(devices));
    Ok(measures)
}

fn of_all_ports(part: &PartRecord) -> PartRecord {
    let mut part = part.clone();
    for sample in &mut part.samples {
        let at = sample.at.iter().filter(|(name, _)| *name != PORT);
        sample.at = at.map(|(name, value)| (name.to_owned(), value.clone())).collect();
    }
    part
}

fn bytes(at: &AtCoords) -> u64 {
    at.at.bytes("size").ok().flatten().map_or(0, Bytes::get)
}

fn histogram(part: &PartRecord, bytes: u64, port: Option<usize>) -> Option<Latencies> {
    let number = |own: &Value, name: &str| own.get(name).and_then(Value::as_u64);
    let is_it = |own: &&Value| {
        let of_port = port.is_none_or(|port| number(own, PORT).is_none_or(|own| own == port as u64));
        of_port && number(own, "size") == Some(bytes)
    };
    let all = part.evidence.get("by_size")?.as_array()?.iter().filter(is_it);
    let mut read = all.map(|own| Latencies::from_evidence(own.get("round_trips")?));
    let first = read.next()??;
    read.try_fold(first, |mut sum, own| {
        sum.add(&own?);
        Some(sum)
    })
}

/// Payload sent over one port: one message there and, if it is answered, one back; a read only moves data back.
fn transferred(method: Method, clients: &[PartRecord], sizes: &[AtCoords], port: usize) -> Transferred {
    let of_size = |size: u64| -> u64 {
        let counted = clients.iter().filter_map(|part| histogram(part, size, Some(port)));
        counted.map(|own| own.count()).sum::<u64>().saturating_mul(size)
    };
    let all = sizes.iter().map(|at| of_size(bytes(at))).fold(0, u64::saturating_add);
    let largest = sizes.last().map_or(0, bytes);
    Transferred {
        forward: if method.verb == VerbKind::Read { 0 } else { all },
        reverse: if method.verb == VerbKind::Read || method.remote_completion != RemoteCompletion::None {
            all
        } else {
            0
        },
        buffered: largest.saturating_mul(2 * clients.len() as u64),
    }
}

/// An error if one of several ports had no answer in a trial, which the other ports' values would hide.
fn silent(clients: &[PartRecord], ports: &[&str]) -> Option<Reason> {
    let answered = |part: &PartRecord, number: u64| {
        part.samples.iter().any(|sample| sample.channel == CHANNELS[1] && sample.at.count(PORT) == Ok(number))
    };
    let several = ports.iter().filter(|_| ports.len() > 1);
    let (_, port) =
        (0..).zip(several).find(|(number, _)| !clients.iter().all(|part| answered(part, *number)))?;
    let text = format!(
        "no message over {port} was answered in a trial: the path drops them, or delays them too long"
    );
    Some(Reason::new(Cause::IoError, text))
}

fn why_not(clients: &[PartRecord]) -> Reason {
    let count =
        |name: &str| -> u64 { clients.iter().filter_map(|part| part.evidence.get(name)?.as_u64()).sum() };
    let (asked, lost) = (count("asked"), count("lost"));
    if asked > 0 && asked == lost {
        let text = format!(
            "{asked} messages were sent and none was answered: the path drops them, or no host has the address"
        );
        return Reason::new(Cause::IoError, text);
    }
    Reason::new(Cause::TooShort, "no message was answered within the time; raise -p time=")
}

#[cfg(test)]
mod tests {
    use super::*;
    use seatrial_model::{Nanos, Params, Subject};
    use seatrial_sys::verbs::VerbKind;

    const SEND: Method = Method { verb: VerbKind::Send, remote_completion: RemoteCompletion::Cqe };

    fn case(transport: &str) -> Case {
        let about = seatrial_bench::find(crate::BENCHMARKS, "rdma.send_lat").expect("there").about;
        let mut params: Params = about.defaults();
        params.set("transport", transport);
        let budget = seatrial_bench::budget(&params).expect("a budget");
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
            evidence: serde_json::from_value(evidence).expect("an object"),
            ..seatrial_testkit::part(medians.iter().map(sample).collect())
        }
    }

    #[test]
    fn an_answered_message_takes_half_of_its_round_trip_and_a_served_one_the_whole() {
        let parts = [client(&[(2, 10), (2, 12), (4096, 30)], json!({}))];
        let halves = reduce(SEND, &case("rc"), &parts).expect("reduced");
        assert_eq!(halves.metrics["latency"].trials, [[5.0, 6.0]]);
        assert_eq!(halves.series["by_size"][1].values.trials, [[15.0]]);
        let read = Method { verb: VerbKind::Read, remote_completion: RemoteCompletion::None };
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
    fn of_several_ports_all_messages_make_the_metrics_and_each_port_has_its_row() {
        let mut several = case("rc");
        several.nodes.push("n2".to_owned());
        several.planned.set("port", "a/1+b/1");
        several.planned.set("peer_port", "c/1+d/1");
        let round_trips = |port: u64, size: u64, micros: u64| {
            let mut latencies = Latencies::default();
            (0..1000).for_each(|_| latencies.record(Nanos(micros * 1000)));
            json!({ "port": port, "size": size, "round_trips": latencies.to_evidence() })
        };
        let told = json!([round_trips(0, 2, 10), round_trips(0, 64, 20), round_trips(1, 2, 30)]);
        let mut part = client(&[(2, 10), (2, 30), (2, 12), (64, 20)], json!({ "by_size": told }));
        for (sample, port) in part.samples.iter_mut().zip([0_u64, 1, 0, 0]) {
            sample.at.set(PORT, port);
        }
        let measures = reduce(SEND, &several, &[part]).expect("reduced");
        assert_eq!(measures.metrics["latency"].trials, [[5.0, 15.0, 6.0]], "all slices, as they came");
        assert_eq!(measures.metrics["slowest"].trials, [[15.0]]);
        let p99 = measures.metrics["p99"].trials[0][0];
        assert!((p99 - 15.0).abs() < 0.02, "{p99}");
        let rows: Vec<(&str, &[f64])> = measures.series["by_port"]
            .iter()
            .map(|row| (row.at.text("port").expect("told"), &row.values.trials[0][..]))
            .collect();
        assert_eq!(rows, [("a/1", &[5.0, 6.0][..]), ("b/1", &[15.0][..])]);
        let sizes: Vec<_> = measures.series["by_size"].iter().map(|row| row.at.text("size")).collect();
        assert_eq!(sizes, [Ok("2 B"), Ok("64 B")]);
        let moved = measures.evidence["moved"].as_array().expect("rows");
        let bytes: Vec<_> = moved.iter().map(|row| (&row["sender"]["port"], row["bytes"].as_u64())).collect();
        let wanted = ["a/1", "c/1", "b/1", "d/1"].map(|port| json!(port));
        let wanted: Vec<_> = wanted.iter().zip([66_000, 66_000, 2_000, 2_000].map(Some)).collect();
        assert_eq!(bytes, wanted);
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
