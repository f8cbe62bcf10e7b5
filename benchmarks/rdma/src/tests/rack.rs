//! Fake cards (`crates/sys/tests/fake_verbs`), and cases over them.

#[path = "../../../../crates/sys/tests/fake_verbs/compile.rs"]
mod compile;

use std::fs;
use std::time::Duration;

use compile::Fake;
use seatrial_model::{Case, Integrity, Measures, PartRecord, Phase, Reason, Site, SiteNode};
use seatrial_sys::root::SysRoot;

use super::device::trial;
use super::{node, planned_of, two_cards};
use seatrial_bench::testing::{Kept, connect_all};
use seatrial_bench::verbs::System;
use seatrial_bench::{Part, Running, Stop, find};

pub struct Rack {
    pub fake: Fake,
    /// A sysfs tree for the first end and one for the others, which differ in the addresses of their ports only.
    trees: [tempfile::TempDir; 2],
}

impl Rack {
    /// InfiniBand cards that are configured by `words`, all in one subnet.
    pub fn new(words: &str) -> Self {
        Self::between(words, ["fe80:0000:0000:0000"; 2])
    }

    pub fn between(words: &str, prefixes: [&str; 2]) -> Self {
        Self::of(words, "InfiniBand", prefixes.map(|prefix| format!("{prefix}:0000:0000:0000")))
    }

    /// RoCE v2 cards, which need a global header on every path and use no LID.
    pub fn roce(words: &str) -> Self {
        let networks = ["0a00", "0a01"].map(|network| format!("0000:0000:0000:0000:0000:ffff:{network}"));
        Self::of(&format!("layer=2 global=1 {words}"), "Ethernet", networks)
    }

    fn of(words: &str, layer: &str, networks: [String; 2]) -> Self {
        let tree = |network: String| {
            let folder = tempfile::tempdir().expect("a folder");
            for (number, card) in ["mlx5_0", "mlx5_1", "mlx5_2"].iter().enumerate() {
                let own = folder.path().join("sys/class/infiniband").join(card);
                fs::create_dir_all(own.join("ports/1/gids")).expect("made");
                fs::create_dir_all(own.join("ports/1/gid_attrs/types")).expect("made");
                let write = |name: &str, text: &str| fs::write(own.join(name), text).expect("written");
                write("ports/1/link_layer", &format!("{layer}\n"));
                write("ports/1/gids/0", &format!("{network}:000{}\n", number + 1));
                let kind = if layer == "Ethernet" { "RoCE v2" } else { "IB/RoCE v1" };
                write("ports/1/gid_attrs/types/0", &format!("{kind}\n"));
                // Both ends share a CPU here, so polling must yield it soon.
                write("node_desc", "rxe\n");
            }
            folder
        };
        Self { fake: Fake::new(words), trees: networks.map(tree) }
    }

    pub fn system(&self, end: usize) -> System {
        let root = SysRoot::at(self.trees[end.min(1)].path());
        System { library: Some(self.fake.library()), root }
    }

    pub fn parts(&self, case: &Case) -> Vec<Part> {
        let bench = find(crate::BENCHMARKS, &case.bench).expect("there");
        let part = |(end, place)| {
            let system = self.system(end);
            let part = bench.part(case, place);
            Part::new(case, place, move |_, _| system.instead(|| part.prepare()))
        };
        case.places.iter().enumerate().map(part).collect()
    }

    pub fn connected(&self, case: &Case) -> Result<Vec<Box<dyn Running>>, Reason> {
        connect_all(self.parts(case), &[])
    }

    /// The records and measures of a case, measured again until `fits`. A process without CPU time for long has too
    /// few messages for a rate, or some that were not counted in time.
    #[track_caller]
    pub fn measured(
        &self,
        case: &Case,
        fits: impl Fn(&[PartRecord], &Measures) -> bool,
    ) -> (Vec<PartRecord>, Measures) {
        let bench = find(crate::BENCHMARKS, &case.bench).expect("there");
        let mut told = String::new();
        for seconds in [1, 10, 60] {
            let records = trial(case, self.parts(case), Duration::from_secs(seconds));
            match bench.reduce(case, &records) {
                Ok(measures) if fits(&records, &measures) => return (records, measures),
                other => told = format!("{other:?}, {records:?}").chars().take(4000).collect(),
            }
        }
        panic!("{}: {told}", case.bench);
    }

    /// The errors of all parts in a measurement of up to a minute.
    pub fn errors(&self, case: &Case) -> Vec<Reason> {
        let mut parts = self.connected(case).expect("connected");
        let stops: &Vec<Stop> = &parts.iter().map(|_| Stop::after(Duration::from_secs(60))).collect();
        std::thread::scope(|scope| {
            let run = move |number: usize, part: &mut Box<dyn Running>| {
                let error = part.run(Phase::Measure, &stops[number], &mut Kept::default()).err();
                if error.is_some() {
                    // The others may be passive and notice no error.
                    std::thread::sleep(Duration::from_secs(3));
                    stops.iter().for_each(Stop::raise);
                }
                error
            };
            let each = parts.iter_mut().enumerate();
            let threads: Vec<_> = each.map(|(at, part)| scope.spawn(move || run(at, part))).collect();
            threads.into_iter().filter_map(|thread| thread.join().expect("joined")).collect()
        })
    }
}

/// Few messages, unpinned: the test machine may have fewer CPUs than the plan.
const SMALL: [(&str, &str); 3] = [("affinity", "none"), ("size", "4 KiB"), ("pages", "base")];

pub fn case(id: &str, changed: &[(&str, &str)]) -> Case {
    case_on(vec![node("n1", two_cards()), node("n2", two_cards())], id, changed)
}

pub fn case_on(nodes: Vec<SiteNode>, id: &str, changed: &[(&str, &str)]) -> Case {
    let bench = find(crate::BENCHMARKS, id).expect("there");
    let site = Site { nodes };
    let small = SMALL.into_iter().filter(|(name, _)| bench.about.param(name).is_some());
    let all: Vec<(&str, &str)> = small.chain(changed.iter().copied()).collect();
    planned_of(bench, &site, &all).expect("planned").remove(0)
}

#[track_caller]
pub fn is_verified(records: &[PartRecord]) {
    let told: Vec<&Integrity> = records.iter().map(|record| &record.integrity).collect();
    assert!(told.iter().any(|told| matches!(told, Integrity::Verified { .. })), "{told:?}");
    assert!(!told.iter().any(|told| matches!(told, Integrity::Corrupt { .. })), "{told:?}");
}
