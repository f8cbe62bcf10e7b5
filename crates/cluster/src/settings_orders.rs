//! Orders about settings to nodes, and their answers.

use seatrial_model::Nanos;
use seatrial_model::setting::{SettingsAnswer, SettingsOrder};

use crate::answers::answers;
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
    let asked = orders.into_iter().map(|(node, order)| (node, Command::Settings { order })).collect();
    let take = |report: &Report| match report {
        Report::Settings { answer } => Some((**answer).clone()),
        _ => None,
    };
    answers(fleet, asked, ANSWER_TIMEOUT, take, lost).into_iter().collect()
}
