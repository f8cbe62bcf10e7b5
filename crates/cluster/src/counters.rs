//! Counters of errors of all nodes, read again.

use std::collections::BTreeMap;

use seatrial_model::Nanos;
use seatrial_model::setting::SettingReading;

use crate::fleet::{Fleet, FleetEvent, NodeIndex};
use crate::message::{Command, Report};

/// Time for all nodes to answer: reading takes some milliseconds, and nothing depends on it.
const ANSWER_TIMEOUT: Nanos = Nanos::secs(3);

/// What nodes count now, by their names; a node that is lost or late is left out.
pub fn read_counters(fleet: &mut dyn Fleet) -> BTreeMap<String, Vec<SettingReading>> {
    let count = fleet.agents().len();
    (0..count).for_each(|node| fleet.send(NodeIndex(node), Command::ReadCounters));
    let (mut found, mut lost) = (BTreeMap::new(), 0);
    let deadline = fleet.now().plus(ANSWER_TIMEOUT);
    while found.len() + lost < count && fleet.now() < deadline {
        match fleet.next(deadline) {
            FleetEvent::From(node, Report::Counters { readings }) => {
                found.insert(fleet.agents()[node.0].node.clone(), readings);
            }
            FleetEvent::Lost(..) | FleetEvent::Recalled(..) => lost += 1,
            FleetEvent::From(..) | FleetEvent::Quiet => {}
        }
    }
    found
}
