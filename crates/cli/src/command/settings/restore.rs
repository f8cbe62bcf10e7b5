//! `seatrial settings restore`.

use std::collections::BTreeSet;

use seatrial_cluster::{Fleet, NodeIndex};
use seatrial_model::profile::fold;
use seatrial_model::record::NodeOptions;
use seatrial_model::setting::{ChangeState, SettingsOrder};
use seatrial_report::clean_lines;
use seatrial_store::id;
use serde_json::json;

use super::orders::{Answers, SCHEMA, carry_out, missing, restore_command};
use crate::args::{RestoreArgs, TableOrJson};
use crate::error::CliError;
use crate::exit::Exit;
use crate::signals::Signals;
use crate::{fleet, output};

const LAST: &str = "last";
const ALL: &str = "all";

pub fn run(args: &RestoreArgs) -> Result<Exit, CliError> {
    let which = args.which.as_str();
    if ![LAST, ALL].contains(&which) && !id::is_id(which) {
        return Err(CliError::Usage(format!(
            "'{which}' is no id of an `apply`, which looks like 20261127-235959-bcdf; `last` and `all` work too"
        )));
    }
    let target = &args.target;
    let mut fleet = fleet::launch_below(&target.nodes, target.script.as_deref(), target.sysroot.as_deref())?;
    for missing in fleet.missing() {
        output::warn(&format!("nothing is restored on {}: {}", missing.node, missing.why));
    }
    // From here on a signal ends the command only after the nodes have answered.
    let signals = Signals::listen()?;
    let listed = to_all(fleet.as_mut(), &SettingsOrder::List);
    // The newest of all nodes: one that missed it has nothing to restore.
    let known: BTreeSet<&str> = listed.journals().collect();
    let ids: Vec<String> = match which {
        LAST => known.last().into_iter().map(|id| (*id).to_owned()).collect(),
        ALL => known.iter().map(|id| (*id).to_owned()).collect(),
        id => known.get(id).into_iter().map(|id| (*id).to_owned()).collect(),
    };
    let mut answers = listed;
    if !ids.is_empty() {
        answers = to_all(fleet.as_mut(), &SettingsOrder::Restore { ids: ids.clone(), force: args.force });
    }
    if args.output.output == TableOrJson::Json {
        let document = json!({
            "schema": SCHEMA,
            "ids": ids,
            "nodes": answers.documents(),
            "missing": missing(fleet.as_ref()),
        });
        output::print(&format!("{document:#}\n"))?;
    } else {
        let text = text(fleet.as_ref(), which, &ids, &answers) + &later(args, fleet.as_ref(), &ids);
        output::print(&clean_lines(&text))?;
    }
    Ok(match signals.number() {
        Some(number) => Exit::signal(number),
        None if !fleet.missing().is_empty() => Exit::INCOMPLETE,
        None => answers.exit(),
    })
}

fn to_all(fleet: &mut dyn Fleet, order: &SettingsOrder) -> Answers {
    let orders = (0..fleet.agents().len()).map(|at| (NodeIndex(at), order.clone())).collect();
    carry_out(fleet, orders)
}

/// How nodes that were not reached are restored when they are back.
fn later(args: &RestoreArgs, fleet: &dyn Fleet, ids: &[String]) -> String {
    let away: Vec<&str> = fleet.missing().iter().map(|missing| missing.node.as_str()).collect();
    if away.is_empty() {
        return String::new();
    }
    let which = match ids {
        [] => args.which.as_str(),
        [id] => id,
        _ => ALL,
    };
    let nodes = NodeOptions {
        nodelist: fold(&away).parse().ok(),
        nodes: None,
        exclude: None,
        ..args.target.nodes.clone()
    };
    let command = restore_command(which, &nodes);
    format!("{} was not reached and keeps what was set: type `{command}` when it is back\n", fold(&away))
}

fn text(fleet: &dyn Fleet, which: &str, ids: &[String], answers: &Answers) -> String {
    let mut text = answers.text();
    if ids.is_empty() {
        let nodes: Vec<&str> = fleet.agents().iter().map(|agent| agent.node.as_str()).collect();
        let of = if id::is_id(which) { format!(" of {which}") } else { String::new() };
        text += &format!("there is nothing{of} to restore on {}\n", fold(&nodes));
        return text;
    }
    let count = |state| answers.count(state);
    text += &format!(
        "{}: {} restored, {} unchanged, {} left, {} failed\n",
        ids.join(", "),
        count(ChangeState::Done),
        count(ChangeState::Unchanged),
        count(ChangeState::Left),
        count(ChangeState::Failed)
    );
    for id in ids {
        let left = answers.with_journal(id);
        if !left.is_empty() {
            text += &format!("{id} is not restored in full on {}: its journal stays there\n", fold(&left));
        }
    }
    text
}
