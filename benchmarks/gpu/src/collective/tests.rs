//! Collective operations of ranks in threads, on the imitated driver and library.

use std::path::Path;
use std::time::Duration;

use seatrial_bench::testing::{Kept, at_once, connect_all, prepare_all};
use seatrial_bench::{Part, Sink, Stop};
use seatrial_model::{
    Better, Case, Cause, Integrity, Measures, Nanos, PartPlacement, PartRecord, Phase, Quantity, Reason,
    Sample, Site, SiteNode,
};
use seatrial_sys::affinity;
use seatrial_sys::cpuset::CpuSet;

use super::{BENCHMARK, operation::OPERATIONS, part};
use crate::rig::{Fake, machine, median, plan, site};

pub(super) const SMALL: (&str, &str) = ("size", "64 KiB");

/// Few operations fill a turn, on a busy machine too.
const SLOW: &str = "busbw=0.1";

fn parts(case: &Case, library: &Path) -> Vec<Part> {
    case.places.iter().map(|place| part::part(case, place, Some(library.to_owned()))).collect()
}

/// A trial of all ranks.
pub(super) fn trial(case: &Case, library: &Path) -> Result<Vec<PartRecord>, Reason> {
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
    logged(changed, words, "")
}

/// The same with this log of the library.
fn logged(changed: &[(&str, &str)], words: &str, log: &str) -> Result<(Vec<PartRecord>, Measures), Reason> {
    let fake = Fake::new(&format!("devices=3 apart=1 {words}"));
    if !log.is_empty() {
        std::fs::write(super::log::LogFile::of_imitation(&fake.library()).path(), log).expect("written");
    }
    let case = plan(&BENCHMARK, changed, machine(3))?.remove(0);
    let records = trial(&case, &fake.library())?;
    let measures = BENCHMARK.reduce(&case, &records)?;
    Ok((records, measures))
}

#[test]
fn every_operation_delivers_what_it_says_on_every_rank() {
    for operation in OPERATIONS {
        let (records, measures) = measured(&[SMALL, ("operation", operation)], SLOW)
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

/// The records of a trial, whatever its rates.
fn checked(changed: &[(&str, &str)], words: &str) -> Vec<PartRecord> {
    let fake = Fake::new(&format!("devices=3 apart=1 {words}"));
    let case = plan(&BENCHMARK, changed, machine(3)).expect("a plan").remove(0);
    trial(&case, &fake.library()).expect("a trial")
}

#[test]
fn every_type_and_place_is_verified() {
    for kind in super::item::TYPES {
        for operation in ["all_reduce", "all_gather", "reduce_scatter", "all_to_all"] {
            // Places differ in bytes only: two types show them.
            let has_places = operation != "all_to_all" && matches!(*kind, "fp32" | "bf16");
            for in_place in ["false", "true"].into_iter().take(1 + usize::from(has_places)) {
                let changed = [SMALL, ("type", kind), ("operation", operation), ("in_place", in_place)];
                let are_right = checked(&changed, "")
                    .iter()
                    .all(|record| matches!(record.integrity, Integrity::Verified { .. }));
                assert!(are_right, "{changed:?}");
            }
        }
        let changed = [SMALL, ("type", kind), ("in_place", "true")];
        let records = checked(&changed, "nccl_flip=1");
        assert!(matches!(records[1].integrity, Integrity::Corrupt { .. }), "{kind}");
    }
}

#[test]
fn parameters_that_exclude_each_other_are_refused() {
    let refused =
        |changed: &[(&str, &str)]| plan(&BENCHMARK, changed, machine(2)).expect_err("refused").cause;
    assert_eq!(refused(&[("operation", "all_to_all"), ("in_place", "true")]), Cause::Contradiction);
    assert_eq!(refused(&[("like", "nccl-tests"), ("pace", "one")]), Cause::Contradiction);
    assert_eq!(refused(&[("type", "fp64"), ("size", "4 B")]), Cause::Contradiction);
    assert_eq!(refused(&[("operation", "all_to_all"), ("algorithm", "tree")]), Cause::Contradiction);
    let of = |changed: &[(&str, &str)], version: &str| -> Vec<String> {
        let all = super::steer::variables(&crate::rig::params(&BENCHMARK, changed), version);
        all.into_iter().map(|(name, value)| format!("{name}={value}")).collect()
    };
    assert_eq!(of(&[], "2.28.9"), [""; 0]);
    let off = ["NCCL_P2P_DISABLE=1", "NCCL_SHM_DISABLE=1", "NCCL_ALGO=tree"];
    assert_eq!(of(&[("nvlink", "off"), ("algorithm", "tree")], "2.23.4"), off);
    assert_eq!(of(&[("algorithm", "tree")], "2.24.3"), ["NCCL_ALGO=ring;allreduce:tree"]);
    let scatter = [("operation", "reduce_scatter"), ("algorithm", "nvls")];
    assert_eq!(of(&scatter, "3.0.1"), ["NCCL_ALGO=ring;reducescatter:nvls"]);
}

/// Threads that NCCL starts meanwhile, such as those that drive network cards, must not share one CPU with the rank.
#[test]
fn ranks_join_on_all_permitted_cpus_and_measure_on_their_own() {
    let fake = Fake::new("devices=3 apart=1");
    let case = plan(&BENCHMARK, &[SMALL], machine(3)).expect("a plan").remove(0);
    let permitted = affinity::allowed().expect("read").to_string();
    let (ranks, offers) = prepare_all(parts(&case, &fake.library()), &[]).expect("prepared");
    let cpus = at_once(ranks, &[], |rank| {
        rank.connect(&offers).map(|_| affinity::allowed().expect("read")).expect("joined")
    });
    let noted = fake.library().with_file_name("joining").join(std::process::id().to_string());
    assert_eq!(std::fs::read_to_string(noted).expect("joined"), permitted);
    for (cpus, place) in cpus.into_iter().zip(&case.places) {
        assert_eq!(Some(cpus), place.cpu(0).map(CpuSet::of), "{place:?}");
    }
}

#[test]
fn like_nccl_tests_makes_runs_of_twenty_by_the_host_s_clock() {
    let records = checked(&[SMALL, ("like", "nccl-tests")], "");
    let samples = records[0].samples.iter().filter(|sample| sample.channel == part::RUNS);
    let runs: Vec<_> = samples.map(|sample| sample.amount.value()).collect();
    assert!(!runs.is_empty() && runs.iter().all(|count| *count == 20.0), "{runs:?}");
    assert!(matches!(records[0].integrity, Integrity::Verified { .. }));
}

const LOG: &str = "\
n1:7:7 [0] NCCL INFO Using network IB
n1:7:7 [0] NCCL INFO Channel 00/0 : 0[0] -> 1[1] via P2P/CUMEM
n1:7:7 [0] NCCL INFO Channel 00/0 : 1[1] -> 2[2] [send] via NET/IB/0
n1:7:7 [0] NCCL INFO 16 coll channels, 16 collnet channels, 0 nvls channels, 16 p2p channels, 2 p2p channels per peer
n1:7:7 [0] NCCL INFO AllReduce: 65536 Bytes -> Algo RING proto LL128 channel{Lo..Hi}={0..7}
";

fn kinds(measures: &Measures) -> Vec<&str> {
    let ours = ["nccl-over-sockets", "nccl-without-gdr", "nvls-not-used", "rank-behind", "drops-at-size"];
    measures.findings.iter().map(|one| one.kind.as_str()).filter(|kind| ours.contains(kind)).collect()
}

#[test]
fn what_the_library_logs_is_evidence_and_its_absence_none() {
    let (_, measures) = logged(&[SMALL], SLOW, LOG).expect("measured");
    let told = &measures.evidence["nccl_log"];
    assert_eq!(told["network"], "IB");
    assert_eq!(told["transports"], serde_json::json!(["NET/IB", "P2P"]));
    assert_eq!(told["channels"], 16);
    let choice = &told["choices"][0];
    assert_eq!((&choice["algorithm"], &choice["protocol"]), (&"RING".into(), &"LL128".into()));
    assert_eq!(kinds(&measures), ["nccl-without-gdr"]);
    let (_, measures) = measured(&[SMALL], SLOW).expect("measured");
    assert!(!measures.evidence.contains_key("nccl_log"));
    assert_eq!(kinds(&measures), [] as [&str; 0]);
}

/// Records of three ranks with six turns of each size; `ns` tells how long an operation takes.
fn records(case: &Case, ns: impl Fn(u64, u64) -> u64) -> Vec<PartRecord> {
    let of_place = |place: &PartPlacement| {
        let mut kept = Kept::default();
        for (slice, size) in (0..6).flat_map(|turn| [64, 512, 4096].map(|size| (3 * turn + size % 7, size))) {
            let rank = u64::from(place.index);
            let at = [("rank", rank.into()), ("size", size.into()), ("slice", slice.into())].into();
            let span = (Nanos(0), Nanos(ns(rank, size)));
            kept.sample(Sample::new(part::RUNS, at, span, Quantity::count(1)));
        }
        kept.record(place, Integrity::Verified { checked: 1 })
    };
    case.places.iter().map(of_place).collect()
}

#[test]
fn a_rank_that_all_wait_for_and_a_size_that_is_slow_are_told() {
    let case = plan(&BENCHMARK, &[], machine(3)).expect("a plan").remove(0);
    let told = |ns: fn(u64, u64) -> u64| {
        let measures = BENCHMARK.reduce(&case, &records(&case, ns)).expect("figures");
        kinds(&measures).into_iter().map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(told(|_, size| 1000 + size), [] as [&str; 0]);
    assert_eq!(told(|rank, size| 1000 + size - if rank == 1 { 900 } else { 0 }), ["rank-behind"]);
    assert_eq!(told(|_, size| if size == 512 { 20_000 } else { 1000 }), ["drops-at-size"]);
}

#[test]
fn like_nccl_tests_takes_the_mean_over_ranks() {
    let figures = |like: &str| {
        let case = plan(&BENCHMARK, &[("like", like)], machine(3)).expect("a plan").remove(0);
        let measures =
            BENCHMARK.reduce(&case, &records(&case, |rank, _| 1000 * (rank + 1))).expect("figures");
        median(&measures, "latency")
    };
    assert_eq!((figures("none"), figures("nccl-tests")), (3.0, 2.0));
}

#[test]
fn rates_are_bytes_over_the_time_that_the_device_tells() {
    // 10 us and 64 KiB at 0.1 B/ns.
    let (_, measures) = measured(&[SMALL], SLOW).expect("measured");
    let ns = 10_000.0 + 65536.0 / 0.1;
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
        let records = checked(&[SMALL, ("operation", operation)], "nccl_flip=1");
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
    let joining = refused("fail=ncclCommInitRank:3");
    assert!(
        joining.text.contains("joining the other ranks: ncclCommInitRank: internal error (3)"),
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
    // The links of a GPU bind first: 500 GB/s, of 8 GPUs one sends over the ports instead.
    assert_eq!(limit("all_reduce", both()), Some(571.429));
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

#[test]
fn each_size_has_its_row_in_every_column_and_operations_are_timed_one_by_one() {
    let (_, measures) = measured(&[SMALL, ("operation", "all_gather")], SLOW).expect("measured");
    let only = |name: &str| {
        let rows = &measures.series[name];
        assert_eq!(rows.len(), 1, "{name}");
        rows[0].values.trials.concat()[0]
    };
    // A third of the size for each of three ranks, in whole multiples of 16 bytes.
    assert_eq!(only("count_by_size"), 65536.0 / 16.0 / 3.0 * 4.0 - 4.0 / 3.0);
    assert_eq!(only("wrong_by_size"), 0.0);
    assert!((only("algbw_by_size") * 2.0 / 3.0 / only("curve") - 1.0).abs() < 1e-9);
    let each = &measures.series["by_iteration"];
    assert_eq!(each.len(), 20);
    for row in each {
        assert!((row.values.trials[0][0] / only("time_by_size") - 1.0).abs() < 1e-3, "{row:?}");
    }
}

#[test]
fn sizes_without_room_and_those_that_take_too_long_are_left_out_with_the_reason() {
    let told = |words: &str| {
        let fake = Fake::new(&format!("devices=3 apart=1 {words}"));
        let case = plan(&BENCHMARK, &[], machine(3)).expect("a plan").remove(0);
        let records = trial(&case, &fake.library()).expect("a trial");
        let measures = BENCHMARK.reduce(&case, &records).expect("figures");
        let finding = measures.findings.iter().find(|one| one.kind == "sizes-left-out").expect("told");
        (measures.evidence["largest"].as_u64(), finding.text.clone())
    };
    let (largest, text) = told(SLOW);
    assert_eq!(largest, Some(16 << 20));
    assert!(text.contains("8 GiB: a rank needs 16 GiB, and may take 64 MiB, a quarter"), "{text}");
    // 2 MiB take 2 s, 16 MiB would take 16: longer than a trial of 1 s.
    let (largest, text) = told("busbw=0.001");
    assert_eq!(largest, Some(2 << 20));
    assert!(text.contains("16 MiB: an operation would take longer than a trial"), "{text}");
}
