//! What every benchmark owes: walked over the registry, so that a new one is held to it without a line here.

use seatrial_bench::{Benchmark, VERIFY, VERIFY_BLOCKS};
use seatrial_model::machine::{
    Cpu, CpuThread, Device, Disk, DiskBus, Gpu, Hca, HcaPort, Known, Machine, Memory, NumaNode,
};
use seatrial_model::{Case, Parts, Site, SiteNode};
use seatrial_registry::REGISTRY;

/// A plain machine of two cores, a disk, an RDMA port and two GPUs, of which enough is known to plan on.
fn machine() -> Machine {
    let thread = |id| CpuThread { node: Some(0), l3: Some(0), ..seatrial_testkit::thread(id) };
    // Parts are made for real, so the instruction sets are those of the processor that makes them.
    let isa = seatrial_sys::isa::features().into_iter().map(str::to_owned).collect();
    let gigabytes = |count: u64| Known::Known(count << 30);
    let port = HcaPort { number: 1, state: Known::Known("ACTIVE".to_owned()), ..HcaPort::default() };
    let gpu = |index| Gpu { index, vendor: Known::Known("NVIDIA".to_owned()), ..Gpu::default() };
    Machine {
        cpu: Cpu { isa: Known::Known(isa), threads: vec![thread(0), thread(1)], ..Cpu::default() },
        numa: vec![NumaNode {
            cpus: vec![0, 1],
            total_bytes: gigabytes(8),
            available_bytes: gigabytes(6),
            ..NumaNode::default()
        }],
        memory: Memory { effective_available_bytes: gigabytes(6), ..Memory::default() },
        disks: Known::Known(vec![Disk { name: "sda".to_owned(), bus: DiskBus::Sata, ..Disk::default() }]),
        hcas: Known::Known(vec![Hca { name: "mlx5_0".to_owned(), ports: vec![port], ..Hca::default() }]),
        gpus: Known::Known(vec![gpu(0), gpu(1)]),
        ..Machine::default()
    }
}

fn site(machine: Machine) -> Site {
    Site { nodes: vec![SiteNode::new("n1", machine)] }
}

/// A site on which `bench` has a case.
fn site_of(bench: &Benchmark) -> Site {
    let mut site = site(machine());
    if matches!(bench.about.parts, Parts::TwoOrMore(_)) {
        site.nodes.push(SiteNode::new("n2", machine()));
    }
    site
}

#[test]
fn an_alias_is_no_benchmark_and_sets_something_that_its_benchmark_takes() {
    for alias in REGISTRY.aliases() {
        let bench = REGISTRY.find(alias.bench).unwrap_or_else(|| panic!("{}", alias.id));
        assert!(alias.pattern.is_some() || !alias.params.is_empty(), "{}", alias.id);
        for (name, value) in alias.params {
            let spec = bench.about.param(name).unwrap_or_else(|| panic!("{}: {name}", alias.id));
            assert!(spec.parse(value).is_ok(), "{}: {name}={value}", alias.id);
        }
        assert!(REGISTRY.find(alias.id).is_none(), "{}", alias.id);
        assert!(REGISTRY.planned.iter().all(|planned| planned.id != alias.id), "{}", alias.id);
        assert!(alias.doc.ends_with('.') && !alias.title.ends_with('.'), "{}", alias.id);
    }
}

#[test]
fn ids_are_family_dot_test_and_unique() {
    let registry = REGISTRY;
    let mut ids: Vec<&str> = registry.abouts().map(|about| about.id).collect();
    ids.extend(registry.planned.iter().map(|planned| planned.id));
    for id in &ids {
        let (family, test) = id.split_once('.').unwrap_or_else(|| panic!("{id} is not family.test"));
        let plain = |word: &str| {
            !word.is_empty() && word.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_')
        };
        assert!(plain(family) && plain(test), "{id}");
    }
    let count = ids.len();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), count, "an id stands twice");
}

#[test]
fn verification_is_the_same_parameter_everywhere_and_full_by_default() {
    for about in REGISTRY.abouts() {
        if let Some(spec) = about.param(VERIFY.name) {
            assert!([VERIFY, VERIFY_BLOCKS].contains(spec) && spec.default == "full", "{}", about.id);
        }
    }
}

#[test]
fn every_definition_is_documented() {
    for about in REGISTRY.abouts() {
        let id = about.id;
        assert!(about.doc.starts_with(&format!("# {id}\n")), "{id}: the page starts with its id");
        for section in
            ["## What is measured", "## How", "## Limit", "## What a bad number usually means", "## Cost"]
        {
            assert!(about.doc.contains(section), "{id}: the page has no '{section}'");
        }
        assert!(!about.checks.is_empty(), "{id}: nothing to check when a result is bad");
        for check in about.checks {
            let action = &check.action;
            assert!(action.starts_with(char::is_lowercase) && !action.ends_with('.'), "{id}: {action}");
            // Three lines of a thing to act on.
            assert!(check.to_string().chars().count() <= 180, "{id}: {action}");
        }
        assert!(
            !about.metrics.is_empty() && !about.parts.names().is_empty() && about.cost.seconds > 0,
            "{id}"
        );
        let docs = about.params.iter().map(|spec| (spec.name, spec.doc));
        let docs = docs.chain(about.metrics.iter().map(|metric| (metric.name, metric.doc)));
        for (name, doc) in docs.chain(about.series.iter().map(|series| (series.name, series.doc))) {
            assert!(doc.ends_with('.') && doc.len() > 10, "{id}: '{name}' has no sentence");
        }
        for series in about.series {
            assert!(!series.axes.is_empty(), "{id}: series '{}' has no axis", series.name);
        }
    }
}

#[test]
fn every_probe_asked_for_exists() {
    for about in REGISTRY.abouts() {
        for id in about.probes {
            assert!(seatrial_sys::probe::probe(id).is_some(), "{}: there is no probe '{id}'", about.id);
        }
    }
}

#[test]
fn every_default_parses() {
    for about in REGISTRY.abouts() {
        for spec in about.params {
            // Panics with the name when the definition contradicts itself.
            let _ = spec.default_value();
        }
    }
}

#[test]
fn a_profile_may_select_by_every_fact_of_a_case() {
    for bench in REGISTRY.benchmarks() {
        for case in bench.plan(&bench.about.defaults(), &site(machine())).unwrap_or_default() {
            let names: Vec<&str> =
                case.facts.iter().map(|(name, _)| name).filter(|name| *name != "kind").collect();
            let known = case.facts.text("kind").ok().and_then(Device::facts_of).unwrap_or_default();
            assert!(names.iter().all(|name| known.contains(name)), "{}: {names:?}", case.id);
        }
    }
}

#[test]
fn every_plan_refuses_a_scheduling_class_that_does_not_exist() {
    for bench in REGISTRY.benchmarks() {
        let mut params = bench.about.defaults();
        params.set("sched", "fifo");
        let reason = bench.plan(&params, &site(machine())).expect_err(bench.about.id);
        assert!(reason.text.starts_with("sched=fifo is neither 'other' nor 'fifo:N'"), "{reason}");
    }
}

#[test]
fn every_case_survives_the_wire_and_has_a_limit_or_a_reason_for_every_metric() {
    for bench in REGISTRY.benchmarks() {
        let (about, site) = (bench.about, site_of(bench));
        let cases = bench
            .plan(&bench.about.defaults(), &site)
            .unwrap_or_else(|reason| panic!("{}: {reason}", about.id));
        assert!(!cases.is_empty(), "{}: an empty plan without a reason", about.id);
        for case in cases {
            let wire = serde_json::to_string(&case).expect("serialises");
            assert_eq!(serde_json::from_str::<Case>(&wire).expect("reads"), case, "{}", about.id);
            let limits = bench.limits(&case, &site);
            for metric in about.metrics {
                let limit = limits
                    .get(metric.name)
                    .unwrap_or_else(|| panic!("{}: no limit for {}", about.id, metric.name));
                limit.record(metric.better, metric.unit).expect("of the metric's dimension");
            }
            for place in &case.places {
                assert!(
                    about.parts.names().contains(&place.part.as_str()),
                    "{}: part {}",
                    about.id,
                    place.part
                );
            }
        }
    }
}

#[test]
fn an_empty_machine_is_told_with_a_reason_and_never_panics() {
    for bench in REGISTRY.benchmarks() {
        let reason = bench.plan(&bench.about.defaults(), &site(Machine::default()));
        let reason = reason.expect_err("nothing is known of the machine, so nothing can be planned");
        assert!(reason.text.len() > 10, "{}: {reason}", bench.about.id);
    }
}

#[test]
fn no_samples_make_no_number() {
    for bench in REGISTRY.benchmarks() {
        for case in bench.plan(&bench.about.defaults(), &site_of(bench)).expect("a plan") {
            assert!(bench.reduce(&case, &[]).is_err(), "{}: numbers from nothing", bench.about.id);
        }
    }
}
