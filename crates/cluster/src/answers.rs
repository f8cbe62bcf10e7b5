//! Commands that nodes answer once.

use std::collections::BTreeMap;

use seatrial_model::Nanos;

use crate::fleet::{Fleet, FleetEvent, NodeIndex};
use crate::message::{Command, Report};

/// Sends each node its command and waits for all answers, which `take` finds among the reports: what each node answered
/// within `limit`, or why it did not. `lost` gets the losses of nodes.
pub fn answers<T>(
    fleet: &mut dyn Fleet,
    asked: Vec<(NodeIndex, Command)>,
    limit: Nanos,
    take: fn(&Report) -> Option<T>,
    lost: &mut dyn FnMut(FleetEvent),
) -> BTreeMap<NodeIndex, Result<T, String>> {
    let mut open: BTreeMap<NodeIndex, Option<Result<T, String>>> = BTreeMap::new();
    for (node, command) in asked {
        fleet.send(node, command);
        open.insert(node, None);
    }
    let deadline = fleet.now().plus(limit);
    while open.values().any(Option::is_none) && fleet.now() < deadline {
        let event = fleet.next(deadline);
        let (node, answer) = match &event {
            FleetEvent::From(node, report) => (*node, take(report).map(Ok)),
            FleetEvent::Lost(node, why) | FleetEvent::Recalled(node, why) => (*node, Some(Err(why.clone()))),
            FleetEvent::Quiet => continue,
        };
        if matches!(answer, Some(Err(_))) {
            lost(event);
        }
        if let Some(waiting @ None) = open.get_mut(&node) {
            *waiting = answer;
        }
    }
    let late = || Err(format!("it did not answer within {limit}"));
    open.into_iter().map(|(node, answer)| (node, answer.unwrap_or_else(late))).collect()
}
