//! Tests that apply to all memory benchmarks.

use seatrial_model::{Site, SiteNode};
use seatrial_testkit::{params, row};

#[test]
fn no_benchmark_of_memory_asks_for_what_a_cpuset_leaves_out_and_each_tells_it() {
    let mut seen = 0;
    for bench in crate::BENCHMARKS {
        let site = Site { nodes: vec![SiteNode::new("n1", row(Some(&[2])))] };
        for case in bench.plan(&params(bench.about, &[]), &site).expect("a plan") {
            let bindings = &case.places[0].bindings;
            assert!(bindings.iter().all(|binding| binding.memory == Some(2)), "{}: {bindings:?}", case.bench);
            let is_told = case.findings.iter().any(|finding| finding.kind == "remote-memory");
            assert!(is_told, "{}: {:?}", case.bench, case.findings);
            seen += 1;
        }
    }
    assert!(seen > 0);
}
