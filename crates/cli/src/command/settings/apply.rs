//! `seatrial settings apply`.

use jiff::{Timestamp, Zoned};
use seatrial_analysis::audit;
use seatrial_cluster::{Fleet, NodeIndex};
use seatrial_model::profile::{Profile, SettingRule, fold};
use seatrial_model::setting::{SettingChange, SettingsOrder};
use seatrial_report::clean_lines;
use seatrial_store::id;
use serde_json::json;

use super::ask::confirm;
use super::orders::{Answers, SCHEMA, carry_out, missing, restore_command};
use super::plan::{PlannedChange, planned, text, unclear};
use super::rule::rule;
use crate::args::{ApplyArgs, TableOrJson};
use crate::command::check;
use crate::error::CliError;
use crate::exit::Exit;
use crate::session::site_of;
use crate::signals::Signals;
use crate::{fleet, output, roles};

pub fn run(args: &ApplyArgs) -> Result<Exit, CliError> {
    let profile = demanded(args)?;
    let target = &args.target;
    let mut fleet = fleet::launch_below(&target.nodes, target.script.as_deref(), target.sysroot.as_deref())?;
    for missing in fleet.missing() {
        output::warn(&format!("nothing is changed on {}: {}", missing.node, missing.why));
    }
    let abouts: Vec<_> = seatrial_settings::registry().abouts().collect();
    let audit = audit(&[profile], &site_of(fleet.as_ref()), &abouts, Zoned::now().date());
    let (planned, unclear) = (planned(&audit.settings), unclear(&audit));
    let is_json = args.output.output == TableOrJson::Json;
    let plan = clean_lines(&text(&planned, &unclear, output::text_style(args.output.color).width()));
    if !is_json {
        output::print(&plan)?;
    }
    let id = id::fresh(Timestamp::now(), None);
    let has_changes = planned.iter().any(|row| row.file.is_some());
    let mut answers = Answers::default();
    let mut ended = None;
    if has_changes && !args.dry_run {
        if !args.yes {
            if is_json {
                output::tell(&plan);
            }
            let changed = planned.iter().filter(|row| row.file.is_some());
            confirm(changed.flat_map(|row| row.nodes.iter().map(String::as_str)).collect(), "set this")?;
        }
        // From here on a signal ends the command only after the nodes have answered.
        let signals = Signals::listen()?;
        let orders = orders(fleet.as_ref(), &planned, &id, args);
        answers = carry_out(fleet.as_mut(), orders);
        ended = signals.number();
    }
    if is_json {
        let changes: Vec<_> = planned.iter().map(PlannedChange::document).collect();
        let document = json!({
            "schema": SCHEMA,
            "id": id,
            "dry_run": args.dry_run,
            "changes": changes,
            "unclear": unclear.iter().map(|(why, nodes)| json!({ "why": why, "nodes": nodes })).collect::<Vec<_>>(),
            "nodes": answers.documents(),
            "missing": missing(fleet.as_ref()),
        });
        output::print(&format!("{document:#}\n"))?;
    } else {
        output::print(&clean_lines(&ending(args, &planned, &answers, &id)))?;
    }
    let is_left = unclear.len() + planned.iter().filter(|row| row.file.is_none()).count() > 0;
    Ok(match (ended, answers.exit()) {
        (Some(number), _) => Exit::signal(number),
        (None, _) if !fleet.missing().is_empty() => Exit::INCOMPLETE,
        (None, Exit::MET) if is_left || (args.dry_run && has_changes) => Exit::NOT_ALL_SET,
        (None, exit) => exit,
    })
}

/// The last lines: what became of the changes, and how to restore them.
fn ending(args: &ApplyArgs, planned: &[PlannedChange], answers: &Answers, id: &str) -> String {
    if args.dry_run && !planned.is_empty() {
        return "nothing was changed (--dry-run)\n".to_owned();
    }
    if planned.is_empty() {
        return "no setting has to be changed\n".to_owned();
    }
    let mut text = answers.text();
    let changed = answers.with_journal(id);
    if !changed.is_empty() {
        text += &format!("restore {} with `{}`\n", fold(&changed), restore_command(id, &args.target.nodes));
    }
    text
}

/// For each node with a change its order.
fn orders(
    fleet: &dyn Fleet,
    planned: &[PlannedChange],
    id: &str,
    args: &ApplyArgs,
) -> Vec<(NodeIndex, SettingsOrder)> {
    let of_node = |node: &String| -> Vec<SettingChange> {
        let rows = planned.iter().filter(|row| row.file.is_some() && row.nodes.contains(node));
        rows.map(|row| row.change.clone()).collect()
    };
    let orders = fleet.agents().iter().enumerate().map(|(at, agent)| {
        let (id, changes) = (id.to_owned(), of_node(&agent.node));
        (NodeIndex(at), changes, id)
    });
    orders
        .filter(|(_, changes, _)| !changes.is_empty())
        .map(|(node, changes, id)| {
            let (restore_after, persist) = (args.restore_after, args.persist);
            (node, SettingsOrder::Apply { id, changes, restore_after, persist })
        })
        .collect()
}

/// The profile that was named, or one of the values that were.
fn demanded(args: &ApplyArgs) -> Result<Profile, CliError> {
    let (values, names): (Vec<&String>, Vec<&String>) =
        args.wanted.iter().partition(|word| word.contains('='));
    let usage = |why: String| Err(CliError::Usage(why));
    match names.as_slice() {
        [] if args.roles.is_empty() => {
            let rules: Result<Vec<SettingRule>, String> =
                values.into_iter().map(|typed| rule(typed)).collect();
            let settings = rules.map_err(CliError::Usage)?;
            Ok(Profile { id: "values".to_owned(), settings, ..Profile::default() })
        }
        [] => usage("--role is for a profile, not for values".to_owned()),
        [name] if values.is_empty() => {
            if seatrial_settings::registry().find(name).is_some() {
                return usage(format!("'{name}' is a setting: write its value too, {name}=VALUE"));
            }
            let (mut profile, _) = check::chosen(name, args.output.color)?;
            roles::give(&mut profile, &args.roles)?;
            if profile.settings.is_empty() {
                return usage(format!("profile {} has no [[setting]]", profile.id));
            }
            Ok(profile)
        }
        _ => usage("give one profile, or values as NAME=VALUE, and not both".to_owned()),
    }
}
