//! What to act on, with links to the cases.

use askama::Template;
use seatrial_model::Remedy;

use super::filter::Filter;
use super::plot::escaped;
use super::shown::Shown;
use super::words::{text, with_code};
use crate::view::actions as view;
use crate::view::nodes::is_fleet;
use crate::words::{Badge, set_of};

/// Sentences at most; the rest is in the tables.
const MOST: usize = 30;

const LONGEST_SET: usize = 60;

#[derive(Clone, Debug, Template)]
#[template(path = "action.html")]
pub struct ActionLine {
    pub badge: Badge,
    pub who: String,
    pub what: String,
    pub remedy: String,
    /// The commands that measure again, each with its label.
    pub commands: Vec<(&'static str, String)>,
    pub to: String,
    pub filter: Filter,
}

/// The sentences, and the number of those left out.
pub fn actions(shown: &Shown<'_>) -> (Vec<ActionLine>, usize) {
    let safe = |(label, command): (&'static str, String)| (label, text(&command));
    let all = view::with_warnings(shown.document, shown.context.abouts);
    let action = |action: &view::Action<'_>| ActionLine {
        badge: action.badge,
        who: who(shown, &action.nodes),
        what: text(&action.what),
        remedy: remedy(action.remedy.as_ref()),
        commands: view::first_commands(shown.document, action).into_iter().map(safe).collect(),
        to: action.case.map_or(String::new(), |case| shown.place(case)),
        filter: shown.filter_of(action.nodes.iter().copied(), action.badge.class()),
    };
    (all.iter().take(MOST).map(action).collect(), all.len().saturating_sub(MOST))
}

/// What to do, and who does it, as HTML; empty if nothing is known.
pub fn remedy(remedy: Option<&Remedy>) -> String {
    let Some(remedy) = remedy.map(ToString::to_string) else { return String::new() };
    // A file to write follows the sentence.
    let (sentence, file) = remedy.split_once('\n').unwrap_or((&remedy, ""));
    let lines: Vec<String> = file.lines().map(|line| escaped(&text(line.trim_start()))).collect();
    let file = if lines.is_empty() { String::new() } else { format!("<pre>{}</pre>", lines.join("\n")) };
    let (who, what) = sentence.split_once(": ").unwrap_or(("", sentence));
    format!("<strong>{}:</strong> {}{file}", text(who), with_code(&text(what)))
}

/// The nodes, with their role in a fleet.
pub fn who(shown: &Shown<'_>, nodes: &[&str]) -> String {
    let names = match nodes {
        [] => return "the run".to_owned(),
        [one] => text(one),
        many => text(&set_of(many, LONGEST_SET)),
    };
    let roles = shown.roles_of(nodes[0]);
    let is_shared = nodes.iter().all(|node| shown.roles_of(node) == roles);
    if is_fleet(shown.document) && is_shared && !roles.is_empty() {
        format!("{names} ({roles})")
    } else {
        names
    }
}
