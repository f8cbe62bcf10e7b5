//! The answers at the top of the page of a run.

use askama::Template;

use super::actions::{remedy, who};
use super::shown::Shown;
use super::words::text;
use crate::view::answers::{self as view, accepted, before, steps, wanted};
use crate::view::nodes::is_fleet;
use crate::words::Badge;

#[derive(Clone, Debug, Template)]
#[template(path = "answers.html")]
pub struct Answers {
    wanted: String,
    accepted: String,
    steps: Vec<Step>,
    more: usize,
    before: Option<Before>,
}

#[derive(Clone, Debug)]
struct Step {
    badge: Badge,
    who: String,
    what: String,
    remedy: String,
    command: String,
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
    let (next, more) = steps(document, shown.context.abouts);
    let step = |step: &view::NextStep<'_>| Step {
        badge: step.badge,
        who: if is_fleet(document) { who(shown, &step.nodes) } else { String::new() },
        what: text(&step.what),
        remedy: remedy(step.remedy.as_ref()),
        command: text(step.command.as_deref().unwrap_or_default()),
        to: step.case.map_or(String::new(), |case| shown.place(case)),
    };
    let before = shown.context.earlier.as_ref().map(|earlier| before(document, earlier));
    Answers {
        wanted: text(&wanted(document)),
        accepted: text(&accepted(document, shown.context.nodes)),
        steps: next.iter().map(step).collect(),
        more,
        before: before.map(|before| Before {
            text: text(&before.text),
            command: text(&before.command),
            page: text(before.page.unwrap_or_default()),
        }),
    }
}
