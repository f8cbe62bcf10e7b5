//! For which shares of the time device, queue, file system and program held a rate back, from the counters of the device
//! and the CPU time of the process.

use std::collections::BTreeMap;

use seatrial_model::{HeldBack, Hold, PartRecord};
use serde_json::Value;

/// Bytes of the device beside the requested ones, per requested byte, that its counters are surely right about.
const LEAST_BESIDE: f64 = 0.02;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Place {
    Device,
    Queue,
    Group,
    Program,
    FileSystem,
    Beside,
}

/// The means over the trials whose device counts, the largest first; of requests in several threads that are `direct`,
/// the queue too.
pub fn held_back(parts: &[PartRecord], direct: bool) -> HeldBack {
    let (mut sums, mut count) = (BTreeMap::<Place, f64>::new(), 0_usize);
    for shares in parts.iter().filter_map(|part| of_trial(part, direct)) {
        count += 1;
        shares.into_iter().for_each(|(place, share)| *sums.entry(place).or_default() += share);
    }
    let mut holds: Vec<Hold> = sums
        .into_iter()
        .map(|(place, sum)| told(place, sum / count as f64))
        .filter(|hold| hold.share + hold.beside > 0.0)
        .collect();
    holds.sort_by(|one, other| other.share.total_cmp(&one.share));
    HeldBack(holds)
}

/// None where no device counts.
fn of_trial(part: &PartRecord, direct: bool) -> Option<Vec<(Place, f64)>> {
    let moved = part.evidence.get("moved").filter(|moved| moved["source"] == "device")?;
    let number = |value: &Value| value.as_f64();
    let busy = number(&moved["busy"])?;
    let threads = part.evidence.get("threads").and_then(Value::as_array).map_or(1, Vec::len).max(1) as f64;
    let asked = part.evidence.get("engine").and_then(|engine| number(&engine["depth"])).filter(|_| direct);
    // One request of a program may be several of the device, but a queue that is not full is seen.
    let full = asked
        .zip(number(&moved["in_flight"]))
        .map_or(1.0, |(depth, in_flight)| (in_flight / (depth * threads)).min(1.0));
    let idle = 1.0 - busy;
    let has_group = part
        .evidence
        .get("throttle")
        .is_some_and(|limits| limits.as_object().is_some_and(|limits| limits.values().any(Value::is_u64)));
    let cpu = part.evidence.get("cpu_ns").and_then(number).zip(number(&moved["elapsed_ns"]));
    let cpu = cpu.filter(|(_, elapsed)| *elapsed > 0.0).map_or(0.0, |(cpu, elapsed)| cpu / elapsed / threads);
    let program = if has_group { 0.0 } else { idle.min(cpu) };
    let bytes =
        |of: &Value, names: [&str; 2]| names.iter().filter_map(|name| number(&of[*name])).sum::<f64>();
    let requested = part.evidence.get("bytes").map_or(0.0, |asked| bytes(asked, ["read", "written"]));
    let beside = match requested > 0.0 {
        true => bytes(moved, ["read_bytes", "written_bytes"]) / requested - 1.0,
        false => 0.0,
    };
    Some(vec![
        (Place::Device, busy * full),
        (Place::Queue, busy * (1.0 - full)),
        (Place::Program, program),
        (if has_group { Place::Group } else { Place::FileSystem }, idle - program),
        (Place::Beside, if beside > LEAST_BESIDE { beside } else { 0.0 }),
    ])
}

fn told(place: Place, share: f64) -> Hold {
    let (what, source) = match place {
        Place::Device => ("device works on requests", "io_ticks of the device"),
        Place::Queue => {
            ("fewer requests reach the device than were asked for", "time_in_queue of the device")
        }
        Place::Group => ("limit of a control group", "io_ticks of the device; io.max or blkio.throttle"),
        Place::Program => ("program's CPU is busy, the device waits", "CPU time of the process, io_ticks"),
        Place::FileSystem => ("device waits for file system or kernel", "io_ticks of the device"),
        Place::Beside => ("device moves bytes beside the requested ones", "sectors of the device"),
    };
    let hold = Hold { what: what.to_owned(), source: source.to_owned(), ..Hold::default() };
    match place {
        Place::Beside => Hold { beside: share, ..hold },
        _ => Hold { share, moves_data: matches!(place, Place::Device), ..hold },
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// Of two threads with 4 requests each in flight.
    fn trial(busy: f64, in_flight: f64, more: &Value) -> PartRecord {
        let mut evidence = json!({
            "moved": { "source": "device", "busy": busy, "in_flight": in_flight, "elapsed_ns": 1e9,
                "read_bytes": 0, "written_bytes": 1_250_000 },
            "bytes": { "read": 0, "written": 1_000_000 },
            "engine": { "depth": 4 }, "threads": [{}, {}], "cpu_ns": 200_000_000, "throttle": null,
        });
        evidence.as_object_mut().expect("a map").extend(more.as_object().expect("a map").clone());
        PartRecord {
            evidence: serde_json::from_value(evidence).expect("a map"),
            ..seatrial_testkit::part(Vec::new())
        }
    }

    fn shares(part: &PartRecord) -> Vec<(Place, f64)> {
        let round = |share: f64| (share * 1000.0).round() / 1000.0;
        let all = of_trial(part, true).unwrap_or_default().into_iter();
        all.map(|(place, share)| (place, round(share))).filter(|(_, share)| *share > 0.0).collect()
    }

    #[test]
    fn the_time_is_given_to_device_queue_program_and_file_system_once() {
        use Place::{Beside, Device, FileSystem, Program, Queue};
        let expected = [(Device, 0.15), (Queue, 0.45), (Program, 0.1), (FileSystem, 0.3), (Beside, 0.25)];
        assert_eq!(shares(&trial(0.6, 2.0, &json!({}))), expected);
        // A full queue leaves the device alone; requests that were split are more than were asked for.
        assert_eq!(shares(&trial(1.0, 30.0, &json!({}))), [(Device, 1.0), (Beside, 0.25)]);
        let HeldBack(holds) = held_back(&[trial(0.6, 2.0, &json!({})), trial(1.0, 30.0, &json!({}))], true);
        assert_eq!(holds[0].what, "device works on requests");
        assert!(holds[0].moves_data && (holds[0].share - 0.575).abs() < 1e-9, "{holds:?}");
    }

    #[test]
    fn time_without_requests_is_the_control_groups_where_one_has_a_limit() {
        let limited = trial(0.2, 8.0, &json!({ "throttle": { "written_bytes_per_s": 1_000_000 } }));
        assert_eq!(shares(&limited), [(Place::Device, 0.2), (Place::Group, 0.8), (Place::Beside, 0.25)]);
    }

    #[test]
    fn without_counters_of_a_device_nothing_is_told() {
        for moved in [json!({ "source": "process" }), json!({ "source": "device", "busy": null })] {
            assert_eq!(held_back(&[trial(0.2, 8.0, &json!({ "moved": moved }))], true), HeldBack::default());
        }
    }
}
