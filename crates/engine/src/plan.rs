//! The cases of a test.

use crate::beside::{WithLoads, with_loads};
use crate::crowded::crowded;
use crate::every_device::{TestPlan, UnmeasuredDevice};
use crate::guarded;
use crate::inputs::{PlanError, PlanInputs, bench_of, combinations, with_selection};
use crate::placement::{Cores, Placement, Placements, Tag, Unreached, placements};
use seatrial_bench::{Benchmark, DISTINCT_CARDS, Registry, WITHIN_NODE};
use seatrial_model::profile::Requirement;
use seatrial_model::profile::Test;
use seatrial_model::record::CaseRecord;
use seatrial_model::{About, Budget, Case, CaseId, Cause, Nanos, Params, Reason, SiteNode, Subject, Value};
use std::collections::HashSet;

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Plan {
    /// In the order in which they run.
    pub cases: Vec<Case>,
    /// Cases that do not run, each with the reason.
    pub settled: Vec<(Case, Reason)>,
    /// Tests that no node of the run is for, each as a case without nodes. They make no record.
    pub without_nodes: Vec<(Case, Reason)>,
}

impl Plan {
    /// The cases of `tests` on `inputs`, as far as their benchmarks exist. What does not apply to the site is settled
    /// as skipped, and a node that could not be reached as never reached.
    pub fn new(tests: &[Test], registry: &Registry, inputs: PlanInputs<'_>) -> Result<Self, PlanError> {
        let mut plan = Plan::default();
        let mut seen = HashSet::new();
        for test in tests.iter().filter(|test| !test.planned) {
            let bench = bench_of(registry, test)?;
            let placements = placements(bench.about, test, &inputs)?;
            if !inputs.has_player(test) {
                let mut case =
                    Case::new(bench.about, "", Subject::node(), &Params::default(), Budget::NOTHING);
                case = case.in_group(bench.about, &test.id);
                case.nodes.clear();
                plan.without_nodes.push((case, Reason::new(Cause::Missing, test.without_nodes())));
            }
            let sweep = combinations(test, bench.about)?;
            for params in &sweep {
                let mut cores = Cores::default();
                let mut step = None;
                for placement in &placements.sites {
                    let own = placement.tag.as_ref().map(Tag::step);
                    if std::mem::replace(&mut step, own) != own {
                        cores = Cores::default();
                    }
                    plan.add(test, bench, params, placement, &mut cores, &mut seen)?;
                }
                for (name, reason) in &placements.alone {
                    plan.settle(test, bench.about, params, name, reason.clone());
                }
                for unreached in &placements.unreached {
                    plan.settle_unreached(test, bench.about, params, unreached);
                }
            }
            if test.expect.is_some_and(|expect| expect.all) {
                plan.settle_devices(test, bench.about, &sweep, &placements, inputs);
            }
        }
        let WithLoads { cases, settled } = with_loads(tests, plan.cases, registry, inputs.site)?;
        plan.settled.extend(settled);
        let (cases, crowded) = crowded(cases);
        plan.cases = cases;
        plan.settled.extend(crowded);
        Ok(plan)
    }

    fn add(
        &mut self,
        test: &Test,
        bench: &Benchmark,
        params: &Params,
        placement: &Placement,
        cores: &mut Cores,
        seen: &mut HashSet<CaseId>,
    ) -> Result<(), PlanError> {
        let about = bench.about;
        let Placement { site, tag, too_few } = placement;
        let first = site.nodes.first().map_or("", |node| node.name.as_str());
        let at_once = tag.as_ref().is_some_and(Tag::is_at_once);
        let site = &with_selection(site, &test.on);
        let left = cores.left_of(site).filter(|_| at_once);
        // A node without free cores for this case shares those of another case.
        let planned = left.and_then(|left| guarded::planned(bench, params, &left).ok());
        match planned.map_or_else(|| guarded::planned(bench, params, site), Ok) {
            Ok(mut cases) => {
                if let Some(reason) = too_few {
                    let count = cases.len();
                    let is_whole = |name: &str, case: &Case| case.planned.flag(name) == Ok(true);
                    cases.retain(|case| is_whole(DISTINCT_CARDS, case) || is_whole(WITHIN_NODE, case));
                    if cases.len() < count {
                        self.settle(test, about, params, first, reason.clone());
                    }
                }
                let (wanted, others): (Vec<_>, Vec<_>) =
                    cases.into_iter().partition(|case| Requirement::selects(&test.on, &case.facts));
                if wanted.is_empty() && !others.is_empty() {
                    self.settle(test, about, params, first, instead(&test.on, &others));
                }
                for mut case in wanted.into_iter().map(|case| case.in_group(about, &test.id)) {
                    if let Some(tag) = tag {
                        tag.mark(&mut case);
                    }
                    if at_once {
                        cores.take(&mut case, site);
                    }
                    // Two combinations may be the same case, for example 64 KiB and 65536 B.
                    if seen.insert(case.id.clone()) {
                        self.cases.push(case);
                    }
                }
            }
            Err(reason) if reason.cause == Cause::Contradiction => {
                return Err(PlanError::Contradiction(format!("{}: {}", about.id, reason.text)));
            }
            Err(reason) => self.settle(test, about, params, first, reason),
        }
        Ok(())
    }

    fn settle(&mut self, test: &Test, about: &About, params: &Params, node: &str, reason: Reason) {
        let case = Case::new(about, node, Subject::node(), params, Budget::NOTHING).in_group(about, &test.id);
        self.settled.push((case, reason));
    }

    /// Settles the devices that the test selects and that are not measured, with every combination of the `sweep`.
    fn settle_devices(
        &mut self,
        test: &Test,
        about: &About,
        sweep: &[Params],
        placements: &Placements,
        inputs: PlanInputs<'_>,
    ) {
        let nodes: Vec<&SiteNode> =
            inputs.site.nodes.iter().filter(|node| (inputs.plays)(&node.name, &test.roles)).collect();
        let is_own = |case: &Case| case.group == test.id;
        let test_plan = TestPlan {
            test,
            about,
            sites: &placements.sites.iter().map(|placement| &placement.site).collect::<Vec<_>>(),
            cases: &self.cases.iter().filter(|case| is_own(case)).collect::<Vec<_>>(),
            settled: &self.settled.iter().filter(|(case, _)| is_own(case)).collect::<Vec<_>>(),
        };
        for UnmeasuredDevice { node, device, why } in test_plan.unmeasured(&nodes, inputs.site) {
            let is_alone = |case: &Case| {
                is_own(case) && case.nodes.first() == Some(&node) && device.is_measured_alone_by(&case.facts)
            };
            self.cases.retain(|case| !is_alone(case));
            for params in sweep {
                let case = Case::new(about, &node, device.subject.clone(), params, Budget::NOTHING);
                let mut case = case.in_group(about, &test.id);
                case.key = Some(device.key.clone());
                case.facts.clone_from(&device.facts);
                self.settled.push((case, Reason::new(Cause::Missing, &why)));
            }
        }
    }

    fn settle_unreached(&mut self, test: &Test, about: &About, params: &Params, unreached: &Unreached) {
        let mut case = Case::new(about, "", Subject::node(), params, Budget::NOTHING);
        case.nodes.clone_from(&unreached.nodes);
        if let [one, other] = unreached.nodes.as_slice() {
            case.subject = format!("{one}->{other}").parse().unwrap_or_else(|_| Subject::node());
        }
        case = case.in_group(about, &test.id);
        if let Some(tag) = &unreached.tag {
            tag.mark(&mut case);
        }
        self.settled.push((case, Reason::new(Cause::NeverReached, &unreached.why)));
    }

    /// The records of cases that do not run. A record that includes nodes of `absent` is about these nodes alone.
    pub fn records(&self, absent: &[(String, String)]) -> Vec<CaseRecord> {
        let is_absent = |node: &String| absent.iter().any(|(name, _)| name == node);
        let record = |(case, reason): &(Case, Reason)| CaseRecord {
            lost: case.nodes.iter().filter(|node| is_absent(node)).cloned().collect(),
            ..CaseRecord::without_numbers(case, reason)
        };
        self.settled.iter().map(record).collect()
    }

    /// Leaves out the cases that take longer than what is left of `time`, one node's cases one after the other.
    pub fn keep_within(&mut self, time: Nanos) {
        let mut left = time;
        for case in std::mem::take(&mut self.cases) {
            let takes = case.estimate();
            if takes <= left {
                left = left.since(takes);
                self.cases.push(case);
            } else {
                let text = format!("takes {:.1} s, and {:.1} s are left", takes.as_secs(), left.as_secs());
                self.settled.push((case, Reason::new(Cause::NoTime, text)));
            }
        }
    }

    pub fn without(mut self, is_done: impl Fn(&CaseId) -> bool) -> Self {
        self.cases.retain(|case| !is_done(&case.id));
        self.settled.retain(|(case, _)| !is_done(&case.id));
        self
    }
}

/// What the subjects of `cases` have instead of the facts that `on` asks for.
fn instead(on: &Params, cases: &[Case]) -> Reason {
    let has = |case: &Case| {
        let other = |(name, wanted): (&str, &Value)| {
            let wanted = [(name.to_owned(), wanted.clone())].into_iter().collect();
            let have = case.facts.get(name).map_or("unknown".to_owned(), Value::to_string);
            (!Requirement::selects(&wanted, &case.facts)).then(|| format!("{name}={have}"))
        };
        format!("{} has {}", case.subject, on.iter().filter_map(other).collect::<Vec<_>>().join(", "))
    };
    let shown = cases.iter().take(MOST_NAMED).map(has).collect::<Vec<_>>().join("; ");
    let more = cases.len().saturating_sub(MOST_NAMED);
    let more = if more > 0 { format!("; and {more} more") } else { String::new() };
    Reason::new(Cause::Inapplicable, format!("the test is for {on}: {shown}{more}"))
}

/// Subjects that a reason names.
const MOST_NAMED: usize = 4;

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use seatrial_model::Site;

    use super::*;
    use seatrial_model::machine::{Known, Nic, NicKind};

    fn site(names: &[&str]) -> Site {
        Site { nodes: names.iter().map(|name| seatrial_testkit::node(name, 1)).collect() }
    }

    fn test(pattern: Option<&str>, partner: Option<&str>) -> Test {
        Test {
            id: "net.rr".to_owned(),
            bench: "net.rr".to_owned(),
            params: BTreeMap::new(),
            roles: vec!["production".to_owned()],
            pattern: pattern.map(str::to_owned),
            partner: partner.map(str::to_owned),
            ..Test::default()
        }
    }

    /// Nodes named `h...` are heads, all others production nodes.
    fn planned(test: &Test, here: &[&str], absent: &[&str]) -> Plan {
        let absent: Vec<_> = absent.iter().map(|name| ((*name).to_owned(), "no route".to_owned())).collect();
        let site = site(here);
        let plays = |node: &str, roles: &[String]| {
            let own = if node.starts_with('h') { "head" } else { "production" };
            roles.is_empty() || roles.iter().any(|role| role == own)
        };
        let inputs = PlanInputs { site: &site, absent: &absent, plays: &plays };
        Plan::new(std::slice::from_ref(test), &seatrial_registry::REGISTRY, inputs).expect("a plan")
    }

    fn plan(here: &[&str], absent: &[&str]) -> Plan {
        planned(&test(None, None), here, absent)
    }

    /// Nodes with IP over InfiniBand beside 10 Gbit/s Ethernet.
    fn with_two_networks(on: &[(&str, &str)]) -> Plan {
        let nic = |name: &str, mbit, network: &str| Nic {
            name: name.to_owned(),
            kind: NicKind::Physical,
            up: Known::Known(true),
            speed_mbit_s: Known::Known(mbit),
            networks: Known::Known(vec![network.to_owned()]),
            ..Nic::default()
        };
        let mut site = site(&["n1", "n2"]);
        for node in &mut site.nodes {
            let nics = vec![nic("ib0", 56_000, "10.1.0.0/16"), nic("eth0", 10_000, "10.2.0.0/16")];
            node.machine.nics = Known::Known(nics);
        }
        let on = on.iter().map(|(name, value)| ((*name).to_owned(), (*value).into())).collect();
        let test = Test { on, roles: Vec::new(), ..test(None, None) };
        Plan::new(&[test], &seatrial_registry::REGISTRY, PlanInputs::of(&site)).expect("a plan")
    }

    #[test]
    fn a_test_chooses_the_interface_that_it_selects() {
        for (speed, interface) in [("10 Gbit/s", "eth0"), ("56 Gbit/s", "ib0")] {
            let plan = with_two_networks(&[("kind", "nic"), ("speed", speed)]);
            let chosen: Vec<_> = plan.cases.iter().map(|case| case.planned.text("interface")).collect();
            assert_eq!((chosen, plan.settled.len()), (vec![Ok(interface)], 0), "{speed}");
        }
    }

    #[test]
    fn a_test_that_selects_nothing_says_what_is_there_instead() {
        let plan = with_two_networks(&[("kind", "nic"), ("speed", "25 Gbit/s")]);
        let [(case, reason)] = plan.settled.as_slice() else { panic!("{plan:?}") };
        assert_eq!((plan.cases.len(), reason.cause), (0, Cause::Inapplicable));
        assert_eq!(case.nodes, ["n1"]);
        assert_eq!(reason.text, "the test is for kind=nic,speed=25 Gbit/s: n1->n2 has speed=56 Gbit/s");
    }

    fn nodes(plan: &Plan) -> Vec<String> {
        plan.cases.iter().map(|case| case.nodes.join("+")).collect()
    }

    fn settled(plan: &Plan) -> Vec<String> {
        plan.settled.iter().map(|(case, why)| format!("{}: {}", case.nodes.join("+"), why.text)).collect()
    }

    #[test]
    fn a_test_of_two_nodes_is_not_measured_over_the_loopback_of_one() {
        let one = plan(&["n1"], &[]);
        assert!(one.cases.is_empty(), "{:?}", one.cases);
        let text = "net.rr needs 2 nodes that play production, 1 was given; add nodes with -w or -N, or measure the \
                    loopback with --pattern alone (profile: pattern = \"alone\")";
        assert_eq!(settled(&one), [format!("n1: {text}")]);
        assert_eq!(one.settled[0].1.cause.outcome(), seatrial_model::Outcome::Unmeasured);
        for pattern in crate::PATTERNS.iter().filter(|pattern| !pattern.has_groups) {
            for partner in [None, Some("any"), Some("production")] {
                let plan = planned(&test(Some(pattern.id), partner), &["n1"], &[]);
                assert_eq!(plan.cases.is_empty(), !pattern.is_alone(), "{} {partner:?}", pattern.id);
                assert_eq!(
                    plan.settled.len(),
                    usize::from(!pattern.is_alone()),
                    "{} {partner:?}",
                    pattern.id
                );
            }
        }
        // The only node of its role among several is no pair either.
        let only = planned(&test(None, None), &["h1", "n1", "h2"], &[]);
        assert_eq!((only.cases.len(), settled(&only).len()), (0, 1));
    }

    #[test]
    fn a_run_has_as_many_cases_whoever_could_not_be_reached() {
        let all = ["n1", "n2", "n3", "n4", "n5"];
        let roles = [(None, 0..5), (Some("any"), 0..5)];
        for (pattern, (partner, lost)) in crate::PATTERNS
            .iter()
            .filter(|pattern| !pattern.has_groups)
            .zip(std::iter::repeat(roles))
            .flat_map(|(it, all)| all.into_iter().map(move |roles| (it, roles)))
        {
            let test = test(Some(pattern.id), partner);
            let count = |plan: &Plan| plan.cases.len() + plan.settled.len();
            let whole = planned(&test, &all, &[]);
            for lost in lost {
                let here: Vec<&str> = all.iter().copied().filter(|node| *node != all[lost]).collect();
                let plan = planned(&test, &here, &[all[lost]]);
                assert!(plan.settled.iter().any(|(case, _)| case.nodes.iter().any(|node| node == all[lost])));
                // A node that pauses in a pattern of halves is reported if it was lost.
                let paused = usize::from(
                    plan.settled.iter().any(|(case, _)| case.nodes.len() == 1) && !pattern.is_alone(),
                );
                assert_eq!(
                    count(&plan),
                    count(&whole) + paused,
                    "{} {partner:?} without {}",
                    pattern.id,
                    all[lost]
                );
            }
        }
    }

    #[test]
    fn a_pair_of_which_one_was_not_reached_speaks_about_that_one() {
        let plan = plan(&["n1"], &["n2"]);
        assert!(plan.cases.is_empty(), "{:?}", plan.cases);
        let records = plan.records(&[("n2".to_owned(), "no route".to_owned())]);
        let [record] = records.as_slice() else { panic!("{records:?}") };
        assert_eq!((record.nodes.join("+"), record.lost.join("+")), ("n1+n2".to_owned(), "n2".to_owned()));
        assert_eq!((record.cause, record.reason.as_deref()), (Some(Cause::NeverReached), Some("no route")));
        assert_eq!(record.case.as_str(), "net.rr@n1+n2/n1->n2");
    }

    #[test]
    fn every_node_has_a_partner_of_the_role_and_the_partner_none() {
        let with_head = test(None, Some("head"));
        let plan = planned(&with_head, &["h1", "n1", "n2", "h2", "n3"], &[]);
        assert_eq!(nodes(&plan), ["n1+h1", "n2+h2", "n3+h1"]);
        assert!(plan.settled.is_empty());
        let nobody = planned(&with_head, &["n1", "n2"], &["h1"]);
        assert!(nobody.cases.is_empty());
        let told: Vec<_> =
            nobody.settled.iter().map(|(case, why)| (case.nodes.join("+"), why.cause)).collect();
        let never = |nodes: &str| (nodes.to_owned(), Cause::NeverReached);
        assert_eq!(told, [never("n1+h1"), never("n2+h1")]);
        let without = planned(&with_head, &["n1", "n2"], &[]);
        let missing = |(_, why): &(Case, Reason)| why.cause == Cause::Missing;
        assert!(without.settled.len() == 2 && without.settled.iter().all(missing), "{:?}", without.settled);
    }

    #[test]
    fn any_other_node_may_be_the_partner() {
        let with_any = test(None, Some("any"));
        assert_eq!(nodes(&planned(&with_any, &["h1", "n1"], &[])), ["n1+h1"]);
        assert_eq!(nodes(&planned(&with_any, &["n1", "n2", "n3"], &[])), ["n1+n2", "n2+n3", "n3+n1"]);
        assert!(planned(&with_any, &["n1"], &["n2"]).cases.is_empty(), "it has lost everybody");
        let ring = test(Some("ring"), Some("any"));
        assert_eq!(nodes(&planned(&ring, &["h1", "n1"], &[])), ["n1+h1"]);
        assert_eq!(nodes(&planned(&ring, &["n1", "n2"], &[])), ["n1+n2", "n2+n1"]);
    }

    #[test]
    fn the_cases_of_a_trunk_have_ids_and_steps_of_their_own() {
        let plan = planned(&test(Some("trunk"), None), &["n1", "n2", "n3", "n4"], &[]);
        let ids: Vec<_> = plan.cases.iter().map(|case| case.id.to_string()).collect();
        assert_eq!(
            ids,
            ["net.rr@n1+n3/n1->n3#trunk.1", "net.rr@n1+n3/n1->n3#trunk.2", "net.rr@n2+n4/n2->n4#trunk.2"]
        );
        let steps: Vec<_> =
            plan.cases.iter().map(|case| crate::placement::co_run_key(case).expect("a step").step).collect();
        assert_eq!(steps, [1, 2, 2]);
    }

    #[test]
    fn a_node_in_several_cases_of_a_step_gives_each_its_own_cores_while_it_has_some() {
        let site =
            Site { nodes: ["n1", "n2", "n3", "n4"].map(|name| seatrial_testkit::node(name, 2)).into() };
        let test = Test { roles: Vec::new(), ..test(Some("incast"), None) };
        let plan = Plan::new(&[test], &seatrial_registry::REGISTRY, PlanInputs::of(&site)).expect("a plan");
        let cpus: Vec<_> = plan.cases.iter().map(|case| case.places[1].bindings[0].cpu).collect();
        let shared: Vec<_> =
            plan.cases.iter().map(|case| case.planned.get("shares_cores").is_some()).collect();
        assert_eq!((cpus, shared), (vec![0, 1, 0], vec![false, false, true]));
    }

    #[test]
    fn rounds_are_for_a_pattern_that_has_some() {
        let site = site(&["n1", "n2", "n3", "n4"]);
        let with = |pattern| Test { rounds: Some(2), roles: Vec::new(), ..test(Some(pattern), None) };
        let plan = |pattern| Plan::new(&[with(pattern)], &seatrial_registry::REGISTRY, PlanInputs::of(&site));
        assert_eq!(plan("matchings").expect("two rounds").cases.len(), 4);
        let refused = plan("ring").expect_err("no rounds").to_string();
        assert_eq!(refused, "pattern ring has no rounds to be counted; matchings has");
    }
}
