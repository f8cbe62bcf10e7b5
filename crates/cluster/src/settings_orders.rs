//! Orders about settings to nodes, and their answers.

use std::collections::BTreeMap;

use seatrial_model::Nanos;
use seatrial_model::setting::{SettingsAnswer, SettingsOrder};

use crate::fleet::{Fleet, FleetEvent, NodeIndex};
use crate::message::{Command, Report};

/// Time for a node to answer: reserving huge pages and taking CPUs offline takes many seconds.
const ANSWER_TIMEOUT: Nanos = Nanos::secs(120);

/// What a node answered, or why it did not.
pub type Answered = Result<SettingsAnswer, String>;

/// Sends each node its order and waits for all answers. `lost` gets the losses of nodes.
pub fn order_settings(
    fleet: &mut dyn Fleet,
    orders: Vec<(NodeIndex, SettingsOrder)>,
    lost: &mut dyn FnMut(FleetEvent),
) -> Vec<(NodeIndex, Answered)> {
    let mut open: BTreeMap<NodeIndex, Option<Answered>> = BTreeMap::new();
    for (node, order) in orders {
        fleet.send(node, Command::Settings { order });
        open.insert(node, None);
    }
    let deadline = fleet.now().plus(ANSWER_TIMEOUT);
    while open.values().any(Option::is_none) && fleet.now() < deadline {
        let event = fleet.next(deadline);
        let (node, answer) = match &event {
            FleetEvent::From(node, Report::Settings { answer }) => (*node, Ok((**answer).clone())),
            FleetEvent::Lost(node, why) | FleetEvent::Recalled(node, why) => (*node, Err(why.clone())),
            FleetEvent::From(..) | FleetEvent::Quiet => continue,
        };
        if answer.is_err() {
            lost(event);
        }
        if let Some(waiting @ None) = open.get_mut(&node) {
            *waiting = Some(answer);
        }
    }
    let late = || Err(format!("it did not answer within {ANSWER_TIMEOUT}"));
    open.into_iter().map(|(node, answer)| (node, answer.unwrap_or_else(late))).collect()
}
