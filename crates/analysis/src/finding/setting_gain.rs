//! `setting-gain`: what a setting of the hosts is worth, from blocks of four measurements with and without it.
//!
//! The gain is the value with the setting over the value without it (inverted where less is better), so that the setting
//! pays if the gain is above 1. Each block gives one ratio of geometric means; what drifts evenly over a block cancels in
//! it. A setting is said to pay or to hurt where its p-value stands among those of all settings of the run
//! (`seatrial_stats::discoveries`), and so is a side effect among all side effects.

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use seatrial_model::record::{CaseRecord, MetricRecord};
use seatrial_model::setting::SettingBlock;
use seatrial_model::{Better, FactorCase, Finding, Outcome, Subject, Unit};
use seatrial_stats::{PairedRatio, discoveries, median, paired_ratio};

use super::Rule;
use super::paired::{self, PairedStudy, because, range};
use crate::number::{in_unit, significant};

pub(super) const RULE: Rule = Rule {
    kind: "setting-gain",
    doc: "A study of host settings measured a benchmark in blocks with and without a setting.",
    find: |records| setting_studies(records).iter().flat_map(findings).collect(),
};

/// The share of settings said to pay or to hurt, and of side effects, that may be wrong on average.
pub const WRONG_EFFECTS: f64 = 0.02;

/// Measurements of each kind in a block.
const OF_A_KIND: usize = 2;

/// The settings that were tried with one benchmark on one subject.
#[derive(Clone, Debug, PartialEq)]
pub struct SettingStudy {
    pub group: String,
    pub bench: String,
    pub nodes: Vec<String>,
    pub subject: Subject,
    pub metric: String,
    pub unit: Unit,
    pub better: Better,
    /// The seed of the random order.
    pub seed: u64,
    pub gains: Vec<SettingGain>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct SettingGain {
    /// As typed, or as the profile wants it: `nic.mtu=9000`.
    pub setting: String,
    /// The values that it replaces.
    pub before: String,
    /// The effect on the metric that the benchmark is known by.
    pub effect: SettingEffect,
    /// The other metrics on which there is an effect.
    pub side_effects: Vec<SettingEffect>,
    /// Blocks that left records.
    pub of_blocks: usize,
    pub reason: Option<String>,
    pub outcome: Option<Outcome>,
}

/// What a setting does to a metric.
#[derive(Clone, Debug, PartialEq)]
pub struct SettingEffect {
    pub metric: String,
    pub unit: Unit,
    pub better: Better,
    /// Medians without and with the setting.
    pub values: [Option<f64>; 2],
    /// Above 1 where the setting is good for the metric; of a metric that only describes, with the setting over without it.
    /// `None` without a whole block.
    pub gain: Option<PairedRatio>,
    /// Whole blocks.
    pub blocks: usize,
    pub worth: SettingWorth,
}

/// What can be said of an effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SettingWorth {
    Pays,
    Hurts,
    /// A metric that is neither good nor bad is another.
    Changes,
    /// No difference can be told.
    Nothing,
    /// Too few blocks.
    Unknown,
}

impl SettingWorth {
    pub const fn words(self) -> &'static str {
        match self {
            Self::Pays => "pays",
            Self::Hurts => "hurts",
            Self::Changes => "changes",
            Self::Nothing => "no difference",
            Self::Unknown => "unknown",
        }
    }
}

pub fn setting_studies(records: &[CaseRecord]) -> Vec<SettingStudy> {
    let mut studies: Vec<Vec<&CaseRecord>> = Vec::new();
    for case in records.iter().filter(|case| block(case).is_some()) {
        let key = |case: &CaseRecord| (case.group.clone(), case.nodes.clone(), case.subject.clone());
        match studies.iter_mut().find(|cases| key(cases[0]) == key(case)) {
            Some(cases) => cases.push(case),
            None => studies.push(vec![case]),
        }
    }
    let mut studies: Vec<SettingStudy> = studies.iter().filter_map(|cases| of_cases(cases)).collect();
    judge(studies.iter_mut().flat_map(|study| &mut study.gains).map(|gain| &mut gain.effect).collect());
    let sides = studies.iter_mut().flat_map(|study| &mut study.gains).flat_map(|gain| &mut gain.side_effects);
    judge(sides.collect());
    for gain in studies.iter_mut().flat_map(|study| &mut study.gains) {
        gain.side_effects.retain(|side| !matches!(side.worth, SettingWorth::Nothing | SettingWorth::Unknown));
    }
    studies
}

fn study(case: &CaseRecord) -> Option<&FactorCase> {
    case.origin.study.as_ref()
}

fn block(case: &CaseRecord) -> Option<&SettingBlock> {
    study(case)?.block.as_ref()
}

fn is_set(case: &CaseRecord) -> bool {
    study(case).is_some_and(|study| study.set().is_some())
}

fn of_cases(cases: &[&CaseRecord]) -> Option<SettingStudy> {
    let first = *cases.first()?;
    let asked = study(first)?.metric.as_str();
    let with_numbers = cases.iter().find(|case| case.metrics.contains_key(asked));
    let headline = with_numbers.and_then(|case| case.metrics.get_key_value(asked));
    let (metric, example) = headline
        .map(|(name, metric)| (name.as_str(), metric))
        .or_else(|| cases.iter().find_map(|case| case.headline()))
        .map_or((asked, None), |(name, metric)| (name, Some(metric)));
    let mut settings: Vec<&str> = Vec::new();
    for setting in cases.iter().filter_map(|case| Some(block(case)?.setting.as_str())) {
        if !settings.contains(&setting) {
            settings.push(setting);
        }
    }
    settings.sort_unstable();
    Some(SettingStudy {
        group: first.group.clone(),
        bench: first.bench.clone(),
        nodes: first.nodes.clone(),
        subject: first.subject.clone(),
        metric: metric.to_owned(),
        unit: example.map_or(Unit::Count, |example| example.unit),
        better: example.map_or(Better::None, |example| example.better),
        seed: study(first)?.seed,
        gains: settings.into_iter().filter_map(|setting| gain(setting, cases, metric)).collect(),
    })
}

fn gain(setting: &str, cases: &[&CaseRecord], metric: &str) -> Option<SettingGain> {
    let is_own = |case: &&&CaseRecord| block(case).is_some_and(|block| block.setting == setting);
    let own: Vec<&CaseRecord> = cases.iter().filter(is_own).copied().collect();
    let changes = &block(own.first()?)?.changes;
    let mut before: Vec<&str> = changes.iter().map(|change| change.before.as_str()).collect();
    before.sort_unstable();
    before.dedup();
    let mut metrics: BTreeMap<&str, &MetricRecord> = BTreeMap::new();
    for (name, found) in own.iter().flat_map(|case| &case.metrics) {
        metrics.entry(name).or_insert(found);
    }
    let blocks = blocks(&own);
    let side = |(name, found): (&&str, &&MetricRecord)| effect(name, Some(found), &blocks);
    // A case with the setting says more than one of the block that was left out for it.
    let lost = own.iter().filter(|case| case.outcome != Outcome::Measured);
    let lost = lost.max_by_key(|case| is_set(case));
    Some(SettingGain {
        setting: setting.to_owned(),
        before: before.join(" and "),
        effect: effect(metric, metrics.get(metric).copied(), &blocks),
        side_effects: metrics.iter().filter(|(name, _)| **name != metric).map(side).collect(),
        of_blocks: blocks.len(),
        reason: lost.and_then(|case| case.reason.clone()),
        outcome: lost.map(|case| case.outcome),
    })
}

/// The cases of each block: without and with the setting.
type Block<'a> = [Vec<&'a CaseRecord>; 2];

fn blocks<'a>(cases: &[&'a CaseRecord]) -> Vec<Block<'a>> {
    let mut blocks: BTreeMap<u32, Block<'a>> = BTreeMap::new();
    for case in cases {
        let repeat = study(case).map_or(0, |study| study.repeat);
        blocks.entry(repeat).or_default()[usize::from(is_set(case))].push(case);
    }
    blocks.into_values().collect()
}

fn effect(metric: &str, example: Option<&MetricRecord>, blocks: &[Block<'_>]) -> SettingEffect {
    let values = |cases: &[&CaseRecord]| -> Vec<f64> {
        cases.iter().filter_map(|case| Some(case.metrics.get(metric)?.median)).collect()
    };
    let middle = |kind: usize| {
        let all: Vec<f64> = blocks.iter().flat_map(|block| values(&block[kind])).collect();
        median(&all)
    };
    let better = example.map_or(Better::None, |example| example.better);
    // Only whole blocks: of three values a drift would not cancel.
    let pair = |block: &Block<'_>| {
        let [without, with] = [&block[0], &block[1]].map(|cases| {
            let values = values(cases);
            (values.len() == OF_A_KIND).then(|| geometric_mean(&values))
        });
        let (without, with) = (without?, with?);
        Some(if better == Better::Lower { (without, with) } else { (with, without) })
    };
    let pairs: Vec<(f64, f64)> = blocks.iter().filter_map(pair).collect();
    SettingEffect {
        metric: metric.to_owned(),
        unit: example.map_or(Unit::Count, |example| example.unit),
        better,
        values: [middle(0), middle(1)],
        gain: paired_ratio(&pairs).ok(),
        blocks: pairs.len(),
        worth: SettingWorth::Unknown,
    }
}

fn geometric_mean(values: &[f64]) -> f64 {
    values.iter().map(|value| value.ln()).sum::<f64>().exp().powf(1.0 / values.len() as f64)
}

/// Says of each effect whether it stands among all of them.
fn judge(mut effects: Vec<&mut SettingEffect>) {
    let p = |effect: &&mut SettingEffect| effect.gain.and_then(|gain| gain.p).unwrap_or(f64::NAN);
    let stands = discoveries(&effects.iter().map(p).collect::<Vec<_>>(), WRONG_EFFECTS);
    for (effect, stands) in effects.iter_mut().zip(stands) {
        let Some(gain) = effect.gain.filter(|gain| gain.p.is_some()) else { continue };
        effect.worth = match (stands, effect.better) {
            (false, _) => SettingWorth::Nothing,
            (true, Better::None) => SettingWorth::Changes,
            (true, _) if gain.ratio > 1.0 => SettingWorth::Pays,
            (true, _) => SettingWorth::Hurts,
        };
    }
}

fn findings(study: &SettingStudy) -> Vec<Finding> {
    let of_gain = |gain: &SettingGain| {
        let side =
            |side| finding(study, side, format!("side effect of {}: {}", gain.setting, words(side, gain)));
        let text = format!("{}: {}", gain.setting, words(&gain.effect, gain));
        std::iter::once(finding(study, &gain.effect, text))
            .chain(gain.side_effects.iter().map(side))
            .collect::<Vec<_>>()
    };
    study.gains.iter().flat_map(of_gain).collect()
}

fn finding(study: &SettingStudy, effect: &SettingEffect, text: String) -> Finding {
    let SettingStudy { nodes, subject, group, .. } = study;
    paired::finding(&RULE, &PairedStudy { nodes, subject, group, metric: &effect.metric }, effect.gain, text)
}

fn words(effect: &SettingEffect, of: &SettingGain) -> String {
    let ([Some(without), Some(with)], Some(gain)) = (effect.values, effect.gain) else {
        let why = because(of.reason.as_deref());
        return format!("the gain is unknown: no block was measured in full{why}");
    };
    let sizes = format!(
        "{} is {} without it ({}) and {} with it",
        effect.metric,
        in_unit(without, effect.unit),
        of.before,
        in_unit(with, effect.unit)
    );
    let kind = if effect.better == Better::None { "ratio" } else { "gain" };
    let over = format!("over {} of {} blocks", effect.blocks, of.of_blocks);
    let size = significant(gain.ratio);
    match gain.ci95 {
        None => format!("{sizes}: a {kind} of {size}, {over}, too few for an interval"),
        Some(interval) => {
            format!("{sizes}: a {kind} of {size} ({}), {over}: {}", range(interval), effect.worth.words())
        }
    }
}
