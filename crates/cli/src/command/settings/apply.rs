//! `seatrial settings apply`.

use std::io::{IsTerminal, Write, stderr, stdin};

use jiff::{Timestamp, Zoned};
use seatrial_analysis::audit;
use seatrial_cluster::{Fleet, NodeIndex};
use seatrial_model::Nanos;
use seatrial_model::name::did_you_mean;
use seatrial_model::profile::{Profile, Requirement, SettingRule, fold};
use seatrial_model::record::option_words;
use seatrial_model::setting::{SettingChange, SettingsOrder};
use seatrial_report::clean_lines;
use seatrial_store::id;
use serde_json::json;

use super::orders::{Answers, SCHEMA, carry_out, missing};
use super::plan::{PlannedChange, planned, text, unclear};
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
    let plan = clean_lines(&text(&planned, &unclear));
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
            confirm(&planned)?;
        }
        // From here on a signal ends the command only after the nodes have answered.
        let signals = Signals::listen()?;
        let orders = orders(fleet.as_ref(), &planned, &id, args.restore_after);
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
        let options = option_words(&args.target.nodes);
        let words: Vec<&str> = ["seatrial", "settings", "restore", id]
            .into_iter()
            .chain(options.iter().map(String::as_str))
            .collect();
        text += &format!("restore {} with `{}`\n", fold(&changed), words.join(" "));
    }
    text
}

/// Asks whether to go on.
fn confirm(planned: &[PlannedChange]) -> Result<(), CliError> {
    let refused = |why: &str| Err(CliError::Usage(format!("nothing was changed: {why}")));
    if !stdin().is_terminal() {
        return refused(
            "nobody can be asked, since standard input is no terminal; add --yes to apply this plan, or --dry-run \
             to see it only",
        );
    }
    let mut nodes: Vec<&str> = planned
        .iter()
        .filter(|row| row.file.is_some())
        .flat_map(|row| &row.nodes)
        .map(String::as_str)
        .collect();
    nodes.sort_unstable();
    nodes.dedup();
    // Standard error may be closed; then the answer is no.
    let _ = write!(stderr(), "set this on {}? [y/N] ", fold(&nodes));
    let mut answer = String::new();
    stdin().read_line(&mut answer)?;
    match answer.trim().to_ascii_lowercase().as_str() {
        "y" | "yes" => Ok(()),
        _ => refused("the answer was not yes"),
    }
}

/// For each node with a change its order.
fn orders(
    fleet: &dyn Fleet,
    planned: &[PlannedChange],
    id: &str,
    restore_after: Option<Nanos>,
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
        .map(|(node, changes, id)| (node, SettingsOrder::Apply { id, changes, restore_after }))
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

/// The demand `NAME=VALUE` or `NAME@DEVICE=VALUE`.
fn rule(typed: &str) -> Result<SettingRule, String> {
    let (place, value) = typed.split_once('=').unwrap_or((typed, ""));
    let (name, device) = place.split_once('@').map_or((place, None), |(name, device)| (name, Some(device)));
    let registry = seatrial_settings::registry();
    let Some(setting) = registry.find(name) else {
        let near = registry.nearest(name).map(str::to_owned);
        return Err(format!(
            "there is no setting '{name}'{}; `seatrial list` names them",
            did_you_mean(&near)
        ));
    };
    let about = setting.about();
    if about.apply.is_empty() {
        let remedy = if about.remedy.is_empty() { about.traps } else { about.remedy };
        return Err(format!("{name} cannot be set while the system runs: {remedy}"));
    }
    let mut rule = SettingRule { id: name.to_owned(), ..SettingRule::default() };
    if let Some(device) = device {
        if about.subject == "node" {
            return Err(format!("{name} is of the whole node: write {name}={value}"));
        }
        rule.on.set("name", device);
    }
    let parts = about.split(value);
    if parts.len() != about.count() {
        return Err(format!("{typed}: {name} has {} values ({})", about.count(), about.describe()));
    }
    for part in parts {
        let equals = about.parse(part).map_err(|why| format!("{typed}: {why}"))?;
        rule.require.push(Requirement { equals: Some(equals), ..Requirement::default() });
    }
    Ok(rule)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_a_demand_of_a_profile() {
        let bound = |typed: &str| rule(typed).map(|rule| rule.bound());
        assert_eq!(bound("net.core.rmem_max=16MiB"), Ok("exactly 16 MiB".to_owned()));
        let of_tcp = "net.ipv4.tcp_rmem=4 KiB, 128 KiB, 6 MiB";
        assert_eq!(bound(of_tcp), Ok("exactly 4 KiB, 128 KiB, 6 MiB".to_owned()));
        let on = rule("nic.mtu@eth0=9000").expect("a demand").on;
        assert_eq!(on.text("name"), Ok("eth0"));
    }

    #[test]
    fn what_cannot_be_set_is_refused_with_what_can_be_typed() {
        let why = |typed: &str| rule(typed).unwrap_err();
        assert!(why("net.core.rmem_mx=1").contains("did you mean 'net.core.rmem_max'?"));
        assert!(why("memory.swappiness@eth0=1").contains("write memory.swappiness=1"));
        assert!(why("memory.swappiness=201").contains("0 to 200"), "{}", why("memory.swappiness=201"));
        assert!(why("net.ipv4.tcp_rmem=1").contains("has 3 values"));
        assert!(why("cpu.idle_driver=none").contains("kernel command line"));
    }
}
