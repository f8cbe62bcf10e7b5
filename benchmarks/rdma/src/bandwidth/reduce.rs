//! Rates from the counts of the ends.

use std::collections::{BTreeMap, BTreeSet};

use seatrial_model::{Bytes, Case, Cause, Measures, Params, PartRecord, Reason, Row, Sample, Unit, Values};
use seatrial_sys::verbs::VerbKind;
use serde_json::{Value, json};

use super::counts::{CHANNEL, PORT};
use seatrial_bench::verbs::{Method, paths, ports_of};
use seatrial_bench::{Direction, Transferred, median};

const GBIT: f64 = 8e-9;

type Rates = BTreeMap<u32, BTreeMap<(Direction, u64), Vec<f64>>>;

pub fn reduce(method: Method, case: &Case, parts: &[PartRecord]) -> Result<Measures, Reason> {
    let directions = Direction::of_case(case);
    let rates = rates(parts, None);
    let together = sums(&rates, directions);
    let (Some((slowest, smallest)), Some((fastest, _))) = (together.first_key_value(), peak(&together))
    else {
        return Err(why_not(parts, directions, &rates));
    };
    let mut measures = Measures::default();
    let mut add = |name: &str, unit, trials| measures.metric_of_all(name, unit, trials);
    add("throughput", Unit::GigabitsPerSecond, together[&fastest].clone());
    if directions.len() > 1 {
        for direction in directions {
            let own =
                rates.values().map(|trial| trial.get(&(*direction, fastest)).cloned().unwrap_or_default());
            add(direction.word(), Unit::GigabitsPerSecond, own.collect());
        }
    }
    let a_message = |gbit: &f64| gbit / GBIT / *slowest as f64 / 1e6;
    let messages = smallest.iter().map(|trial| trial.iter().map(a_message).collect());
    add("messages", Unit::MegaPerSecond, messages.collect());
    add("registration", Unit::Microsecond, registrations(parts));
    if case.params.text("transport").is_ok_and(|word| word != "rc") {
        add("loss", Unit::Percent, losses(parts));
    }
    let row = |(size, trials): (u64, Vec<Vec<f64>>)| Row {
        at: [("size".to_owned(), Bytes(size).into())].into_iter().collect(),
        values: Values { unit: Unit::GigabitsPerSecond, trials },
    };
    measures.series.insert("by_size".to_owned(), together.into_iter().map(row).collect());
    let ports = ports_of(case, 0).unwrap_or_default();
    if ports.len() > 1 {
        measures.series.insert("by_port".to_owned(), by_port(parts, &ports, directions, fastest));
    }
    tell(method, case, parts, ports.len(), &mut measures);
    Ok(measures)
}

/// Rates by port at this size and by trial. A port without samples in a trial has no rows.
fn by_port(parts: &[PartRecord], ports: &[&str], directions: &[Direction], size: u64) -> Vec<Row> {
    let mut rows = Vec::new();
    for (number, port) in (0..).zip(ports) {
        let rates = rates(parts, Some(number));
        for direction in directions {
            let own = rates.values().map(|trial| trial.get(&(*direction, size)).cloned().unwrap_or_default());
            let trials: Vec<Vec<f64>> = own.collect();
            if trials.is_empty() || trials.iter().any(Vec::is_empty) {
                continue;
            }
            let mut at = Params::default();
            at.set("direction", direction.word());
            at.set("port", *port);
            rows.push(Row { at, values: Values { unit: Unit::GigabitsPerSecond, trials } });
        }
    }
    rows
}

fn rates(parts: &[PartRecord], port: Option<u64>) -> Rates {
    let mut rates = Rates::new();
    for part in parts {
        let is_it = |sample: &&Sample| sample.channel == CHANNEL && sample.at.count(PORT).ok() == port;
        for sample in part.samples.iter().filter(is_it) {
            let Some(direction) = sample.at.text("direction").ok().and_then(Direction::parse) else {
                continue;
            };
            let Some(size) = sample.at.bytes("size").ok().flatten() else { continue };
            let Some(rate) = sample.per_second() else { continue };
            rates
                .entry(part.trial)
                .or_default()
                .entry((direction, size.get()))
                .or_default()
                .push(rate * GBIT);
        }
    }
    rates
}

/// Sum of both directions, slice by slice: the ends have separate clocks, but begin and end at the same moment within
/// the latency of an order. Sizes that a trial has in one direction only are left out.
fn sums(rates: &Rates, directions: &[Direction]) -> BTreeMap<u64, Vec<Vec<f64>>> {
    let sizes: BTreeSet<u64> = rates.values().flat_map(|trial| trial.keys().map(|(_, size)| *size)).collect();
    let of_trial = |trial: &BTreeMap<(Direction, u64), Vec<f64>>, size: u64| -> Option<Vec<f64>> {
        let own: Vec<&Vec<f64>> =
            directions.iter().map(|direction| trial.get(&(*direction, size))).collect::<Option<_>>()?;
        let least = own.iter().map(|values| values.len()).min().filter(|count| *count > 0)?;
        // Scaled to the same length, so that slices of one index are of one moment.
        let at = |values: &[f64], index: usize| values[index * values.len() / least];
        Some((0..least).map(|index| own.iter().map(|values| at(values, index)).sum()).collect())
    };
    let of_size = |size: u64| {
        let trials: Option<Vec<Vec<f64>>> = rates.values().map(|trial| of_trial(trial, size)).collect();
        Some((size, trials.filter(|trials| !trials.is_empty())?))
    };
    sizes.into_iter().filter_map(of_size).collect()
}

fn peak(together: &BTreeMap<u64, Vec<Vec<f64>>>) -> Option<(u64, f64)> {
    let medians = together.iter().map(|(size, trials)| (*size, median(trials)));
    medians.max_by(|one, other| one.1.total_cmp(&other.1))
}

fn registrations(parts: &[PartRecord]) -> Vec<Vec<f64>> {
    let mut trials: BTreeMap<u32, Vec<f64>> = BTreeMap::new();
    for part in parts {
        let told = part.evidence.get("registration_us").and_then(Value::as_array);
        trials.entry(part.trial).or_default().extend(told.into_iter().flatten().filter_map(Value::as_f64));
    }
    trials.into_values().collect()
}

/// Counted since the connection was made, so that both ends count the same messages.
fn losses(parts: &[PartRecord]) -> Vec<Vec<f64>> {
    let mut trials: BTreeMap<u32, (f64, f64)> = BTreeMap::new();
    for part in parts {
        let count = |name: &str| part.evidence.get(name).and_then(Value::as_f64).unwrap_or(0.0);
        let trial = trials.entry(part.trial).or_default();
        *trial = (trial.0 + count("sent"), trial.1 + count("received"));
    }
    let loss = |(sent, received): (f64, f64)| {
        if sent > 0.0 { vec![100.0 * (sent - received) / sent] } else { Vec::new() }
    };
    trials.into_values().map(loss).collect()
}

fn tell(method: Method, case: &Case, parts: &[PartRecord], ports: usize, measures: &mut Measures) {
    let trials: BTreeSet<u32> = parts.iter().map(|part| part.trial).collect();
    let count = |name: &str| case.params.count(name).unwrap_or(1);
    let largest = measures.series.get("by_size").and_then(|rows| rows.last()?.at.bytes("size").ok()?);
    let under_way =
        count("queue_pairs").saturating_mul(count("depth")).saturating_mul(largest.map_or(0, Bytes::get));
    let none =
        Transferred { buffered: under_way.saturating_mul(2 * trials.len() as u64), ..Transferred::default() };
    let mut by_port = vec![none; ports.max(1)];
    for part in parts {
        // Read data moves against the direction of its requests.
        let (there, back) = match method.verb {
            VerbKind::Read => (Direction::Reverse, Direction::Forward),
            _ => (Direction::Forward, Direction::Reverse),
        };
        for (port, moved) in by_port.iter_mut().enumerate() {
            let bytes = |direction: Direction| {
                part.evidence.get(&format!("moved_{}", direction.word()))?.get(port)?.as_u64()
            };
            moved.forward += bytes(there).unwrap_or(0);
            moved.reverse += bytes(back).unwrap_or(0);
        }
        if let Some(device) = part.evidence.get("device") {
            measures.evidence.insert(part.part.clone(), json!({ "device": device }));
        }
    }
    paths::tell(&by_port, case, measures);
}

fn why_not(parts: &[PartRecord], directions: &[Direction], rates: &Rates) -> Reason {
    let count =
        |name: &str| -> u64 { parts.iter().filter_map(|part| part.evidence.get(name)?.as_u64()).sum() };
    let (sent, received) = (count("sent"), count("received"));
    let is_counted_there = parts.iter().any(|part| part.evidence.contains_key("received"));
    if is_counted_there && sent > 0 && received == 0 {
        let text = format!(
            "{sent} messages were sent and none arrived: the path drops them, or no host has the address"
        );
        return Reason::new(Cause::IoError, text);
    }
    let missing = directions
        .iter()
        .find(|direction| !rates.values().any(|trial| trial.keys().any(|(own, _)| own == *direction)));
    let which = missing.map_or("", |direction| direction.word());
    Reason::new(
        Cause::TooShort,
        format!("too few messages {which} within the time to compute a rate; raise -p time="),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use seatrial_bench::verbs::RemoteCompletion;
    use seatrial_model::{Integrity, Nanos};

    const WRITE: Method = Method { verb: VerbKind::Write, remote_completion: RemoteCompletion::None };

    fn case(changed: &[(&str, &str)]) -> Case {
        let bench = seatrial_bench::find(crate::BENCHMARKS, "rdma.write_bw").expect("there");
        let about = bench.about;
        let params = seatrial_testkit::params(about, changed);
        let budget = seatrial_bench::budget(&params).expect("a budget");
        let mut case =
            Case::new(about, "n1", seatrial_model::Subject::device("hca", "rxe0/1"), &params, budget);
        case.nodes.push("n2".to_owned());
        case
    }

    fn part(index: u32, trial: u32, samples: &[(Direction, u64, u64, u64)], evidence: Value) -> PartRecord {
        let sample = |(direction, size, start_ms, bytes): &(Direction, u64, u64, u64)| {
            let mut at = Params::default();
            at.set("direction", direction.word());
            at.set("size", Bytes(*size));
            let amount = format!("{bytes}").parse::<f64>().expect("a number");
            let amount = seatrial_model::Quantity::new(amount, Unit::Byte).expect("finite");
            Sample {
                channel: CHANNEL.to_owned(),
                at,
                start: Nanos::millis(*start_ms),
                end: Nanos::millis(start_ms + 10),
                amount,
            }
        };
        PartRecord {
            part: if index == 0 { "client" } else { "server" }.to_owned(),
            index,
            node: format!("n{}", index + 1),
            trial,
            samples: samples.iter().map(sample).collect(),
            integrity: Integrity::Verified { checked: 1 },
            evidence: serde_json::from_value(evidence).expect("an object"),
        }
    }

    #[test]
    fn the_fastest_size_is_the_throughput_and_the_smallest_the_message_rate() {
        let f = Direction::Forward;
        let samples =
            [(f, 64, 0, 12_800), (f, 64, 10, 25_600), (f, 65_536, 20, 1_250_000), (f, 65_536, 30, 2_500_000)];
        let parts =
            [part(0, 0, &samples, json!({ "registration_us": [3.0, 5.0] })), part(1, 0, &[], json!({}))];
        let measures = reduce(WRITE, &case(&[]), &parts).expect("reduced");
        assert_eq!(measures.metrics["throughput"].trials, [[1.0, 2.0]]);
        let messages = &measures.metrics["messages"].trials[0];
        assert!((messages[0] - 0.02).abs() < 1e-12 && (messages[1] - 0.04).abs() < 1e-12, "{messages:?}");
        assert_eq!(measures.metrics["registration"].trials, [[3.0, 5.0]]);
        assert_eq!(measures.series["by_size"].len(), 2);
        assert!(!measures.metrics.contains_key("loss") && !measures.metrics.contains_key("forward"));
    }

    #[test]
    fn both_directions_are_summed_slice_by_slice() {
        let (f, r) = (Direction::Forward, Direction::Reverse);
        let there = [(f, 65_536, 0, 1_250_000), (f, 65_536, 10, 2_500_000)];
        let back = [(r, 65_536, 5, 3_750_000), (r, 65_536, 15, 3_750_000), (r, 65_536, 25, 1_250_000)];
        let parts = [part(0, 0, &there, json!({})), part(1, 0, &back, json!({}))];
        let measures = reduce(WRITE, &case(&[("direction", "both")]), &parts).expect("reduced");
        assert_eq!(measures.metrics["throughput"].trials, [[4.0, 5.0]]);
        assert_eq!(measures.metrics["forward"].trials, [[1.0, 2.0]]);
        let missing =
            reduce(WRITE, &case(&[("direction", "both")]), &parts[..1]).expect_err("one direction only");
        assert!(missing.text.contains("reverse"), "{missing}");
    }

    #[test]
    fn of_several_ports_each_has_its_row_and_the_sum_is_told_by_itself() {
        let mut several = case(&[("direction", "both")]);
        several.planned.set("port", "rxe0/1+rxe1/1");
        let samples = |direction, port: Option<u64>, bytes: u64| {
            let mut part = part(0, 0, &[(direction, 65_536, 0, bytes)], json!({}));
            if let Some(port) = port {
                part.samples[0].at.set(PORT, port);
            }
            part.samples.remove(0)
        };
        let mut parts = [part(0, 0, &[], json!({})), part(1, 0, &[], json!({}))];
        for (index, direction) in [Direction::Forward, Direction::Reverse].into_iter().enumerate() {
            parts[index].samples = vec![
                samples(direction, None, 5_000_000),
                samples(direction, Some(0), 3_750_000),
                samples(direction, Some(1), 1_250_000),
            ];
        }
        let measures = reduce(WRITE, &several, &parts).expect("reduced");
        assert_eq!(measures.metrics["throughput"].trials, [[8.0]], "ports are not added to their sum");
        let rows: Vec<(&str, &str, f64)> = measures.series["by_port"]
            .iter()
            .map(|row| {
                let word = |name: &str| row.at.text(name).expect("told");
                (word("port"), word("direction"), row.values.trials[0][0])
            })
            .collect();
        let wanted = [
            ("rxe0/1", "forward", 3.0),
            ("rxe0/1", "reverse", 3.0),
            ("rxe1/1", "forward", 1.0),
            ("rxe1/1", "reverse", 1.0),
        ];
        assert_eq!(rows, wanted);
        let one = reduce(WRITE, &case(&[]), &parts[..1]).expect("reduced");
        assert!(!one.series.contains_key("by_port"), "a port by itself is all of it");
        for (part, moved) in parts.iter_mut().zip([json!([30, 10]), json!([7, 5])]) {
            let direction = if part.index == 0 { "moved_forward" } else { "moved_reverse" };
            part.evidence.insert(direction.to_owned(), moved);
        }
        several.planned.set("peer_port", "rxe2/1+rxe3/1");
        let moved = reduce(WRITE, &several, &parts).expect("reduced").evidence["moved"].clone();
        let rows = moved.as_array().expect("rows").iter();
        let told: Vec<_> =
            rows.map(|row| (&row["sender"]["port"], &row["receiver"]["port"], &row["bytes"])).collect();
        let wanted = [
            ("rxe0/1", "rxe2/1", 30),
            ("rxe2/1", "rxe0/1", 7),
            ("rxe1/1", "rxe3/1", 10),
            ("rxe3/1", "rxe1/1", 5),
        ];
        let wanted = wanted.map(|(from, to, bytes)| (json!(from), json!(to), json!(bytes)));
        assert_eq!(told, wanted.each_ref().map(|(from, to, bytes)| (from, to, bytes)));
    }

    #[test]
    fn what_was_sent_and_did_not_come_is_lost_and_nothing_at_all_is_a_fault_of_the_path() {
        let f = Direction::Forward;
        let uc = case(&[("transport", "uc")]);
        let sender = part(0, 0, &[], json!({ "sent": 1000 }));
        let parts = [sender.clone(), part(1, 0, &[(f, 65_536, 0, 1_250_000)], json!({ "received": 990 }))];
        assert_eq!(reduce(WRITE, &uc, &parts).expect("reduced").metrics["loss"].trials, [[1.0]]);
        let parts = [sender, part(1, 0, &[], json!({ "received": 0 }))];
        let reason = reduce(WRITE, &uc, &parts).expect_err("nothing came");
        assert_eq!(reason.cause, Cause::IoError);
        assert!(reason.text.starts_with("1000 messages were sent and none arrived"), "{reason}");
    }

    #[test]
    fn the_path_is_told_what_went_over_it_and_reads_come_the_other_way() {
        let samples = [(Direction::Forward, 65_536, 0, 1_250_000)];
        let parts = [part(0, 0, &samples, json!({ "moved_forward": [9_000_000] }))];
        let told = |method| {
            let measures = reduce(method, &case(&[]), &parts).expect("reduced");
            (measures.evidence["moved"][0]["from"].clone(), measures.evidence["moved"][0]["bytes"].clone())
        };
        assert_eq!(told(WRITE), (json!("n1"), json!(9_000_000)));
        assert_eq!(told(Method { verb: VerbKind::Read, ..WRITE }), (json!("n2"), json!(9_000_000)));
    }
}
