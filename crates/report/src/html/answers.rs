//! The answers at the top of the page of a run.

use askama::Template;

use super::actions::{remedy, who};
use super::shown::Shown;
use super::words::text;
use crate::view::answers::{self as view, before, hardware, wanted};
use crate::view::headline::usable;
use crate::view::nodes::is_fleet;
use crate::words::Badge;

/// Characters of the folded names of nodes that may be used.
const LONGEST_SET: usize = 160;

#[derive(Clone, Debug, Template)]
#[template(path = "answers.html")]
pub struct Answers {
    /// The nodes that may be used; `None` for one machine.
    usable: Option<String>,
    steps: Vec<Step>,
    /// What else is to be done.
    more: Option<String>,
    /// The command that judges again.
    judging: Option<String>,
    wanted: String,
    /// The kinds of machines; empty without an inventory.
    hardware: String,
    before: Option<Before>,
}

#[derive(Clone, Debug)]
struct Step {
    badge: Badge,
    who: String,
    what: String,
    remedy: String,
    commands: Vec<(&'static str, String)>,
    to: String,
}

#[derive(Clone, Debug)]
struct Before {
    text: String,
    command: String,
    /// The address of the page of that run; empty without one.
    page: String,
}

pub fn answers(shown: &Shown<'_>) -> Answers {
    let document = shown.document;
    let next = view::next(document, shown.context.abouts);
    let step = |step: &view::NextStep<'_>| Step {
        badge: step.action.badge,
        who: if is_fleet(document) { who(shown, &step.action.nodes) } else { String::new() },
        what: text(&step.action.what),
        remedy: remedy(step.action.remedy.as_ref()),
        commands: step.commands.iter().map(|(label, command)| (*label, text(command))).collect(),
        to: step.action.case.map_or(String::new(), |case| shown.place(case)),
    };
    let before = shown.context.earlier.as_ref().map(|earlier| before(document, earlier));
    Answers {
        usable: usable(document, LONGEST_SET).map(|nodes| text(&nodes)),
        steps: next.steps.iter().map(step).collect(),
        more: next.more.map(|more| text(&more)),
        judging: next.judging.map(|command| text(&command)),
        wanted: text(&wanted(document)),
        hardware: text(&hardware(shown.context.nodes)),
        before: before.map(|before| Before {
            text: text(&before.text),
            command: text(&before.command),
            page: text(before.page.unwrap_or_default()),
        }),
    }
}
