//! Streams over cards that do not exist (`crates/sys/tests/fake_verbs`): what soft-RoCE cannot be, and faults that it cannot
//! make.

#[path = "../../../../../sys/tests/fake_verbs/compile.rs"]
mod compile;

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use compile::Fake;
use seatrial_model::{Case, Cause, Integrity, Phase, Site};
use seatrial_sys::memory::Pages;
use seatrial_sys::root::SysRoot;
use seatrial_sys::verbs::VerbKind;

use super::device::{Kept, trial};
use super::{node, planned_of, two_cards};
use crate::common::rdma::rig::Rig;
use crate::common::rdma::system::System;
use crate::common::rdma::{Method, Notice, Terms, bandwidth, latency};
use crate::{Error, Offer, Part, Stop, registry};

/// Cards and the kernel's files about them.
struct Rack {
    fake: Fake,
    /// A tree for each end, which differ in the prefix of their subnets only.
    trees: [tempfile::TempDir; 2],
}

impl Rack {
    /// Cards that are configured by `words`; the ends' addresses begin with these.
    fn new(words: &str, prefixes: [&str; 2]) -> Self {
        let tree = |prefix: &str| {
            let folder = tempfile::tempdir().expect("a folder");
            for (number, card) in ["mlx5_0", "mlx5_1", "mlx5_2"].iter().enumerate() {
                let own = folder.path().join("sys/class/infiniband").join(card);
                fs::create_dir_all(own.join("ports/1/gids")).expect("made");
                let write = |name: &str, text: &str| fs::write(own.join(name), text).expect("written");
                write("ports/1/link_layer", "InfiniBand\n");
                write("ports/1/gids/0", &format!("{prefix}:0000:0000:0000:000{}\n", number + 1));
                // Both ends share a processor here, so that it is to be offered to the other soon.
                write("node_desc", "rxe\n");
            }
            folder
        };
        Self { fake: Fake::new(words), trees: prefixes.map(tree) }
    }

    fn system(&self, end: usize) -> System {
        let root = SysRoot::at(self.trees[end].path());
        System { library: Some(self.fake.library()), root }
    }
}

/// Of one subnet.
fn rack(words: &str) -> Rack {
    Rack::new(words, ["fe80:0000:0000:0000"; 2])
}

/// Few messages, and nobody pinned: the machine of this test may have fewer processors than the plan.
const SMALL: [(&str, &str); 3] = [("affinity", "none"), ("size", "4 KiB"), ("pages", "base")];

fn case(id: &str, changed: &[(&str, &str)]) -> Case {
    let bench = registry().find(id).expect("there");
    let site = Site { nodes: vec![node("n1", two_cards()), node("n2", two_cards())] };
    let small = SMALL.into_iter().filter(|(name, _)| bench.about().param(name).is_some());
    let all: Vec<(&str, &str)> = small.chain(changed.iter().copied()).collect();
    planned_of(bench, &site, &all).expect("planned").remove(0)
}

fn method(verb: VerbKind) -> Method {
    let notice = if verb == VerbKind::Send { Notice::Completion } else { Notice::Nothing };
    Method { verb, notice }
}

/// Both ends of a case: a stream, or what asks and waits.
fn parts(verb: VerbKind, case: &Case, rack: &Rack) -> Vec<Box<dyn Part>> {
    let make = if case.bench.ends_with("_lat") { latency::part_on } else { bandwidth::part_on };
    let part = |(end, place)| make(method(verb), case, place, &rack.system(end)).expect("a part");
    case.places.iter().enumerate().map(part).collect()
}

#[test]
fn cards_of_infiniband_reach_each_other_by_local_identifiers_over_all_ports_of_a_case() {
    let cards = rack("");
    for (id, verb, changed) in [
        ("rdma.write_bw", VerbKind::Write, [("transport", "rc"), ("direction", "both")]),
        ("rdma.write_bw", VerbKind::Write, [("transport", "uc"), ("direction", "forward")]),
        ("rdma.read_bw", VerbKind::Read, [("direction", "reverse"), ("queue_pairs", "3")]),
        ("rdma.send_bw", VerbKind::Send, [("direction", "both"), ("queue_pairs", "2")]),
    ] {
        let bench = registry().find(id).expect("there");
        let case = case(id, &[&changed[..], &[("device", "mlx5_0+mlx5_1")]].concat());
        let ways = if changed.contains(&("direction", "both")) { 2 } else { 1 };
        // A machine that gives this process no time for long leaves too few messages for a rate.
        let of = |seconds| {
            let records = trial(&case, parts(verb, &case, &cards), Duration::from_secs(seconds));
            let told: Vec<&Integrity> = records.iter().map(|record| &record.integrity).collect();
            assert!(told.iter().any(|told| matches!(told, Integrity::Verified { .. })), "{id}: {told:?}");
            assert!(!told.iter().any(|told| matches!(told, Integrity::Corrupt { .. })), "{id}: {told:?}");
            let facts = &records[0].evidence["device"];
            assert_eq!((&facts[0]["port"], &facts[1]["port"]), (&"mlx5_0/1".into(), &"mlx5_1/1".into()));
            assert!(facts[0].get("gid").is_none(), "one subnet needs no global header: {facts}");
            bench.reduce(&case, &records).ok().filter(|measures| measures.series["by_port"].len() == 2 * ways)
        };
        let measures = [1, 10, 60].into_iter().find_map(of);
        let measures = measures.unwrap_or_else(|| panic!("{id}: not every port told of every way"));
        let mut rates = measures.series["by_port"].iter().flat_map(|row| row.values.trials.concat());
        assert!(rates.all(|rate| rate > 0.0), "{id}: {:?}", measures.series["by_port"]);
    }
}

#[test]
fn between_subnets_of_infiniband_a_global_header_is_put_in() {
    let case = case("rdma.write_bw", &[]);
    let of = |words: &str, prefixes: [&str; 2]| {
        let rack = Rack::new(words, prefixes);
        let mut parts = parts(VerbKind::Write, &case, &rack);
        let offers: Vec<Offer> = parts.iter_mut().map(|part| part.prepare().expect("prepared")).collect();
        parts.iter_mut().try_for_each(|part| part.connect(&offers))
    };
    let (own, other) = ("fe80:0000:0000:0000", "fec0:0000:0000:0001");
    assert_eq!(of("global=1", [own, other]), Ok(()));
    // The card takes what it is told to take and nothing else, so that neither happens without a reason.
    assert_eq!(of("global=0", [own, own]), Ok(()));
    for (words, prefixes) in [("global=0", [own, other]), ("global=1", [own, own])] {
        let error = of(words, prefixes).expect_err("refused");
        assert!(error.text.contains("mlx5_0/1: connecting a queue pair"), "{error}");
    }
}

#[test]
fn what_a_card_cannot_do_or_a_port_that_is_down_is_told_before_anything_moves() {
    let opened = |words: &str, verb: VerbKind, id: &str, changed: &[(&str, &str)]| {
        let case = case(id, changed);
        let rack = rack(words);
        let mut terms = Terms::of(method(verb), &case, &case.places[0]).expect("terms");
        terms.system = rack.system(0);
        Rig::open(&terms, &[Pages::Base]).map(drop)
    };
    assert_eq!(opened("", VerbKind::Atomic, "rdma.atomic", &[]), Ok(()));
    for (words, verb, id, changed, cause, text) in [
        ("atomics=0", VerbKind::Atomic, "rdma.atomic", &[][..], Cause::Inapplicable, "no atomic operations"),
        (
            "uc=0",
            VerbKind::Write,
            "rdma.write_bw",
            &[("transport", "uc")][..],
            Cause::Inapplicable,
            "no UC queue pairs",
        ),
        ("state=1", VerbKind::Write, "rdma.write_bw", &[][..], Cause::Missing, "mlx5_0 is DOWN, not ACTIVE"),
        ("state=2", VerbKind::Write, "rdma.write_bw", &[][..], Cause::Missing, "the subnet manager"),
    ] {
        let error = opened(words, verb, id, changed).expect_err("refused");
        assert!(error.cause == cause && error.text.contains(text), "{words}: {error}");
    }
}

/// How the first end's measuring ends, if it is given a minute.
fn failed(words: &str, id: &str, verb: VerbKind) -> Error {
    let case = case(id, &[]);
    let rack = rack(words);
    let mut parts = parts(verb, &case, &rack);
    let offers: Vec<Offer> = parts.iter_mut().map(|part| part.prepare().expect("prepared")).collect();
    parts.iter_mut().for_each(|part| part.connect(&offers).expect("connected"));
    let (clock, given) = (Instant::now(), Duration::from_secs(60));
    let error = parts[0].run(Phase::Measure, &Stop::after(given), &mut Kept::default()).expect_err("failed");
    assert!(clock.elapsed() < given, "the end of the phase is not waited for");
    assert_eq!(error.cause, Cause::IoError, "{error}");
    error
}

#[test]
fn a_card_that_tells_nothing_more_ends_the_measurement_long_before_its_time() {
    let stream = failed("silent=100", "rdma.write_bw", VerbKind::Write);
    assert!(stream.text.starts_with("mlx5_0/1: no request completed for 5 s"), "{stream}");
    let asked = failed("silent=100", "rdma.read_lat", VerbKind::Read);
    assert!(asked.text.starts_with("mlx5_0/1: no answer came for 5 s"), "{asked}");
}

#[test]
fn an_error_of_the_vendors_own_is_told_with_its_code() {
    for (id, verb) in [("rdma.write_bw", VerbKind::Write), ("rdma.read_lat", VerbKind::Read)] {
        let error = failed("fail=100 vendor=129", id, verb).text;
        assert!(error.contains("IBV_WC_GENERAL_ERR") && error.contains("vendor code 0x81"), "{id}: {error}");
    }
}

#[test]
fn the_library_of_the_system_is_not_taken_where_another_is_named() {
    let system =
        System { library: Some(Path::new("/nonexistent/libibverbs.so.1").into()), root: SysRoot::live() };
    let error = system.verbs().expect_err("nothing there");
    assert!(error.to_string().contains("/nonexistent"), "{error}");
}
