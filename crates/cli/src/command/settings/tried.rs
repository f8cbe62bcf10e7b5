//! Settings whose effect is measured: what is set on each node, and the question whether it may be.

use std::collections::BTreeSet;
use std::fs;

use jiff::Zoned;
use seatrial_analysis::audit;
use seatrial_engine::{SettingBlocks, TriedSetting};
use seatrial_model::profile::{Profile, fold};
use seatrial_model::setting::{NodeChange, SettingChange};
use seatrial_model::{Case, Site};
use seatrial_report::clean_lines;

use super::ask::confirm;
use super::plan::{PlannedChange, planned, text, unclear, wrapped};
use super::rule::rule;
use crate::args::ColorChoice;
use crate::error::CliError;
use crate::output;

/// Settings to be tried, before it is known what the nodes have.
#[derive(Clone)]
pub struct WantedSettings {
    /// Each with the rules of one setting. Those that were typed have the text as their id.
    pub settings: Vec<Profile>,
    /// Whether a setting that cannot be tried is an error, as one that was typed.
    pub typed: bool,
    pub repeats: u32,
    pub seed: u64,
}

/// Settings that differ on some node.
pub struct TriedSettings {
    pub blocks: SettingBlocks,
    rows: Vec<PlannedChange>,
    /// Settings that cannot be tried, and why.
    left_out: Vec<String>,
}

/// The settings among the factors `typed`; fails where parameters are among them too.
pub fn of_factors(typed: &[String]) -> Result<Vec<Profile>, CliError> {
    let settings = joined(typed).into_iter().map(|text| {
        let rule = rule(&text).map_err(|why| CliError::Usage(format!("--factors {why}")))?;
        Ok(Profile { id: text, settings: vec![rule], ..Profile::default() })
    });
    settings.collect()
}

/// Factors with the values of a setting that has several, which the commas of the option parted.
fn joined(typed: &[String]) -> Vec<String> {
    let mut joined: Vec<String> = Vec::new();
    for piece in typed {
        match joined.last_mut().filter(|_| !piece.contains('=') && is_value(piece)) {
            Some(last) => *last += &format!(",{piece}"),
            None => joined.push(piece.trim().to_owned()),
        }
    }
    joined
}

fn is_value(piece: &str) -> bool {
    piece.trim_start().starts_with(|c: char| c.is_ascii_digit())
}

/// The rules of `profile` for each of its settings.
pub fn of_profile(profile: &Profile) -> Vec<Profile> {
    let mut settings: Vec<Profile> = Vec::new();
    for rule in &profile.settings {
        match settings.iter_mut().find(|known| known.id == rule.id) {
            Some(known) => known.settings.push(rule.clone()),
            None => settings.push(Profile {
                id: rule.id.clone(),
                settings: vec![rule.clone()],
                roles: profile.roles.clone(),
                waivers: profile.waivers.clone(),
                ..Profile::default()
            }),
        }
    }
    settings
}

impl WantedSettings {
    /// What differs on `site`.
    pub fn on(&self, site: &Site) -> Result<TriedSettings, CliError> {
        let abouts: Vec<_> = seatrial_settings::registry().abouts().collect();
        let (mut settings, mut rows, mut left_out) = (Vec::new(), Vec::new(), Vec::new());
        for wanted in &self.settings {
            let audit = audit(std::slice::from_ref(wanted), site, &abouts, Zoned::now().date());
            let unclear = unclear(&audit).into_iter();
            let mut why: Vec<String> =
                unclear.map(|(why, nodes)| format!("{why} ({})", fold(&nodes))).collect();
            let (own, by_hand): (Vec<_>, Vec<_>) =
                planned(&audit.settings).into_iter().partition(|row| row.file.is_some());
            why.extend(
                by_hand
                    .iter()
                    .map(|row| format!("{}: only a command that a person types sets it", row.change.setting)),
            );
            if own.is_empty() && why.is_empty() {
                why.push(format!("{}: the nodes have it already, so there is nothing to compare", wanted.id));
            }
            if self.typed && own.is_empty() {
                return Err(CliError::Usage(format!("--factors {}: {}", wanted.id, why.join("; "))));
            }
            left_out.extend(why);
            if !own.is_empty() {
                settings.push(TriedSetting { label: self.label(wanted, &own), changes: changes(&own) });
                rows.extend(own);
            }
        }
        if settings.is_empty() {
            return Err(CliError::Usage(format!("there is nothing to try: {}", left_out.join("; "))));
        }
        let cut_off = rows
            .iter()
            .filter(|_| site.nodes.len() > 1 && !finds_mtu())
            .find_map(|row| cuts_off(&row.nodes, &row.present, &row.change));
        if let Some(why) = cut_off {
            return Err(CliError::Usage(why));
        }
        let blocks = SettingBlocks { settings, repeats: self.repeats, seed: self.seed };
        Ok(TriedSettings { blocks, rows, left_out })
    }

    /// As typed; of a profile with the value, where it is one for all.
    fn label(&self, wanted: &Profile, rows: &[PlannedChange]) -> String {
        let values: BTreeSet<String> = rows.iter().map(|row| row.change.wanted.to_string()).collect();
        match values.into_iter().collect::<Vec<_>>().as_slice() {
            [value] if !self.typed => format!("{}={value}", wanted.id),
            _ => wanted.id.clone(),
        }
    }
}

/// Whether TCP of this machine notices that the other end of a connection takes smaller packets than when it was made
/// (tcp_mtu_probing of the kernel's ip-sysctl).
fn finds_mtu() -> bool {
    !fs::read_to_string("/proc/sys/net/ipv4/tcp_mtu_probing").is_ok_and(|text| text.trim() == "0")
}

/// Why the controller would lose its nodes by a change: connections that were made with a larger MTU go on with it.
fn cuts_off(nodes: &[String], present: &str, change: &SettingChange) -> Option<String> {
    let present: u32 = present.parse().ok()?;
    let wanted: u32 = change.wanted.to_string().parse().ok()?;
    let is_lower = change.setting == "nic.mtu" && wanted < present;
    is_lower.then(|| {
        format!(
            "nic.mtu of {}: {wanted} is less than {present}, and packets of {present} B to agents that run already would be \
             lost; type `sysctl -w net.ipv4.tcp_mtu_probing=1` on this machine first",
            fold(nodes)
        )
    })
}

fn changes(rows: &[PlannedChange]) -> Vec<NodeChange> {
    let of_row = |row: &PlannedChange| {
        let change = |node: &String| NodeChange {
            node: node.clone(),
            before: row.present.clone(),
            change: row.change.clone(),
        };
        row.nodes.iter().map(change).collect::<Vec<_>>()
    };
    rows.iter().flat_map(of_row).collect()
}

impl TriedSettings {
    /// Shows the plan.
    pub fn show(&self) {
        let width = output::text_style(ColorChoice::Never).width();
        let left_out = self.left_out.iter().map(|why| wrapped(&format!("left out: {why}"), width));
        let text = text(&self.rows, &[], width) + &left_out.collect::<String>();
        output::tell(clean_lines(&text).trim_end());
    }

    /// Asks whether the settings may be changed for the time of the measurements.
    pub fn confirm(&self, yes: bool) -> Result<(), CliError> {
        let nodes = self.rows.iter().flat_map(|row| row.nodes.iter().map(String::as_str)).collect();
        if yes { Ok(()) } else { confirm(nodes, QUESTION) }
    }
}

/// What is asked before settings are changed for measurements.
const QUESTION: &str = "set this, one at a time and only during measurements,";

/// Asks whether the rest of a run that was interrupted may change settings again.
pub fn confirm_rest(cases: &[Case], done: &BTreeSet<&str>, yes: bool) -> Result<(), CliError> {
    let open = cases.iter().filter(|case| !done.contains(case.id.as_str()));
    let changes: Vec<&NodeChange> = open
        .filter_map(|case| case.origin.study.as_ref()?.block.as_ref())
        .flat_map(|block| &block.changes)
        .collect();
    if changes.is_empty() {
        return Ok(());
    }
    let line = |change: &&NodeChange| {
        let NodeChange { node, before, change } = change;
        format!("  {node} {} of {}: {before} -> {}\n", change.setting, change.subject, change.wanted)
    };
    let lines: BTreeSet<String> = changes.iter().map(line).collect();
    output::tell(clean_lines(&lines.into_iter().collect::<String>()).trim_end());
    if yes { Ok(()) } else { confirm(changes.iter().map(|change| change.node.as_str()).collect(), QUESTION) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn joined_of(line: &str) -> Vec<String> {
        joined(&line.split(',').map(str::to_owned).collect::<Vec<_>>())
    }

    #[test]
    fn the_values_of_one_setting_stay_together() {
        assert_eq!(
            joined_of("nic.mtu=1500,net.ipv4.tcp_rmem=4KiB,128KiB,16MiB,cpu.smt=false"),
            ["nic.mtu=1500", "net.ipv4.tcp_rmem=4KiB,128KiB,16MiB", "cpu.smt=false"]
        );
        let found = of_factors(&["net.ipv4.tcp_rmem=4KiB".to_owned(), "128KiB".to_owned()]);
        assert!(found.err().is_some_and(|error| error.to_string().contains("has 3 values")));
    }

    #[test]
    fn only_a_smaller_mtu_cuts_the_controller_off() {
        let nodes = ["n1", "n2"].map(str::to_owned);
        let why = |setting: &str, wanted: u64| {
            let subject = "nic:eth0".parse().expect("a subject");
            let change = SettingChange { setting: setting.to_owned(), subject, wanted: wanted.into() };
            cuts_off(&nodes, "9000", &change)
        };
        assert!(
            why("nic.mtu", 1500)
                .is_some_and(|why| why.starts_with("nic.mtu of n[1-2]: 1500 is less than 9000"))
        );
        assert_eq!((why("nic.mtu", 9216), why("nic.txqueuelen", 1000)), (None, None));
    }

    #[test]
    fn the_rules_of_one_setting_are_tried_together() {
        let rule = |text: &str| rule(text).expect("a rule");
        let settings = ["nic.mtu@eth0=9000", "cpu.smt=false", "nic.mtu@eth1=9000"].map(rule).to_vec();
        let found = of_profile(&Profile { settings, ..Profile::default() });
        let counts: Vec<(&str, usize)> =
            found.iter().map(|profile| (profile.id.as_str(), profile.settings.len())).collect();
        assert_eq!(counts, [("nic.mtu", 2), ("cpu.smt", 1)]);
    }
}
