//! Several ports in one case of the latency and atomic benchmarks: ping-pongs at the same time, and atomics.

use std::time::Duration;

use seatrial_model::{Integrity, Measures};

use super::device::trial;
use super::rack::{Rack, case, is_verified};

const BOTH: (&str, &str) = ("device", "mlx5_0+mlx5_1");

fn is_whole(measures: &Measures) -> bool {
    measures.series["by_port"].len() == 2
}

fn moved(measures: &Measures) -> Vec<[&str; 2]> {
    let rows = measures.evidence["moved"].as_array().expect("rows").iter();
    rows.map(|row| ["sender", "receiver"].map(|end| row[end]["port"].as_str().expect("a port"))).collect()
}

#[test]
fn conversations_over_all_ports_of_a_case_go_on_at_the_same_time_and_each_is_told() {
    let cards = Rack::new("");
    for (id, directions) in [("rdma.send_lat", 2), ("rdma.read_lat", 1)] {
        let case = case(id, &[BOTH, ("up_to", "8 KiB")]);
        let (records, measures) = cards.measured(&case, |_, measures| is_whole(measures));
        is_verified(&records);
        let facts = &records[0].evidence["device"];
        assert_eq!((&facts[0]["port"], &facts[1]["port"]), (&"mlx5_0/1".into(), &"mlx5_1/1".into()));
        let span = |port: u64| {
            let own = records[0].samples.iter().filter(move |sample| sample.at.count("port") == Ok(port));
            (own.clone().map(|it| it.start).min().expect("some"), own.map(|it| it.end).max().expect("some"))
        };
        let ((from, to), (begin, end)) = (span(0), span(1));
        assert!(from < end && begin < to, "{id}: they were not at the same time");
        let rows = &measures.series["by_port"];
        let told: Vec<&str> = rows.iter().map(|row| row.at.text("port").expect("told")).collect();
        assert_eq!(told, ["mlx5_0/1", "mlx5_1/1"], "{id}");
        let slices: usize = rows.iter().map(|row| row.values.trials[0].len()).sum();
        assert_eq!(measures.metrics["latency"].trials[0].len(), slices, "{id}: the slices of both ports");
        assert_eq!(measures.series["by_size"].len(), 2, "{id}: sizes are not told once for each port");
        assert_eq!(moved(&measures).len(), 2 * directions, "{id}: {}", measures.evidence["moved"]);
    }
}

#[test]
fn atomics_of_all_threads_and_ports_are_looked_at_and_a_wrong_one_is_found_over_whichever() {
    for operation in ["fetch_add", "compare_swap"] {
        let asked = [BOTH, ("operation", operation), ("queue_pairs", "3"), ("threads", "2")];
        let case = case("rdma.atomic", &asked);
        let (records, measures) = Rack::new("").measured(&case, |_, measures| is_whole(measures));
        is_verified(&records);
        let port = ["mlx5_0/1", "mlx5_1/1"].map(|port| [port; 2]);
        assert_eq!(moved(&measures), [port[0], port[0], port[1], port[1]], "{operation}");
        let has = |name: &str| measures.metrics.contains_key(name);
        assert!(has("rate") && has("latency"), "{operation}");

        let cards = Rack::new("wrong=100");
        let records = trial(&case, cards.parts(&case), Duration::from_secs(1));
        let Integrity::Corrupt { wrong, of, first } = &records[0].integrity else {
            panic!("{operation}: {:?}", records[0].integrity);
        };
        assert!(first.contains("not the value of the previous operation"), "{operation}: {first}");
        let done = cards.fake.told("atomics");
        assert_eq!((*of, *wrong), (done, done / 100), "{operation}");
    }
}
