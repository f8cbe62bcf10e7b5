//! The profile of the settings that a study found worth applying.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::io;
use std::path::Path;

use seatrial_analysis::{SettingGain, SettingStudy, SettingWorth, setting_studies};
use seatrial_model::Value;
use seatrial_model::profile::fold;
use seatrial_model::record::{CaseRecord, Document};
use seatrial_model::setting::{NodeChange, SettingAbout};

use crate::error::CliError;
use crate::output;

/// Writes the settings that pay for one benchmark of `document` at least and hurt none to `file`; without any, no file.
pub fn write(document: &Document, file: &Path) -> Result<(), CliError> {
    let studies = setting_studies(&document.results);
    let mut tables = Vec::new();
    for setting in labels(&studies) {
        let own: Vec<(&SettingStudy, &SettingGain)> = studies
            .iter()
            .flat_map(|study| study.gains.iter().map(move |gain| (study, gain)))
            .filter(|(_, gain)| gain.setting == setting)
            .collect();
        let with = |worth| own.iter().filter(|(_, gain)| gain.effect.worth == worth).collect::<Vec<_>>();
        let pays = with(SettingWorth::Pays);
        if !pays.is_empty() && with(SettingWorth::Hurts).is_empty() {
            let why: Vec<String> = pays.iter().map(|(study, gain)| words(study, gain)).collect();
            tables.extend(rules(&document.results, setting, &why.join("; ")));
        }
    }
    if tables.is_empty() {
        output::warn(&format!("no setting pays here: {} was not written", file.display()));
        return Ok(());
    }
    let nodes: Vec<&str> = document.run.nodes.iter().map(String::as_str).collect();
    let title = format!("Settings that pay on {}, by run {}", fold(&nodes), document.run.id);
    let text = format!("title = {}\n{}", quoted(&title), tables.concat());
    let failed =
        |error: io::Error| io::Error::new(error.kind(), format!("--write {}: {error}", file.display()));
    fs::write(file, text).map_err(failed)?;
    output::tell(&format!("settings that pay are in {0}: `seatrial settings apply {0}`", file.display()));
    Ok(())
}

fn labels(studies: &[SettingStudy]) -> Vec<&str> {
    let mut labels: Vec<&str> =
        studies.iter().flat_map(|study| &study.gains).map(|gain| gain.setting.as_str()).collect();
    labels.sort_unstable();
    labels.dedup();
    labels
}

fn words(study: &SettingStudy, gain: &SettingGain) -> String {
    let ratio = gain.effect.gain.map_or(0.0, |gain| gain.ratio);
    let hurt: Vec<&str> = gain
        .side_effects
        .iter()
        .filter(|side| side.worth == SettingWorth::Hurts)
        .map(|side| side.metric.as_str())
        .collect();
    let mind = if hurt.is_empty() { String::new() } else { format!(", but {} is worse", hurt.join(" and ")) };
    format!("{} of {} is {ratio:.3} times as good{mind}", study.metric, study.group)
}

/// A table of the profile for each value: of a device by its name.
fn rules(records: &[CaseRecord], setting: &str, why: &str) -> Vec<String> {
    let blocks = records.iter().filter_map(|case| case.origin.study.as_ref()?.block.as_ref());
    let changes = blocks.filter(|block| block.setting == setting).flat_map(|block| &block.changes);
    let mut wanted: BTreeMap<(&str, Option<&str>), &NodeChange> = BTreeMap::new();
    for one in changes {
        let subject = one.change.subject.as_str();
        let name = subject.split_once(':').filter(|(kind, _)| *kind != "cpus").map(|(_, name)| name);
        wanted.insert((one.change.setting.as_str(), name), one);
    }
    let registry = seatrial_settings::registry();
    let table = |((id, name), one): (&(&str, Option<&str>), &&NodeChange)| {
        let about = registry.find(id)?.about();
        let mut text = format!("\n[[setting]]\nid = {}\n", quoted(id));
        if let Some(name) = name {
            // Writing to a string cannot fail.
            let _ = writeln!(text, "on = {{ name = {} }}", quoted(name));
        }
        let _ = writeln!(text, "equals = {}\nwhy = {}", literal(about, &one.change.wanted), quoted(why));
        Some(text)
    };
    wanted.iter().filter_map(table).collect()
}

/// A value as a profile writes it.
fn literal(about: &SettingAbout, value: &Value) -> String {
    let text = value.to_string();
    let parts: Vec<String> = about
        .split(&text)
        .into_iter()
        .map(|part| match about.parse(part) {
            Ok(plain @ (Value::Flag(_) | Value::Count(_))) => plain.to_string(),
            _ => quoted(part),
        })
        .collect();
    match parts.as_slice() {
        [one] => one.clone(),
        several => format!("[{}]", several.join(", ")),
    }
}

/// A string of TOML, whose escapes are those of JSON.
fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}
