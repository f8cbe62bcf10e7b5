//! Collective operations of ranks in threads, on the imitated driver and library.

use std::path::Path;
use std::time::Duration;

use seatrial_bench::testing::{Kept, at_once, connect_all};
use seatrial_bench::{Part, Stop};
use seatrial_model::{Better, Case, Cause, Integrity, Measures, PartRecord, Phase, Reason, Site, SiteNode};

use super::{BENCHMARK, operation::OPERATIONS, part};
use crate::rig::{Fake, machine, median, plan, site};

const SMALL: (&str, &str) = ("size", "64 KiB");

fn parts(case: &Case, library: &Path) -> Vec<Part> {
    case.places.iter().map(|place| part::part(case, place, Some(library.to_owned()))).collect()
}

/// A trial of all ranks.
fn trial(case: &Case, library: &Path) -> Result<Vec<PartRecord>, Reason> {
    let ranks = connect_all(parts(case, library), &[])?;
    let all = ranks.into_iter().zip(&case.places);
    let records = at_once(all, &[], |(mut rank, place)| {
        rank.run(Phase::WarmUp, &Stop::after(Duration::ZERO), &mut Kept::default())?;
        let mut kept = Kept::default();
        rank.run(Phase::Measure, &Stop::after(Duration::from_millis(200)), &mut kept)?;
        let integrity = rank.verify()?;
        Ok(kept.record(place, integrity))
    });
    records.into_iter().collect()
}

fn measured(changed: &[(&str, &str)], words: &str) -> Result<(Vec<PartRecord>, Measures), Reason> {
    let fake = Fake::new(&format!("devices=3 apart=1 {words}"));
    let case = plan(&BENCHMARK, changed, machine(3))?.remove(0);
    let records = trial(&case, &fake.library())?;
    let measures = BENCHMARK.reduce(&case, &records)?;
    Ok((records, measures))
}

#[test]
fn every_operation_delivers_what_it_says_on_every_rank() {
    for operation in OPERATIONS {
        let (records, measures) = measured(&[SMALL, ("operation", operation)], "")
            .unwrap_or_else(|why| panic!("{operation}: {why}"));
        for record in &records {
            assert!(
                matches!(record.integrity, Integrity::Verified { .. }),
                "{operation} on rank {}: {:?}",
                record.index,
                record.integrity
            );
        }
        assert!(median(&measures, "busbw") > 0.0, "{operation}");
        assert_eq!(measures.series["by_rank"].len(), 3);
    }
}

#[test]
fn rates_are_bytes_over_the_time_that_the_device_tells() {
    // 10 us and 64 KiB at 32 B/ns.
    let (_, measures) = measured(&[SMALL], "busbw=32").expect("measured");
    let ns = 10_000.0 + 65536.0 / 32.0;
    let close = |metric: &str, wanted: f64| {
        let found = median(&measures, metric);
        assert!((found / wanted - 1.0).abs() < 1e-3, "{metric}: {found} is not {wanted}");
    };
    close("algbw", 65536.0 / ns);
    close("busbw", 65536.0 / ns * 4.0 / 3.0);
    close("latency", ns / 1e3);
}

#[test]
fn a_sweep_has_a_row_for_each_size_that_fits() {
    // A quarter of 256 MiB holds 16 MiB twice, and not 128 MiB.
    let case = plan(&BENCHMARK, &[], machine(3)).expect("a plan").remove(0);
    let sizes = super::plan::sizes_of(&case).expect("sizes");
    assert_eq!((sizes.len(), sizes.last()), (8, Some(&(16 << 20))));
}

#[test]
fn a_wrong_element_is_corrupt_data_of_its_rank() {
    for operation in OPERATIONS.iter().filter(|name| **name != "reduce") {
        let (records, _) = measured(&[SMALL, ("operation", operation)], "nccl_flip=1").expect("measured");
        let Integrity::Corrupt { wrong, first, .. } = &records[1].integrity else {
            panic!("{operation}: {:?}", records[1].integrity)
        };
        assert!(
            *wrong > 0 && first.contains("rank 1 (GPU 0000:11:00.0), size 65536 B: element 0"),
            "{first}"
        );
        assert!(matches!(records[0].integrity, Integrity::Verified { .. }), "{operation}");
    }
}

#[test]
fn a_library_that_refuses_is_told_with_its_words() {
    let refused = |words: &str| measured(&[SMALL], words).expect_err("refused");
    let joining = refused("fail=ncclCommInitRank:5");
    assert!(
        joining.text.contains("joining the other ranks: ncclCommInitRank: invalid usage (5)"),
        "{joining}"
    );
    assert!(joining.text.contains("as planned by the test; NCCL_DEBUG=INFO tells more"), "{joining}");
    assert!(refused("fail=ncclGetUniqueId:2").text.contains("rank 0 (0000:10:00.0): making the rendezvous"));
}

#[test]
fn without_the_library_it_is_missing_and_with_one_gpu_there_is_nothing_to_do() {
    let case =
        plan(&BENCHMARK, &[("library", "/nowhere/libnccl.so.2")], machine(2)).expect("a plan").remove(0);
    let fake = Fake::new("devices=2");
    // The driver is there, and the file that the parameter names is not.
    let error = part::open(&case.params, None).expect_err("no library");
    assert_eq!(error.cause, Cause::Missing);
    assert!(error.text.contains("/nowhere/libnccl.so.2 not found"), "{error}");
    drop(fake);
    assert_eq!(plan(&BENCHMARK, &[], machine(1)).expect_err("one GPU").cause, Cause::Inapplicable);
    assert_eq!(plan(&BENCHMARK, &[("gpus", "4")], machine(2)).expect_err("two").cause, Cause::Missing);
}

#[test]
fn between_nodes_the_ports_are_the_limit() {
    use seatrial_model::machine::{Hca, HcaPort, Known, Nic, NicKind};
    let word = |text: &str| Known::Known(text.to_owned());
    let port = |rate: f64| HcaPort {
        state: word("ACTIVE"),
        link_layer: word("Ethernet"),
        rate_gbit_s: Known::Known(rate),
        ..HcaPort::default()
    };
    let hca = |rate| Hca { name: "mlx5_0".to_owned(), ports: vec![port(rate)], ..Hca::default() };
    let card = |speed: Known<u64>| Nic {
        name: "eth0".to_owned(),
        kind: NicKind::Physical,
        up: Known::Known(true),
        speed_mbit_s: speed,
        ..Nic::default()
    };
    let limit = |operation: &str, machines: [seatrial_model::machine::Machine; 2]| {
        let names = ["n1", "n2"].into_iter().zip(machines);
        let site = Site { nodes: names.map(|(name, machine)| SiteNode::new(name, machine)).collect() };
        let params = crate::rig::params(&BENCHMARK, &[("operation", operation)]);
        let case = BENCHMARK.plan(&params, &site).expect("a plan").remove(0);
        let limits = BENCHMARK.limits(&case, &site);
        let (_, limit) = limits.iter().find(|(metric, _)| *metric == "busbw").expect("a limit");
        limit.tightest(Better::Higher).map(|bound| (bound.value.base() / 1e9 * 1e3).round() / 1e3)
    };
    let with = |hcas: &[f64], cards: &[Known<u64>]| {
        let mut one = machine(8);
        one.hcas = Known::Known(hcas.iter().copied().map(hca).collect());
        one.nics = Known::Known(cards.iter().cloned().map(card).collect());
        one
    };
    // Eight ports of 400 Gbit/s are 400 GB/s; the second node has one port less.
    let both = || [with(&[400.0; 8], &[]), with(&[400.0; 7], &[])];
    assert_eq!(limit("all_reduce", both()), Some(656.25));
    assert_eq!(limit("all_to_all", both()), Some(82.031));
    assert_eq!(limit("broadcast", both()), Some(350.0));
    let cards =
        |speed: Known<u64>| limit("broadcast", [with(&[], &[Known::Known(100_000)]), with(&[], &[speed])]);
    assert_eq!(cards(Known::Known(25_000)), Some(3.125));
    assert_eq!(cards(Known::unknown("no driver tells it")), None);
    assert_eq!(limit("broadcast", [with(&[], &[]), with(&[], &[])]), None);
}

#[test]
fn the_limit_is_the_links_of_a_gpu() {
    let site = site(machine(2));
    let case = plan(&BENCHMARK, &[], machine(2)).expect("a plan").remove(0);
    let limits = BENCHMARK.limits(&case, &site);
    let (_, limit) = limits.iter().find(|(metric, _)| *metric == "busbw").expect("a limit");
    let spec = BENCHMARK.about.metric("busbw").expect("a metric");
    assert_eq!(limit.record(spec.better, spec.unit).expect("a rate").value, Some(500.0));
}
