//! What all benchmarks between two nodes have in common.

use seatrial_bench::affinity::{OFF_IRQ_CORES, SAME_LLC};
use seatrial_model::Site;
use seatrial_testkit::{card, eight_cores};

#[test]
fn every_benchmark_between_nodes_places_its_threads_so_and_says_it() {
    let node = |name| eight_cores(name, vec![card("eth0", 1, Some(&[4]))]);
    let site = Site { nodes: vec![node("n1"), node("n2")] };
    let mut seen = 0;
    for bench in crate::BENCHMARKS.iter().filter(|bench| bench.about.param("affinity").is_some()) {
        let name = bench.about.id;
        let mut params = bench.about.defaults();
        seen += 1;
        if bench.about.param("flows").is_some() {
            params.set("flows", 1_u64);
        }
        for (affinity, cpu, off) in [("auto", 5, true), ("irq", 4, false)] {
            params.set("affinity", affinity);
            let case = bench.plan(&params, &site).expect("a plan").remove(0);
            assert_eq!(
                case.places.iter().map(|place| place.bindings[0].cpu).collect::<Vec<_>>(),
                [cpu, cpu],
                "{name}"
            );
            assert_eq!(case.planned.flag(OFF_IRQ_CORES), Ok(off), "{name}");
            assert!(case.planned.flag(SAME_LLC).is_ok(), "{name}");
        }
    }
    assert_eq!(seen, 7);
}
