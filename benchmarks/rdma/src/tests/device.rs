//! Every benchmark with both ends in this process, on the first RDMA device of the machine.
//!
//! Ignored by default, since few machines have a device: a guest has one, and `cargo test -p seatrial-bench --lib --
//! --ignored on_a_device` runs these tests there. `xtask/tests/guest_rdma.rs` measures with the whole program.

#![expect(clippy::print_stdout, reason = "what was measured is of use to who runs them")]

use std::time::Duration;

use seatrial_model::{Case, Integrity, PartRecord, Phase, Site, SiteNode};
use seatrial_sys::root::SysRoot;

use seatrial_bench::testing::{Kept, at_once, prepare_all};
use seatrial_bench::{Offer, Part, Stop, find};

pub fn trial(case: &Case, parts: Vec<Part>, time: Duration) -> Vec<PartRecord> {
    let (parts, offers) = prepare_all(parts, &[]).expect("prepared");
    let of_wire: Vec<Offer> =
        serde_json::from_str(&serde_json::to_string(&offers).expect("serialises")).expect("reads");
    let mut parts = at_once(parts, &[], |part| part.connect(&of_wire).expect("connected"));
    let mut kept = Vec::new();
    for (phase, time) in [(Phase::WarmUp, Duration::from_millis(100)), (Phase::Measure, time)] {
        kept = at_once(&mut parts, &[], |part| {
            let mut kept = Kept::default();
            part.run(phase, &Stop::after(time), &mut kept).expect("ran");
            kept
        });
    }
    let all = parts.iter_mut().zip(&case.places).zip(kept);
    all.map(|((part, place), kept)| kept.record(place, part.verify().expect("looked at"))).collect()
}

fn measured(id: &str, changed: &[(&str, &str)]) {
    let bench = find(crate::BENCHMARKS, id).expect("there");
    let about = bench.about;
    let params = seatrial_testkit::params(about, changed);
    let site = Site { nodes: vec![SiteNode::new("n1", seatrial_inventory::read(&SysRoot::live()))] };
    let case = bench.plan(&params, &site).expect("planned").remove(0);
    let parts = case.places.iter().map(|place| bench.part(&case, place)).collect();
    let parts = trial(&case, parts, Duration::from_millis(1500));
    let told: Vec<&Integrity> = parts.iter().map(|part| &part.integrity).collect();
    assert!(!told.iter().any(|told| matches!(told, Integrity::Corrupt { .. })), "{id} {changed:?}: {told:?}");
    assert!(told.iter().any(|told| matches!(told, Integrity::Verified { .. })), "{id} {changed:?}: {told:?}");
    let measures = bench.reduce(&case, &parts).unwrap_or_else(|reason| panic!("{id} {changed:?}: {reason}"));
    let medians: Vec<String> = measures
        .metrics
        .iter()
        .filter_map(|(name, values)| {
            let count = values.trials.concat().len();
            let median = seatrial_bench::median(&values.trials);
            (count > 0).then(|| format!("{name} {median:.4} {} (n {count})", values.unit))
        })
        .collect();
    println!("{id} {changed:?}: {}", medians.join(", "));
    assert!(medians.len() >= 2, "{id} {changed:?}");
}

/// One test per benchmark, so that one failure does not hide the others.
macro_rules! on_a_device {
    ($($name:ident: $id:literal [$($changed:expr),* $(,)?];)*) => {
        mod on_a_device {
            $(#[test]
            #[ignore = "needs an RDMA device"]
            fn $name() {
                $(super::measured($id, &$changed);)*
            }
            )*
        }
    };
}

on_a_device! {
    writes_over_rc: "rdma.write_bw" [[], [("queue_pairs", "3"), ("threads", "2"), ("size", "2 KiB"), ("up_to", "16 KiB")]];
    writes_over_uc: "rdma.write_bw" [[("transport", "uc"), ("size", "2 KiB"), ("queue_pairs", "2")]];
    writes_both_ways_in_lists_to_other_memory: "rdma.write_bw" [
        [("direction", "both"), ("post_list", "4"), ("moderation", "8"), ("depth", "32"), ("buffers", "different"), ("size", "16 KiB")]
    ];
    from_memory_that_is_registered_for_each_message: "rdma.write_bw" [[("buffers", "fresh"), ("depth", "8")]];
    writes_with_a_fence: "rdma.write_bw" [[("fence", "true"), ("size", "4 KiB")]];
    writes_inline_by_events: "rdma.write_bw" [[("completion", "event"), ("size", "64 B"), ("inline", "64 B")]];
    reads: "rdma.read_bw" [
        [("queue_pairs", "2"), ("size", "1000 B"), ("up_to", "5000 B"), ("outstanding", "4")],
        [("direction", "reverse"), ("fence", "true"), ("mtu", "1024"), ("size", "4 KiB")],
    ];
    sends_over_rc: "rdma.send_bw" [[("queue_pairs", "2"), ("size", "512 B"), ("up_to", "1 KiB")]];
    sends_over_uc: "rdma.send_bw" [[("transport", "uc"), ("size", "1 KiB")]];
    sends_over_ud: "rdma.send_bw" [[("transport", "ud"), ("queue_pairs", "2"), ("size", "1 KiB")]];
    sends_both_ways_by_events: "rdma.send_bw" [[("direction", "both"), ("completion", "event"), ("receives", "64"), ("depth", "16")]];
    write_latency: "rdma.write_lat" [[], [("transport", "uc"), ("up_to", "8 KiB")], [("completion", "event")]];
    write_poll_latency: "rdma.write_poll_lat" [[("size", "1 B"), ("up_to", "4 KiB")], [("transport", "uc"), ("size", "64 B")]];
    send_latency: "rdma.send_lat" [[("up_to", "1 KiB")], [("transport", "uc")], [("transport", "ud"), ("size", "64 B")]];
    read_latency: "rdma.read_lat" [[("size", "8 B"), ("up_to", "64 KiB")], [("completion", "event")]];
    atomics: "rdma.atomic" [
        [("operation", "fetch_add"), ("queue_pairs", "3"), ("threads", "2")],
        [("operation", "compare_swap")],
        [("operation", "fetch_add"), ("words", "1024")],
        [("operation", "compare_swap"), ("words", "3"), ("queue_pairs", "2")],
    ];
    pingpong_over_verbs: "net.pingpong" [
        [("transport", "verbs"), ("to", "16 KiB"), ("beside", "0")],
        [("transport", "verbs"), ("to", "1 KiB"), ("mode", "stream"), ("buffers", "different")],
        [("transport", "verbs"), ("to", "1 KiB"), ("mode", "both")],
    ];
}
