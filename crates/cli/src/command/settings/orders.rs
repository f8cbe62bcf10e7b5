//! Orders to the nodes, and what came of them.

use seatrial_cluster::{Answered, Fleet, Missing, NodeIndex, order_settings};
use seatrial_model::profile::fold;
use seatrial_model::record::{NodeOptions, option_words};
use seatrial_model::setting::{ChangeOutcome, ChangeState, SettingsAnswer, SettingsOrder};
use seatrial_report::repeat_command;
use serde_json::{Value, json};

use crate::exit::Exit;

/// Raised when a reader of the old document would misread the new one.
pub const SCHEMA: u32 = 1;

/// What the nodes answered, or why they did not.
#[derive(Default)]
pub struct Answers(Vec<(String, Answered)>);

/// Sends the orders and waits for all answers.
pub fn carry_out(fleet: &mut dyn Fleet, orders: Vec<(NodeIndex, SettingsOrder)>) -> Answers {
    let answers = order_settings(fleet, orders, &mut |_| {});
    let name = |node: NodeIndex| fleet.agents()[node.0].node.clone();
    Answers(answers.into_iter().map(|(node, answer)| (name(node), answer)).collect())
}

/// The command that restores `which` on `nodes`.
pub fn restore_command(which: &str, nodes: &NodeOptions) -> String {
    let words = ["seatrial", "settings", "restore", which].map(str::to_owned).into_iter();
    repeat_command::line(words.chain(option_words(nodes)))
}

/// Nodes that were not reached, for programs.
pub fn missing(fleet: &dyn Fleet) -> Vec<Value> {
    let one = |missing: &Missing| json!({ "node": missing.node, "why": missing.why.to_string() });
    fleet.missing().iter().map(one).collect()
}

impl Answers {
    /// Ids of journals with changes to restore.
    pub fn journals(&self) -> impl Iterator<Item = &str> {
        self.0
            .iter()
            .flat_map(|(_, answer)| answer.iter())
            .flat_map(|answer| &answer.journals)
            .map(String::as_str)
    }

    /// Nodes that have the journal `id`.
    pub fn with_journal(&self, id: &str) -> Vec<&str> {
        let has = |answer: &Result<SettingsAnswer, String>| {
            answer.as_ref().is_ok_and(|answer| answer.journals.iter().any(|known| known == id))
        };
        self.0.iter().filter(|(_, answer)| has(answer)).map(|(node, _)| node.as_str()).collect()
    }

    /// What became of each value, one line for the nodes on which all of it is the same; then what went wrong.
    pub fn text(&self) -> String {
        let mut lines: Vec<(String, Vec<&str>)> = Vec::new();
        let mut line = |text: String, node| match lines.iter_mut().find(|(known, _)| *known == text) {
            Some((_, nodes)) => nodes.push(node),
            None => lines.push((text, vec![node])),
        };
        for (node, answer) in &self.0 {
            match answer {
                Ok(answer) => {
                    answer.outcomes.iter().for_each(|outcome| line(told(outcome), node));
                    answer
                        .refused
                        .iter()
                        .for_each(|why| line(format!("nothing more was changed: {why}"), node));
                    answer.timer.iter().for_each(|timer| line(format!("restores by itself: {timer}"), node));
                }
                Err(why) => line(
                    format!(
                        "it is unknown what was changed: {why}; restore it with `seatrial settings restore` when \
                         it answers again"
                    ),
                    node,
                ),
            }
        }
        lines.into_iter().map(|(text, nodes)| format!("{} {text}\n", fold(&nodes))).collect()
    }

    pub fn documents(&self) -> Vec<Value> {
        let document = |(node, answer): &(String, Result<SettingsAnswer, String>)| match answer {
            Ok(answer) => json!({ "node": node, "answer": answer, "error": null }),
            Err(why) => json!({ "node": node, "answer": null, "error": why }),
        };
        self.0.iter().map(document).collect()
    }

    pub fn count(&self, state: ChangeState) -> usize {
        let answers = self.0.iter().filter_map(|(_, answer)| answer.as_ref().ok());
        answers.flat_map(|answer| &answer.outcomes).filter(|outcome| outcome.state == state).count()
    }

    /// Nodes that did not do what they were asked come before values that did not take.
    pub fn exit(&self) -> Exit {
        let is_whole = |answer: &SettingsAnswer| answer.refused.is_none();
        if !self.0.iter().all(|(_, answer)| answer.as_ref().is_ok_and(is_whole)) {
            Exit::INCOMPLETE
        } else if self.count(ChangeState::Failed) + self.count(ChangeState::Left) > 0 {
            Exit::NOT_ALL_SET
        } else {
            Exit::MET
        }
    }
}

fn told(outcome: &ChangeOutcome) -> String {
    let ChangeOutcome { setting, place, before, after, state, why } = outcome;
    let place = if place == "node" { String::new() } else { format!(" of {place}") };
    let why = if why.is_empty() { String::new() } else { format!(": {why}") };
    match state {
        ChangeState::Done => format!("{setting}{place}: {before} -> {after}{why}"),
        _ => format!("{setting}{place}: {} ({after}){why}", state.word()),
    }
}
