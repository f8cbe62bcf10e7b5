//! The shipped profile `host` on records made by hand: a sound machine of 2014, one fault at a time, and a virtual machine that
//! shows next to nothing.

use std::collections::BTreeMap;

use jiff::civil::date;
use seatrial_analysis::{Assignment, JudgeInputs, Judgement, judge};
use seatrial_model::machine::Machine;
use seatrial_model::profile::{Criterion, Profile};
use seatrial_model::record::{CaseRecord, MetricRecord, Summary};
use seatrial_model::setting::{Present, SettingReading};
use seatrial_model::{
    Bound, Budget, Case, Cause, Limit, LimitRecord, Nanos, Quantity, Reason, Site, SiteNode, Subject, Value,
    Verdict,
};

use super::load;

/// What a sound machine measures, what a faulty one does, and the limit where the criterion needs one.
const NUMBERS: &[(&str, &str, &str, &str)] = &[
    ("memory-read", "48 GB/s", "34 GB/s", "68.3 GB/s"),
    ("memory-copy", "40 GB/s", "20 GB/s", "68.3 GB/s"),
    ("memory-triad", "40 GB/s", "20 GB/s", "68.3 GB/s"),
    ("basic-memory-read", "48 GB/s", "4 GB/s", "68.3 GB/s"),
    ("basic-core-bandwidth", "10 GB/s", "2 GB/s", ""),
    ("basic-cores-alike", "96 %", "80 %", ""),
    ("basic-slowest-core-bandwidth", "96 %", "30 %", ""),
    ("basic-memory-gain", "4.5", "0.5", ""),
    ("basic-slowest-core", "98 %", "85 %", ""),
    ("basic-l1-latency", "1.3 ns", "5 ns", ""),
    ("basic-l2-latency", "4 ns", "40 ns", ""),
    ("basic-memory-latency", "95 ns", "600 ns", ""),
    ("basic-numa-distance", "150 %", "70 %", ""),
    ("basic-loopback-stream", "20 Gbit/s", "1 Gbit/s", ""),
    ("basic-loopback-latency", "30 us", "2 ms", ""),
    ("basic-file-write", "120 MB/s", "5 MB/s", ""),
    ("gpu-host-to-device", "11 GB/s", "5 GB/s", "15.2 GB/s"),
    ("gpu-device-to-host", "11 GB/s", "5 GB/s", "15.2 GB/s"),
    ("gpu-memory-copy", "240 GB/s", "100 GB/s", "288 GB/s"),
];

/// What a sound machine shows, and what a faulty one does.
fn states() -> Vec<(&'static str, Value, Value)> {
    let flag = |id, sound| (id, Value::Flag(sound), Value::Flag(!sound));
    let count = |id, sound, faulty| (id, Value::Count(sound), Value::Count(faulty));
    let rate = |id, sound, faulty| (id, Value::Number(sound), Value::Number(faulty));
    vec![
        count("state.memory_uncorrected", 0, 1),
        rate("state.memory_corrected", 0.3, 24.0),
        flag("state.machine_check", false),
        flag("state.bad_page", false),
        count("state.pcie_fatal", 0, 2),
        count("state.pcie_nonfatal", 0, 2),
        rate("state.pcie_correctable", 12.0, 50_000.0),
        rate("state.thermal_throttling", 0.0, 300.0),
        flag("state.kernel_oops", false),
        flag("state.kernel_warning", false),
        flag("state.soft_lockup", false),
        flag("state.clock_synchronised", true),
        ("state.clock_offset", Nanos(0).into(), Nanos::secs(3).into()),
        rate("state.space_used", 60.0, 98.5),
        rate("state.inodes_used", 2.0, 100.0),
        flag("state.became_read_only", false),
        count("state.file_system_errors", 0, 3),
        rate("state.carrier_losses", 2.0, 40.0),
        rate("state.rdma_link_downed", 0.1, 40.0),
        flag("state.gpu_remap_pending", false),
        flag("state.gpu_remap_failed", false),
        count("state.gpu_uncorrected", 0, 1),
        count("state.gpu_xids", 0, 2),
        flag("state.fstab_mounted", true),
        flag("state.nvme_warning", false),
        rate("state.nvme_used", 12.0, 130.0),
        count("state.nvme_media_errors", 0, 3),
        flag("state.optics_alarm", false),
        rate("state.nic_crc_errors", 0.0, 90_000.0),
        count("state.gpu_pages_retired", 4, 62),
        ("kernel.clocksource", "tsc".into(), "hpet".into()),
        ("cpu.governor", "schedutil".into(), "powersave".into()),
        flag("net.ipv4.tcp_window_scaling", true),
        flag("net.rmem_consistent", true),
        flag("net.wmem_consistent", true),
    ]
}

fn host() -> Profile {
    let source = seatrial_profile::Source::Shipped("host".to_owned());
    load(&source, date(2026, 3, 1)).unwrap_or_else(|found| panic!("{}", found.render(false))).profile
}

/// A machine of which `id`, a criterion or setting, is faulty.
fn machine(profile: &Profile, faulty: Option<&str>) -> (Vec<CaseRecord>, Vec<SettingReading>) {
    let mut cases: BTreeMap<(String, String), CaseRecord> = BTreeMap::new();
    let rows = NUMBERS.iter().map(|row| (criterion(profile, row.0), row));
    // A metric with two criteria has the number of the faulty one.
    let (last, first): (Vec<_>, Vec<_>) = rows.partition(|(_, row)| Some(row.0) == faulty);
    for (criterion, (id, sound, bad, limit)) in first.into_iter().chain(last) {
        let key = (criterion.test.clone(), criterion.cases.to_string());
        let case = cases.entry(key).or_insert_with(|| CaseRecord::measured(&case(profile, criterion)));
        let number = if Some(*id) == faulty { bad } else { sound };
        case.metrics.insert(criterion.metric.clone(), metric(criterion, profile, number, limit));
    }
    let present = |(id, sound, bad): (&str, Value, Value)| {
        reading(id, Present::Value(if Some(id) == faulty { bad } else { sound }))
    };
    (cases.into_values().collect(), states().into_iter().map(present).collect())
}

fn criterion<'a>(profile: &'a Profile, id: &str) -> &'a Criterion {
    profile
        .criteria
        .iter()
        .find(|criterion| criterion.id == id)
        .unwrap_or_else(|| panic!("no criterion {id}"))
}

fn bench_of(profile: &Profile, criterion: &Criterion) -> &'static seatrial_model::About {
    let test = profile.tests.iter().find(|test| test.id == criterion.test).expect("a test");
    seatrial_registry::REGISTRY.find(&test.bench).expect("a benchmark").about
}

fn case(profile: &Profile, criterion: &Criterion) -> Case {
    let about = bench_of(profile, criterion);
    let case = Case::new(about, "n1", Subject::node(), &criterion.cases, Budget::NOTHING);
    case.in_group(about, &criterion.test)
}

fn metric(criterion: &Criterion, profile: &Profile, number: &str, limit: &str) -> MetricRecord {
    let spec = bench_of(profile, criterion).metric(&criterion.metric).expect("a metric");
    let value = number.parse::<Quantity>().and_then(|number| number.to(spec.unit)).expect("a number").value();
    let limit = match limit.parse() {
        Ok(value) => {
            let bound = Bound {
                value,
                formula: "a data sheet".to_owned(),
                provenance: "dmi".to_owned(),
                nominal: None,
            };
            Limit::Chain(vec![bound]).record(spec.better, spec.unit).expect("of the unit")
        }
        Err(_) => LimitRecord::unknown("nothing bounds it"),
    };
    let summary = Summary { ci95: Some((value * 0.999, value * 1.001)), ..seatrial_testkit::summary(value) };
    MetricRecord { converged: true, ..MetricRecord::new(spec.unit, spec.better, &summary, limit) }
}

fn reading(id: &str, present: Present) -> SettingReading {
    let settings = seatrial_settings::registry();
    let about = settings.abouts().find(|about| about.id == id).unwrap_or_else(|| panic!("no setting {id}"));
    SettingReading::new(about, Subject::node(), present).with_fact("active", Value::Flag(false))
}

fn judged(profile: &Profile, (records, settings): &(Vec<CaseRecord>, Vec<SettingReading>)) -> Judgement {
    let names = ["n1".to_owned()];
    let node = SiteNode { settings: settings.clone(), ..SiteNode::new("n1", Machine::default()) };
    let inputs = JudgeInputs {
        typed: &profile.id,
        nodes: &Assignment::new(profile, &names, &BTreeMap::new()),
        records,
        reference: None,
        site: &Site { nodes: vec![node] },
        settings: &[],
        today: date(2026, 3, 1),
    };
    judge(profile, &inputs)
}

/// Verdicts other than `pass`, by criterion.
fn not_passed(judgement: &Judgement) -> Vec<(&str, Verdict)> {
    let all = judgement.verdicts.iter().map(|record| (record.criterion.as_str(), record.verdict));
    all.filter(|(_, verdict)| *verdict != Verdict::Pass).collect()
}

#[test]
fn a_sound_machine_of_2014_passes_every_criterion_and_setting() {
    let profile = host();
    let judgement = judged(&profile, &machine(&profile, None));
    assert_eq!(not_passed(&judgement), []);
    assert_eq!(judgement.verdicts.len(), profile.criteria.len() + profile.settings.len());
    assert_eq!((NUMBERS.len(), states().len()), (profile.criteria.len(), profile.settings.len()));
}

#[test]
fn each_fault_misses_its_criterion_or_setting() {
    let profile = host();
    let ids = NUMBERS.iter().map(|row| row.0).chain(states().into_iter().map(|row| row.0));
    for id in ids {
        let judgement = judged(&profile, &machine(&profile, Some(id)));
        let wanted = match profile.criteria.iter().find(|criterion| criterion.id == id) {
            Some(criterion) => criterion.missed.verdict(),
            None => profile.settings.iter().find(|rule| rule.id == id).expect("a rule").missed.verdict(),
        };
        let found = not_passed(&judgement);
        assert!(found.contains(&(id, wanted)), "{id}: {found:?}");
        // Two criteria may judge one metric.
        assert!(found.len() <= 2, "{id}: {found:?}");
    }
}

#[test]
fn what_a_virtual_machine_cannot_tell_is_skipped() {
    let profile = host();
    let (records, _) = machine(&profile, None);
    let hidden = |mut record: CaseRecord| {
        record
            .metrics
            .values_mut()
            .for_each(|metric| metric.limit = LimitRecord::unknown("no DIMM is visible"));
        record
    };
    let gone = Reason::new(Cause::Inapplicable, "there is no GPU and one NUMA node");
    let is_gone = |id: &str| id.starts_with("gpu") || id == "basic-numa-distance";
    let kept = records.into_iter().map(hidden).filter(|record| {
        !profile.criteria.iter().any(|criterion| is_gone(&criterion.id) && criterion.test == record.group)
    });
    let skipped = profile.criteria.iter().filter(|criterion| is_gone(&criterion.id));
    let skipped = skipped.map(|criterion| CaseRecord::without_numbers(&case(&profile, criterion), &gone));
    let records = kept.chain(skipped).collect();
    let absent = |(id, ..): (&str, _, _)| reading(id, Present::Absent("the host has it".to_owned()));
    let judgement = judged(&profile, &(records, states().into_iter().map(absent).collect()));
    let verdicts: Vec<_> =
        not_passed(&judgement).into_iter().filter(|(_, it)| *it != Verdict::Skip).collect();
    assert_eq!(verdicts, []);
    assert_eq!(judgement.verdict, Some(Verdict::Pass));
    let passed = judgement.verdicts.iter().filter(|record| record.verdict == Verdict::Pass);
    assert!(passed.map(|record| record.criterion.as_str()).all(|id| id.starts_with("basic-")));
}
