//! Counters of errors of all nodes, read again.

use std::collections::BTreeMap;

use seatrial_model::Nanos;
use seatrial_model::setting::SettingReading;

use crate::answers::answers;
use crate::fleet::{Fleet, NodeIndex};
use crate::message::{Command, Report};

/// Time for all nodes to answer: reading takes some milliseconds, and nothing depends on it.
const ANSWER_TIMEOUT: Nanos = Nanos::secs(3);

/// What nodes count now, by their names; a node that is lost or late is left out.
pub fn read_counters(fleet: &mut dyn Fleet) -> BTreeMap<String, Vec<SettingReading>> {
    let asked = (0..fleet.agents().len()).map(NodeIndex).filter(|node| !fleet.is_gone(*node));
    let asked = asked.map(|node| (node, Command::ReadCounters)).collect();
    let take = |report: &Report| match report {
        Report::Counters { readings } => Some(readings.clone()),
        _ => None,
    };
    let told = answers(fleet, asked, ANSWER_TIMEOUT, take, &mut |_| {});
    let named =
        |(node, told): (NodeIndex, Result<_, _>)| Some((fleet.agents()[node.0].node.clone(), told.ok()?));
    told.into_iter().filter_map(named).collect()
}

#[cfg(test)]
mod tests {
    use seatrial_model::SiteNode;

    use super::*;
    use crate::fleet::FleetEvent;
    use crate::message::{Hello, PROTOCOL};

    /// Agents that answer at once, but for the first, which is gone, and the last, which is lost instead of an answer. Each
    /// wait without an event lasts until its end.
    struct Fleeting {
        agents: Vec<Hello>,
        events: Vec<FleetEvent>,
        now: Nanos,
    }

    impl Fleet for Fleeting {
        fn agents(&self) -> &[Hello] {
            &self.agents
        }

        fn is_gone(&self, node: NodeIndex) -> bool {
            node.0 == 0
        }

        fn send(&mut self, node: NodeIndex, command: Command) {
            assert_eq!(command, Command::ReadCounters);
            self.events.push(match node.0 {
                0 => panic!("a node that is gone was asked"),
                2 => FleetEvent::Lost(node, "just now".to_owned()),
                _ => FleetEvent::From(node, Report::Counters { readings: Vec::new() }),
            });
        }

        fn next(&mut self, deadline: Nanos) -> FleetEvent {
            self.events.pop().unwrap_or_else(|| {
                self.now = deadline;
                FleetEvent::Quiet
            })
        }

        fn now(&self) -> Nanos {
            self.now
        }
    }

    #[test]
    fn nobody_waits_for_nodes_that_are_gone() {
        let agent = |name: &str| {
            let SiteNode { name, machine, settings, .. } = SiteNode::new(name, Default::default());
            Hello { protocol: PROTOCOL, build: String::new(), node: name, machine, settings }
        };
        let agents = ["n1", "n2", "n3"].map(agent).into();
        let mut fleet = Fleeting { agents, events: Vec::new(), now: Nanos(0) };
        let found = read_counters(&mut fleet);
        assert_eq!(found.into_keys().collect::<Vec<_>>(), ["n2"]);
        assert_eq!(fleet.now, Nanos(0), "it waited");
    }
}
