//! Which case may start: cases that share a host never overlap, the others run side by side. Cases that share
//! something on purpose wait and start together.
//!
//! A host is a machine. Usually it is a node; nodes on one kernel (containers, namespaces) are one host, since they
//! share processors, memory and disks.

use std::collections::{HashMap, HashSet, VecDeque};

use seatrial_cluster::NodeIndex;
use seatrial_model::Case;

use crate::placement::co_run_key;

/// Cases that wait for their hosts.
#[derive(Debug, Default)]
pub struct Schedule {
    waiting: Vec<Option<QueuedGroup>>,
    by_host: HashMap<NodeIndex, VecDeque<usize>>,
    busy: HashSet<NodeIndex>,
}

/// Cases that start together, most often a single one.
#[derive(Clone, Debug, PartialEq)]
pub struct QueuedGroup {
    pub members: Vec<QueuedCase>,
    /// The hosts of all their nodes, each named by one of its nodes.
    pub hosts: Vec<NodeIndex>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct QueuedCase {
    pub case: Case,
    pub nodes: Vec<NodeIndex>,
}

impl QueuedGroup {
    /// Groups `cases`: each alone, or with the cases that are measured at the same time. A group waits at the
    /// position of its first case. `hosts` has the host of each node.
    pub fn of(cases: Vec<QueuedCase>, hosts: &[NodeIndex]) -> Vec<Self> {
        let mut groups: Vec<Self> = Vec::new();
        let mut known = HashMap::new();
        for case in cases {
            let place = match co_run_key(&case.case) {
                Some(key) => *known.entry(key).or_insert(groups.len()),
                None => groups.len(),
            };
            if place == groups.len() {
                groups.push(Self { members: Vec::new(), hosts: Vec::new() });
            }
            let host = |node: &NodeIndex| hosts.get(node.0).copied().unwrap_or(*node);
            groups[place].hosts.extend(distinct(case.nodes.iter().map(host).collect()));
            groups[place].members.push(case);
        }
        groups
    }
}

impl Schedule {
    pub fn new(cases: impl IntoIterator<Item = QueuedGroup>) -> Self {
        let mut schedule = Self::default();
        for waiting in cases {
            let position = schedule.waiting.len();
            for host in distinct(waiting.hosts.clone()) {
                schedule.by_host.entry(host).or_default().push_back(position);
            }
            schedule.waiting.push(Some(waiting));
        }
        schedule
    }

    /// The hosts that cases wait for or run on.
    pub fn hosts(&self) -> Vec<NodeIndex> {
        let mut hosts: Vec<_> = self.by_host.keys().copied().collect();
        hosts.sort_unstable();
        hosts
    }

    /// Returns the first group of `host`, if all its hosts are free; they are taken until [`Self::release`]. Only the
    /// front of each host's queue may start, so that cases of one host do not overtake a case of many hosts for ever.
    pub fn take(&mut self, host: NodeIndex) -> Option<QueuedGroup> {
        let position = self.front(host)?;
        let hosts = distinct(self.waiting[position].as_ref()?.hosts.clone());
        for other in &hosts {
            if self.busy.contains(other) || self.front(*other) != Some(position) {
                return None;
            }
        }
        self.busy.extend(hosts);
        self.waiting[position].take()
    }

    pub fn release(&mut self, hosts: &[NodeIndex]) {
        for host in hosts {
            self.busy.remove(host);
        }
    }

    /// Removes all cases that need the lost `node`. Other cases of their groups start without them.
    pub fn give_up(&mut self, node: NodeIndex) -> Vec<QueuedCase> {
        let mut given_up = Vec::new();
        for place in &mut self.waiting {
            let Some(waiting) = place else { continue };
            given_up.extend(waiting.members.extract_if(.., |member| member.nodes.contains(&node)));
            if waiting.members.is_empty() {
                *place = None;
            }
        }
        given_up
    }

    pub fn drain(&mut self) -> Vec<QueuedGroup> {
        self.waiting.iter_mut().filter_map(Option::take).collect()
    }

    /// The first case in `host`'s queue that still waits.
    fn front(&mut self, host: NodeIndex) -> Option<usize> {
        let line = self.by_host.get_mut(&host)?;
        while let Some(position) = line.front() {
            if self.waiting[*position].is_some() {
                return Some(*position);
            }
            line.pop_front();
        }
        None
    }
}

fn distinct(mut hosts: Vec<NodeIndex>) -> Vec<NodeIndex> {
    hosts.sort_unstable();
    hosts.dedup();
    hosts
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use seatrial_model::{About, Budget, Params, Subject};

    fn waiting(name: usize, nodes: &[usize]) -> QueuedGroup {
        let case = Case::new(&About::WORKER, "", Subject::node(), &Params::default(), Budget::NOTHING);
        let case = Case { id: format!("case{name}").parse().unwrap(), ..case };
        let nodes: Vec<_> = nodes.iter().copied().map(NodeIndex).collect();
        QueuedGroup { hosts: nodes.clone(), members: vec![QueuedCase { case, nodes }] }
    }

    fn name(waiting: Option<QueuedGroup>) -> String {
        waiting.expect("something may start").members[0].case.id.to_string()
    }

    /// The same with every two nodes in a row on one host.
    fn paired(name: usize, nodes: &[usize]) -> QueuedGroup {
        let hosts = nodes.iter().map(|node| NodeIndex(node / 2 * 2)).collect();
        QueuedGroup { hosts, ..waiting(name, nodes) }
    }

    #[test]
    fn a_case_of_two_nodes_waits_for_both_and_is_not_overtaken() {
        let mut schedule = Schedule::new([waiting(0, &[0]), waiting(1, &[0, 1]), waiting(2, &[1])]);
        let first = schedule.take(NodeIndex(0)).unwrap();
        assert_eq!(schedule.take(NodeIndex(1)), None, "case 1 stands before case 2 on node 1");
        schedule.release(&first.hosts);
        assert_eq!(name(schedule.take(NodeIndex(1))), "case1");
    }

    #[test]
    fn a_lost_node_takes_its_cases_along() {
        let mut schedule = Schedule::new([waiting(0, &[0]), waiting(1, &[0, 1]), waiting(2, &[1])]);
        assert_eq!(schedule.give_up(NodeIndex(0)).len(), 2);
        assert_eq!(name(schedule.take(NodeIndex(1))), "case2");
        assert_eq!(schedule.drain(), []);
    }

    #[test]
    fn nodes_on_one_host_take_turns_and_are_lost_one_by_one() {
        let mut schedule = Schedule::new([paired(0, &[0]), paired(1, &[1]), paired(2, &[2])]);
        assert_eq!(schedule.hosts(), [NodeIndex(0), NodeIndex(2)]);
        let first = schedule.take(NodeIndex(0)).unwrap();
        assert_eq!(schedule.take(NodeIndex(0)), None, "node 1 is on the same host");
        assert!(schedule.take(NodeIndex(2)).is_some());
        assert_eq!(schedule.give_up(NodeIndex(0)), [], "the only case of node 0 runs already");
        schedule.release(&first.hosts);
        assert_eq!(name(schedule.take(NodeIndex(0))), "case1");
    }

    fn co_run(name: usize, members: &[Vec<usize>]) -> QueuedGroup {
        let all = members.iter().enumerate().map(|(at, nodes)| paired(100 * name + at, nodes));
        all.reduce(|mut one, other| {
            one.members.extend(other.members);
            one.hosts.extend(other.hosts);
            one
        })
        .expect("members")
    }

    #[test]
    fn what_is_to_start_together_waits_for_all_and_goes_on_without_the_lost() {
        let mut schedule = Schedule::new([
            waiting(7, &[2]),
            co_run(1, &[vec![0, 2], vec![1, 4], vec![5]]),
            waiting(8, &[4]),
        ]);
        let busy = schedule.take(NodeIndex(2)).unwrap();
        assert_eq!(schedule.take(NodeIndex(0)), None, "host 2 is busy");
        assert_eq!(schedule.take(NodeIndex(4)), None, "the group stands before case 8");
        let lost = schedule.give_up(NodeIndex(1));
        assert_eq!(lost.iter().map(|member| member.case.id.as_str()).collect::<Vec<_>>(), ["case101"]);
        schedule.release(&busy.hosts);
        let started = schedule.take(NodeIndex(0)).unwrap();
        assert_eq!(started.members.len(), 2);
        assert_eq!(schedule.take(NodeIndex(4)), None);
        schedule.release(&started.hosts);
        assert_eq!(name(schedule.take(NodeIndex(4))), "case8");
        assert_eq!(schedule.drain(), []);
    }

    proptest! {
        #[test]
        fn every_case_runs_once_and_no_two_share_a_host_unless_they_start_as_one(
            cases in prop::collection::vec(
                prop::collection::vec(prop::collection::vec(0usize..6, 1..4), 1..4), 0..40),
            picks in prop::collection::vec((0usize..1000, 0usize..80), 400),
        ) {
            let asked: usize = cases.iter().map(Vec::len).sum();
            let mut schedule =
                Schedule::new(cases.iter().enumerate().map(|(name, members)| co_run(name, members)));
            let mut running: Vec<QueuedGroup> = Vec::new();
            let mut ids = std::collections::BTreeSet::new();
            let mut done = 0;
            for (pick, lost) in picks {
                // Now and then a node is lost; its cases are reported and no case waits for it.
                if lost < 6 {
                    done += schedule.give_up(NodeIndex(lost)).len();
                }
                for host in schedule.hosts() {
                    if let Some(started) = schedule.take(host) {
                        for other in &running {
                            prop_assert!(started.hosts.iter().all(|host| !other.hosts.contains(host)));
                        }
                        for member in &started.members {
                            prop_assert!(ids.insert(member.case.id.clone()), "{} twice", member.case.id);
                        }
                        done += started.members.len();
                        running.push(started);
                    }
                }
                if !running.is_empty() {
                    let ended = running.swap_remove(pick % running.len());
                    schedule.release(&ended.hosts);
                }
            }
            prop_assert_eq!(done, asked);
            prop_assert_eq!(schedule.drain(), []);
        }
    }
}
