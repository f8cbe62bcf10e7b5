//! Studies of host settings: blocks of four cases, two with a setting and two without it.
//!
//! The order within a block is ABBA or BAAB, by lot: the mean times of the two kinds are the same, so that what drifts
//! evenly over a block cancels in its ratio. All tests of a run share the blocks, so that a setting is changed no more often than needed.

use std::collections::BTreeSet;

use seatrial_bench::Registry;
use seatrial_model::profile::Test;
use seatrial_model::setting::{NodeChange, SettingBlock};
use seatrial_model::{Case, Cause, FactorCase, Reason};
use seatrial_stats::Random;

use crate::factors::{BASELINE, Level, one_by_one};
use crate::inputs::{PlanError, PlanInputs, bench_of};
use crate::placement;
use crate::plan::Plan;

/// A setting that is tried: what it is called, and what is set on each node.
#[derive(Clone, Debug, PartialEq)]
pub struct TriedSetting {
    pub label: String,
    pub changes: Vec<NodeChange>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct SettingBlocks {
    pub settings: Vec<TriedSetting>,
    /// Blocks of each setting.
    pub repeats: u32,
    pub seed: u64,
}

/// Cases of a block.
const PLACES: u32 = 4;

impl SettingBlocks {
    /// The cases of all blocks of `tests`, in the order in which they run.
    pub fn plan(
        &self,
        tests: &[Test],
        registry: &Registry,
        inputs: PlanInputs<'_>,
    ) -> Result<Plan, PlanError> {
        let (mut plan, mut measured) = (Plan::default(), Vec::new());
        for test in tests {
            let bench = bench_of(registry, test)?;
            one_by_one(test)?;
            let own = Plan::new(&[Level::baseline(bench.about, test)?.test(test)], registry, inputs)?;
            plan.settled.extend(own.settled);
            plan.without_nodes.extend(own.without_nodes);
            let headline = bench.about.metrics.first().map_or("", |metric| metric.name);
            measured.extend(own.cases.into_iter().map(|case| (headline, case)));
        }
        let (mut lots, mut number) = (Random::of(self.seed), 0);
        for repeat in 1..=self.repeats {
            let mut order: Vec<&TriedSetting> = self.settings.iter().collect();
            lots.shuffle(&mut order);
            for tried in order {
                number += 1;
                let begins_set = lots.uniform() < 0.5;
                for place in 1..=PLACES {
                    let is_set = begins_set == [1, PLACES].contains(&place);
                    for (headline, case) in &measured {
                        let block = tried.block(case, place);
                        let has_changes = !block.changes.is_empty();
                        let factor = if is_set { tried.label.clone() } else { BASELINE.to_owned() };
                        let study = FactorCase {
                            factor,
                            crossed: Vec::new(),
                            repeat,
                            seed: self.seed,
                            metric: (*headline).to_owned(),
                            block: Some(block),
                        };
                        let mut case = case.clone();
                        case.origin.study = Some(study);
                        case.id = placement::marked(&case.id, &format!("block.{number}.{place}"));
                        if has_changes {
                            plan.cases.push(case);
                        } else if repeat == 1 && place == 1 {
                            plan.settled.push((case, tried.changes_nothing()));
                        }
                    }
                }
            }
        }
        Ok(plan)
    }
}

impl TriedSetting {
    fn block(&self, case: &Case, place: u32) -> SettingBlock {
        let nodes: BTreeSet<&String> = case.nodes.iter().collect();
        let changes = self.changes.iter().filter(|change| nodes.contains(&change.node)).cloned().collect();
        SettingBlock { setting: self.label.clone(), changes, place }
    }

    fn changes_nothing(&self) -> Reason {
        let text =
            format!("{} changes nothing on the nodes of this case: there is nothing to compare", self.label);
        Reason::new(Cause::Inapplicable, text)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use seatrial_model::setting::SettingChange;
    use seatrial_model::{Site, Subject};

    use super::*;

    fn tried(label: &str, nodes: &[&str]) -> TriedSetting {
        let change = |node: &&str| NodeChange {
            node: (*node).to_owned(),
            before: "60".to_owned(),
            change: SettingChange {
                setting: "memory.swappiness".to_owned(),
                subject: Subject::node(),
                wanted: 10_u64.into(),
            },
        };
        TriedSetting { label: label.to_owned(), changes: nodes.iter().map(change).collect() }
    }

    fn planned(settings: Vec<TriedSetting>, benches: &[&str], seed: u64) -> Plan {
        let site = Site { nodes: ["n1", "n2"].map(|name| seatrial_testkit::node(name, 1)).into() };
        let tests: Vec<Test> = benches
            .iter()
            .map(|bench| Test { id: (*bench).to_owned(), bench: (*bench).to_owned(), ..Test::default() })
            .collect();
        let study = SettingBlocks { settings, repeats: 8, seed };
        study.plan(&tests, &seatrial_registry::REGISTRY, PlanInputs::of(&site)).expect("a plan")
    }

    /// For each setting the orders of its blocks, A without and B with it.
    fn orders(plan: &Plan, bench: &str) -> BTreeMap<String, Vec<String>> {
        let mut orders: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for case in plan.cases.iter().filter(|case| case.bench == bench) {
            let study = case.origin.study.as_ref().expect("a study");
            let block = study.block.as_ref().expect("a block");
            let blocks = orders.entry(block.setting.clone()).or_default();
            if block.place == 1 {
                blocks.push(String::new());
            }
            blocks.last_mut().expect("a block").push(if study.set().is_some() { 'B' } else { 'A' });
        }
        orders
    }

    #[test]
    fn a_block_is_abba_or_baab_by_lot_and_the_seed_gives_the_same_plan() {
        let settings = || vec![tried("one", &["n1", "n2"]), tried("two", &["n1", "n2"])];
        let plan = planned(settings(), &["net.tcp_stream", "net.rr"], 1);
        assert_eq!(plan.cases.len(), 2 * 8 * 4 * 2);
        for bench in ["net.tcp_stream", "net.rr"] {
            let all: Vec<String> = orders(&plan, bench).into_values().flatten().collect();
            assert_eq!(all.len(), 2 * 8);
            let distinct: BTreeSet<&str> = all.iter().map(String::as_str).collect();
            assert_eq!(distinct, ["ABBA", "BAAB"].into());
        }
        assert_eq!(planned(settings(), &["net.tcp_stream", "net.rr"], 1), plan);
        assert_ne!(planned(settings(), &["net.tcp_stream", "net.rr"], 2), plan);
        let ids: BTreeSet<&str> = plan.cases.iter().map(|case| case.id.as_str()).collect();
        assert_eq!(ids.len(), plan.cases.len());
        assert!(plan.cases.iter().all(|case| case.budget.max_trials == 1));
    }

    #[test]
    fn a_case_knows_the_changes_of_its_own_nodes_and_is_left_out_without_any() {
        let plan = planned(vec![tried("one", &["n2"])], &["mem.latency"], 1);
        assert_eq!(plan.cases.len(), 8 * 4);
        assert!(plan.cases.iter().all(|case| case.nodes == ["n2"]));
        let [(case, why)] = plan.settled.as_slice() else { panic!("{:?}", plan.settled) };
        assert_eq!((case.nodes.as_slice(), why.cause), (&["n1".to_owned()][..], Cause::Inapplicable));
        let pair = planned(vec![tried("one", &["n2"])], &["net.rr"], 1);
        assert_eq!(pair.cases.len(), 8 * 4, "one end is enough");
    }
}
