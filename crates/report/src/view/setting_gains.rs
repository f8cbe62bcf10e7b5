//! The gain of each setting of a study: a row per setting. Their side effects: a row per setting and metric. With several
//! benchmarks: what each setting is worth for all of them.

use seatrial_analysis::{SettingEffect, SettingGain, SettingStudy, SettingWorth};
use seatrial_model::{Better, node_names};

use super::factors::interval;
use super::table::{Builder, Cell, Column, Table};
use crate::number::decimals;
use crate::words::{Badge, count, in_unit};

pub fn title(study: &SettingStudy) -> String {
    let place = format!("{} of {}", study.subject, node_names(&study.nodes));
    format!("{} · {place} · {} · gain of each setting", study.bench, study.metric)
}

pub fn table(study: &SettingStudy) -> Table {
    let all = study.gains.iter().flat_map(|gain| gain.effect.values).flatten();
    let decimals = decimals(all);
    let of = Some(study.unit);
    let value = |value| Cell::number(value, decimals);
    let table = Builder::new(title(study), &study.gains)
        .words("setting", |gain| {
            Cell::from(gain.setting.clone()).remark(format!("instead of {}", gain.before))
        })
        .column(Column::quantities("without", of), |gain| value(gain.effect.values[0]))
        .column(Column::quantities("with", of), |gain| value(gain.effect.values[1]))
        .numbers("gain", |gain| Cell::number(gain.effect.gain.map(|gain| gain.ratio), 3))
        .numbers("95 %", |gain| interval(gain.effect.gain))
        .words("effect", |gain| {
            let badge = gain.outcome.map(Badge::from);
            Cell { badge, ..Cell::from(gain.effect.worth.words()) }.notes(gain.reason.clone())
        });
    Table { remarks: vec![remark(study)], ..table.finish() }
}

fn remark(study: &SettingStudy) -> String {
    let ratio = match study.better {
        Better::Lower => "without the setting over with it",
        Better::Higher | Better::None => "with the setting over without it",
    };
    let blocks = study.gains.iter().map(|gain| gain.of_blocks).max().unwrap_or_default();
    format!(
        "gain is the ratio {ratio}, within each of {} of four measurements in random order (seed {})",
        count(blocks, "block"),
        study.seed
    )
}

/// Without side effects there is no table.
pub fn side_effects(study: &SettingStudy) -> Option<Table> {
    let sides: Vec<(&SettingGain, &SettingEffect)> =
        study.gains.iter().flat_map(|gain| gain.side_effects.iter().map(move |side| (gain, side))).collect();
    if sides.is_empty() {
        return None;
    }
    let place = format!("{} of {}", study.subject, node_names(&study.nodes));
    let size = |side: &SettingEffect, of: usize| {
        let decimals = decimals(side.values.into_iter().flatten());
        Cell::number(side.values[of], decimals)
    };
    let title = format!("{} · {place} · side effects of settings", study.bench);
    let table = Builder::new(title, &sides)
        .words("setting", |(gain, side)| {
            Cell::from(format!("{}:", gain.setting)).remark(format!("{}{}", side.metric, in_unit(side.unit)))
        })
        .numbers("without", |(_, side)| size(side, 0))
        .numbers("with", |(_, side)| size(side, 1))
        .numbers("gain", |(_, side)| Cell::number(side.gain.map(|gain| gain.ratio), 3))
        .numbers("95 %", |(_, side)| interval(side.gain))
        .words("effect", |(_, side)| side.worth.words());
    let remark = "gain is above 1 where the metric is better with the setting; of a metric that is neither better nor \
                  worse, with the setting over without it";
    Some(Table { remarks: vec![remark.to_owned()], ..table.finish() })
}

/// What each setting is worth over several benchmarks; of one there is no table.
pub fn over_benchmarks(studies: &[SettingStudy]) -> Option<Table> {
    let mut settings: Vec<&str> =
        studies.iter().flat_map(|study| &study.gains).map(|gain| gain.setting.as_str()).collect();
    settings.sort_unstable();
    settings.dedup();
    if studies.len() < 2 || settings.is_empty() {
        return None;
    }
    let with = |setting: &str, worth: SettingWorth| {
        let is_it = |gain: &&SettingGain| gain.setting == setting && gain.effect.worth == worth;
        let mut found: Vec<&str> = studies
            .iter()
            .filter(|study| study.gains.iter().any(|gain| is_it(&gain)))
            .map(|study| study.group.as_str())
            .collect();
        found.sort_unstable();
        found.dedup();
        found.join(" ")
    };
    let table = Builder::new("settings over all benchmarks", &settings)
        .words("setting", |setting| (*setting).to_owned())
        .words("pays for", |setting| with(setting, SettingWorth::Pays))
        .words("hurts", |setting| with(setting, SettingWorth::Hurts))
        .words("no difference for", |setting| with(setting, SettingWorth::Nothing))
        .words("unknown for", |setting| with(setting, SettingWorth::Unknown));
    Some(table.finish())
}

/// The tables of all studies.
pub fn tables(studies: &[SettingStudy]) -> Vec<Table> {
    let of_study = |study| std::iter::once(table(study)).chain(side_effects(study));
    over_benchmarks(studies).into_iter().chain(studies.iter().flat_map(of_study)).collect()
}
