//! How long cases take together: hosts work side by side, the cases of one host one after the other.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};

use seatrial_cluster::NodeIndex;
use seatrial_model::{Case, Nanos, Site};

use crate::host;
use crate::schedule::{QueuedCase, QueuedGroup, Schedule};

/// The time until the last of `cases` ends if each takes `time`: the schedule of a run, without the run.
pub fn makespan(cases: &[Case], site: &Site, share_hosts: bool, time: impl Fn(&Case) -> Nanos) -> Nanos {
    let hosts = host::of(site.nodes.iter().map(|node| &node.machine), share_hosts);
    let positions: HashMap<&str, NodeIndex> =
        site.nodes.iter().enumerate().map(|(at, node)| (node.name.as_str(), NodeIndex(at))).collect();
    let position = |name: &String| positions.get(name.as_str()).copied();
    let queued = cases.iter().map(|case| QueuedCase {
        case: case.clone(),
        nodes: case.nodes.iter().filter_map(position).collect(),
    });
    let mut schedule = Schedule::new(QueuedGroup::of(queued.collect(), &hosts));
    let (mut free, mut now) = (schedule.hosts(), Nanos(0));
    let (mut running, mut ends) = (Vec::new(), BinaryHeap::new());
    loop {
        while let Some(host) = free.pop() {
            if let Some(group) = schedule.take(host) {
                // Cases that are measured at the same time take as long as the longest of them.
                let longest = group.members.iter().map(|member| time(&member.case)).max();
                ends.push(Reverse((now.plus(longest.unwrap_or_default()), running.len())));
                running.push(group.hosts);
            }
        }
        let Some(Reverse((end, number))) = ends.pop() else { return now };
        now = end;
        schedule.release(&running[number]);
        free.extend(running[number].iter().copied());
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use seatrial_model::SiteNode;
    use seatrial_model::machine::{Known, Machine};
    use seatrial_model::profile::Test;

    use super::*;
    use crate::{Plan, PlanInputs};

    /// Seconds that the plan of `bench` over `nodes` takes, each case 10 s; `boot` is the boot id of every node.
    fn seconds(bench: &str, pattern: Option<&str>, nodes: usize, boot: Option<&str>) -> u64 {
        let boot_id = boot.map_or(Known::unknown("denied"), |boot| Known::Known(boot.to_owned()));
        let machine = Machine { cpu: seatrial_testkit::cores([0]), boot_id, ..Machine::default() };
        let node = |number: usize| SiteNode::new(format!("n{number}"), machine.clone());
        let site = Site { nodes: (1..=nodes).map(node).collect() };
        let test = Test {
            id: "t".to_owned(),
            bench: bench.to_owned(),
            params: BTreeMap::from([("trials".to_owned(), vec!["1".to_owned(), "2".to_owned()])]),
            pattern: pattern.map(str::to_owned),
            ..Test::default()
        };
        let plan = Plan::new(&[test], &seatrial_registry::REGISTRY, PlanInputs::of(&site)).expect("a plan");
        makespan(&plan.cases, &site, false, |_| Nanos::secs(10)).get() / Nanos::secs(1).get()
    }

    #[test]
    fn nodes_are_measured_side_by_side_and_the_cases_of_a_node_one_after_the_other() {
        assert_eq!(seconds("net.rr", Some("alone"), 4, None), 20);
        assert_eq!(seconds("net.rr", Some("alone"), 4, Some("one kernel")), 80);
        assert_eq!(seconds("net.rr", Some("all-pairs"), 4, None), 60);
        assert_eq!(seconds("net.rr", Some("alone"), 0, None), 0);
    }

    #[test]
    fn cases_of_a_step_take_the_time_of_one() {
        // One pair, then two at the same time, for each of two parameter values.
        assert_eq!(seconds("net.tcp_stream", Some("trunk"), 4, None), 40);
    }
}
