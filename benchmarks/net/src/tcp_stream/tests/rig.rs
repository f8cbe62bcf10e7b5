//! Two nodes in this process, and a case between them.

use std::collections::BTreeMap;
use std::time::Duration;

use seatrial_model::machine::{Known, Nic, NicKind};
use seatrial_model::{Case, Integrity, Measures, Params, PartRecord, Phase, Reason, Site, SiteNode};

use super::super::BENCHMARK;
use super::super::config::TcpStreamConfig;
use super::super::part::prepare_with;
use crate::rig;
pub use seatrial_bench::testing::{Enter, Kept};
use seatrial_bench::testing::{at_once, prepare_all};
use seatrial_bench::{Offer, Part, Running, Stop};

pub fn node(name: &str) -> SiteNode {
    seatrial_testkit::node(name, 4)
}

pub fn with_card(name: &str, mtu: u64) -> SiteNode {
    let mut node = node(name);
    node.machine.nics = Known::Known(vec![Nic {
        name: "eth0".to_owned(),
        kind: NicKind::Physical,
        up: Known::Known(true),
        speed_mbit_s: Known::Known(10_000),
        mtu: Known::Known(mtu),
        link_layer: Known::Known("ethernet".to_owned()),
        networks: Known::Known(vec!["10.0.0.0/8".to_owned()]),
        ..Nic::default()
    }]);
    node
}

pub fn params(changed: &[(&str, &str)]) -> Params {
    rig::params(&BENCHMARK, changed)
}

pub fn planned(nodes: Vec<SiteNode>, changed: &[(&str, &str)]) -> Case {
    BENCHMARK.plan(&params(changed), &Site { nodes }).expect("a plan").remove(0)
}

/// A case on any CPU: the test machine may have one, or a set without CPU 0.
pub fn alone(changed: &[(&str, &str)]) -> Case {
    rig::anywhere(planned(vec![node("n1")], changed))
}

pub fn pair_of_nodes(changed: &[(&str, &str)]) -> Case {
    rig::anywhere(planned(vec![node("n1"), node("n2")], changed))
}

/// The case with a separate CPU for each end, if two are allowed.
pub fn placed(mut case: Case) -> Case {
    let allowed: Vec<u32> =
        seatrial_sys::affinity::allowed().map_or_else(|_| Vec::new(), |cpus| cpus.iter().collect());
    if let [first, .., last] = allowed.as_slice() {
        for (place, cpu) in case.places.iter_mut().zip([*first, *last]) {
            place.bindings = vec![seatrial_model::Binding { cpu, node: 0, domain: 0, memory: None }];
        }
    }
    case
}

pub struct Both {
    pub case: Case,
    pub client: Box<dyn Running>,
    pub server: Box<dyn Running>,
}

impl Both {
    pub fn connected(case: Case, change: impl Fn(&mut TcpStreamConfig)) -> Self {
        Self::connected_in(case, change, [&|| (), &|| ()])
    }

    /// Both ends, connected after `meddle` had the server's offer.
    pub fn connected_after(case: Case, meddle: impl Fn(&Offer)) -> Self {
        Self::connected_with(case, |_| (), [&|| (), &|| ()], meddle)
    }

    /// Both ends in two namespaces. A socket stays in the namespace of the thread that made it.
    pub fn connected_in(case: Case, change: impl Fn(&mut TcpStreamConfig), enter: [&Enter<'_>; 2]) -> Self {
        Self::connected_with(case, change, enter, |_| ())
    }

    fn connected_with(
        case: Case,
        change: impl Fn(&mut TcpStreamConfig),
        enter: [&Enter<'_>; 2],
        meddle: impl Fn(&Offer),
    ) -> Self {
        let parts = case.places.iter().map(|place| {
            let mut config = TcpStreamConfig::of(&case, place).expect("config");
            change(&mut config);
            Part::new(&case, place, |_, place| prepare_with(config, place))
        });
        let (parts, offers) = prepare_all(parts, &enter).expect("ready");
        meddle(&offers[1]);
        let ends = at_once(parts, &enter, |part| part.connect(&offers).expect("connected"));
        let [client, server] = ends.try_into().ok().expect("two ends");
        Self { case, client, server }
    }

    pub fn phase(&mut self, phase: Phase, span: Duration) -> [(Result<(), Reason>, Kept); 2] {
        let run = |part: &mut Box<dyn Running>| {
            let mut kept = Kept::default();
            (part.run(phase, &Stop::after(span), &mut kept), kept)
        };
        std::thread::scope(|scope| {
            let server = scope.spawn(|| run(&mut self.server));
            [run(&mut self.client), server.join().expect("joined")]
        })
    }

    /// Records of both ends after a measurement of this length and the check of the data, as trial 0.
    pub fn measured(mut self, span: Duration) -> Vec<PartRecord> {
        let warm_up = Duration::from_nanos(self.case.budget.warm_up.get());
        let warmed = self.phase(Phase::WarmUp, warm_up);
        let measured = self.phase(Phase::Measure, span);
        let checked = self.verified();
        let mut records = Vec::new();
        for ((place, (warm, measured)), integrity) in
            self.case.places.iter().zip(warmed.into_iter().zip(measured)).zip(checked)
        {
            warm.0.expect("warms up");
            measured.0.expect("measures");
            let mut evidence = warm.1.evidence;
            evidence.extend(measured.1.evidence);
            let kept = Kept { evidence, ..measured.1 };
            records.push(kept.record(place, integrity.expect("checks")));
        }
        records
    }

    /// Measures a case again until `enough` accepts its metrics, as other programs may take the CPUs for a whole
    /// measurement. Returns the records and metrics.
    pub fn measured_until(
        case: &Case,
        span: Duration,
        is_enough: impl Fn(&Measures) -> bool,
    ) -> (Vec<PartRecord>, Measures) {
        let mut seen = Vec::new();
        for _ in 0..40 {
            let records = Self::connected(case.clone(), |_| ()).measured(span);
            match BENCHMARK.reduce(case, &records) {
                Ok(measures) if is_enough(&measures) => return (records, measures),
                other => seen.push(other.map(|measures| measures.metrics)),
            }
        }
        panic!("{seen:#?}");
    }

    pub fn verified(&mut self) -> [Result<Integrity, Reason>; 2] {
        std::thread::scope(|scope| {
            let server = scope.spawn(|| self.server.verify());
            [self.client.verify(), server.join().expect("joined")]
        })
    }
}

pub fn assert_verified(records: &[PartRecord], what: &str) {
    for record in records {
        assert!(matches!(record.integrity, Integrity::Verified { .. }), "{what}: {:?}", record.integrity);
    }
    let checked = records.iter().map(|record| match record.integrity {
        Integrity::Verified { checked } => checked,
        _ => 0,
    });
    assert!(checked.sum::<u64>() > 0, "{what}: nothing was looked at");
}

pub fn metrics(case: &Case, records: &[PartRecord]) -> BTreeMap<String, Vec<f64>> {
    let measures = BENCHMARK.reduce(case, records).expect("numbers");
    measures.metrics.into_iter().map(|(name, values)| (name, values.trials.concat())).collect()
}
