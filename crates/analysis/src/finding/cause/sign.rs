//! What can be seen of a cause.

use std::collections::BTreeMap;

use seatrial_model::record::CaseRecord;
use seatrial_model::setting::{Present, SettingReading};
use seatrial_model::{Bytes, NodeReadings, SiteNode, Value};

use super::scene::Scene;
use crate::finding::lossy::{self, Lost};
use crate::finding::shaped;
use crate::fleet::setting_name;
use crate::number::significant;

/// Something that a record, the inventory or the settings show, or do not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sign {
    /// The reason of a case without a number has this text.
    Reason(&'static str),
    /// The kernel of the node logged a line with one of these texts during trials, and no other kernel did; of cases of these
    /// families.
    KernelLog(&'static [&'static str], &'static [&'static str]),
    /// A control group limits the device of its cases.
    ThrottledDevice,
    /// Segments are lost in most pairs of the node.
    Loss,
    /// Acknowledgements are lost in most pairs of the node.
    LostAcknowledgements,
    /// A shaper of the node allows what the node reaches, and less than the others reach.
    Shaper,
    /// The last value of this setting is smaller than the value of most other nodes.
    Smaller(&'static str),
    /// A cgroup limits the CPU time of the node, and of no other.
    CpuQuota,
    /// The node has fewer CPUs to run on than most other nodes.
    FewerCpus,
    /// This limits the flows of the node, as their benchmark derives it from TCP_INFO and CPU times.
    LimitedBy(&'static str),
    /// The same limits the flows of the other nodes.
    OthersLimitedBy(&'static str),
}

/// What a sign saw.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Observation {
    pub text: String,
    pub device: String,
    pub command: String,
}

pub enum Observed {
    Seen(Observation),
    Absent,
    /// The record has nothing that could show it.
    Unknown,
}

/// Share of all flows that have the limit: fewer say nothing about the node.
const MOST: f64 = 0.8;

/// Share of the flows of other nodes from which on the limit says nothing about the node.
const OTHERS: f64 = 0.4;

/// Share of the shaper's rate that slow flows behind the shaper reach at least: the rest is headers, and what TCP
/// leaves unused while it searches for the rate.
const SHAPED: f64 = 0.5;

impl Sign {
    /// The sign in words, as in a list of what was looked for.
    pub fn words(&self) -> String {
        match self {
            Self::Reason(text) => format!("\"{text}\" in the reason of its cases"),
            Self::KernelLog(texts, _) => {
                let texts: Vec<String> = texts.iter().map(|text| format!("\"{text}\"")).collect();
                format!("{} in the kernel log", texts.join(" or "))
            }
            Self::ThrottledDevice => "a limit of a control group on the device".to_owned(),
            Self::Loss => "packet loss".to_owned(),
            Self::LostAcknowledgements => "loss of acknowledgements".to_owned(),
            Self::Shaper => "a shaper on the node".to_owned(),
            Self::Smaller(setting) => format!("a smaller {setting} than the others"),
            Self::CpuQuota => "a CPU quota".to_owned(),
            Self::FewerCpus => "fewer CPUs than the others".to_owned(),
            Self::LimitedBy(word) => format!("flows limited by {word}"),
            Self::OthersLimitedBy(word) => format!("flows of other nodes limited by {word}"),
        }
    }

    /// The sign in a list of what a finding excludes.
    pub(super) fn short(&self) -> String {
        match self {
            Self::KernelLog(texts, _) => format!("\"{}\" and the like in the kernel log", texts[0]),
            other => other.words(),
        }
    }

    pub(super) fn sight(&self, scene: &Scene<'_>) -> Observed {
        if let Self::Reason(text) = self {
            let reasons: Vec<&String> = scene.cases.iter().filter_map(|case| case.reason.as_ref()).collect();
            return match reasons.is_empty() {
                true => Observed::Unknown,
                false => told(reasons.iter().any(|reason| reason.contains(text)), String::new()),
            };
        }
        match self {
            Self::KernelLog(texts, families) => return kernel_log(scene, texts, families),
            Self::ThrottledDevice => return throttled_device(scene),
            // What makes a node slow explains no case without a number.
            _ if scene.slow.is_none() => return Observed::Unknown,
            _ => {}
        }
        match self {
            Self::Reason(_) | Self::KernelLog(..) | Self::ThrottledDevice => Observed::Unknown,
            Self::Loss => lost(scene, Lost::Segments),
            Self::LostAcknowledgements => lost(scene, Lost::Acknowledgements),
            Self::Shaper => shaper(scene),
            Self::Smaller(setting) => smaller(scene, setting),
            Self::CpuQuota => quota(scene),
            Self::FewerCpus => fewer_cpus(scene),
            Self::LimitedBy(word) => limited_by(scene.cases.iter().copied(), word, MOST),
            Self::OthersLimitedBy(word) => limited_by(scene.others(), word, OTHERS),
        }
    }
}

fn told(is_seen: bool, text: String) -> Observed {
    if is_seen { Observed::Seen(Observation { text, ..Observation::default() }) } else { Observed::Absent }
}

fn kernel_log(scene: &Scene<'_>, texts: &[&str], families: &[&str]) -> Observed {
    let is_of =
        |case: &&CaseRecord| case.bench.split('.').next().is_some_and(|family| families.contains(&family));
    if !scene.cases.iter().any(is_of) {
        return Observed::Unknown;
    }
    let (mut own, mut is_read) = (None, false);
    for case in scene.records {
        for (node, reading) in NodeReadings::of_probe(&case.evidence, "kernel_log") {
            let line = reading.lines.iter().find(|line| texts.iter().any(|text| line.text.contains(text)));
            match node == scene.node {
                true => (own, is_read) = (own.or(line.map(|line| line.text.clone())), true),
                // Nodes on one kernel read one log.
                false if line.is_some() => return Observed::Absent,
                false => {}
            }
        }
    }
    match own {
        Some(line) => told(true, format!("'{line}'")),
        None if is_read => Observed::Absent,
        None => Observed::Unknown,
    }
}

fn throttled_device(scene: &Scene<'_>) -> Observed {
    let limits = |case: &&CaseRecord| -> Option<Vec<String>> {
        let limits = case.evidence.get("throttle")?.as_object()?;
        let limits = limits.iter().filter(|(_, limit)| limit.is_u64());
        Some(limits.map(|(name, limit)| format!("{name} {limit}")).collect())
    };
    let own: Vec<String> = scene.cases.iter().filter_map(limits).flatten().collect();
    match own.first() {
        Some(_) => told(true, own.join(", ")),
        None if scene.cases.iter().any(|case| case.evidence.contains_key("throttle")) => Observed::Absent,
        None => Observed::Unknown,
    }
}

fn lost(scene: &Scene<'_>, what: Lost) -> Observed {
    let own = lossy::nodes(scene.records).into_iter().find(|lossy| {
        lossy.node == scene.node
            && lossy.what == what
            && lossy.side.overlaps(scene.side)
            && scene.cases.iter().any(|case| case.group == lossy.group)
    });
    match own {
        Some(lossy) => told(true, lossy.cause()),
        None if scene.cases.iter().any(|case| what.is_counted(case)) => Observed::Absent,
        None => Observed::Unknown,
    }
}

fn limited_by<'a>(cases: impl Iterator<Item = &'a CaseRecord>, word: &str, most: f64) -> Observed {
    let mut flows: BTreeMap<&str, u64> = BTreeMap::new();
    for (word, count) in cases.filter_map(|case| case.evidence.get("limited_by")?.as_object()).flatten() {
        *flows.entry(word).or_default() += count.as_u64().unwrap_or(0);
    }
    let (all, own) = (flows.values().sum::<u64>(), flows.get(word).copied().unwrap_or(0));
    if all == 0 {
        return Observed::Unknown;
    }
    told(own as f64 >= most * all as f64, format!("in {own} of {all} flows"))
}

fn shaper(scene: &Scene<'_>) -> Observed {
    let Some(node) = scene.site.node(scene.node) else { return Observed::Unknown };
    let Some((rate, median)) = scene.rates() else { return Observed::Unknown };
    let of_rate =
        |shaper: &shaped::Shaper| rate <= shaper.gbit && rate >= SHAPED * shaper.gbit && shaper.gbit < median;
    match shaped::shapers(node).into_iter().find(of_rate) {
        Some(shaper) => Observed::Seen(Observation {
            text: shaper.text(scene.node),
            device: shaper.nic,
            ..Observation::default()
        }),
        None => Observed::Absent,
    }
}

/// The last of the values of a setting: the largest of several.
fn last_number(value: &Value) -> Option<f64> {
    let text = value.to_string();
    let last = text.rsplit(',').next()?.trim();
    last.parse::<f64>().ok().or_else(|| last.parse::<Bytes>().ok().map(|bytes| bytes.get() as f64))
}

fn smaller(scene: &Scene<'_>, setting: &str) -> Observed {
    let values = |node: &'_ SiteNode| -> Vec<(SettingReading, Value)> {
        let of_setting = node.settings.iter().filter(|reading| reading.setting == setting);
        of_setting
            .filter_map(|reading| match &reading.present {
                Present::Value(value) => Some((reading.clone(), value.clone())),
                Present::Absent(_) | Present::Unreadable(_) => None,
            })
            .collect()
    };
    let Some(node) = scene.site.node(scene.node) else { return Observed::Unknown };
    let mut is_known = false;
    for (reading, value) in values(node) {
        let others = scene.site.nodes.iter().filter(|other| other.name != node.name).flat_map(values);
        let mut counts: BTreeMap<String, (usize, Value)> = BTreeMap::new();
        for (_, other) in others.filter(|(other, _)| other.subject == reading.subject) {
            counts.entry(other.to_string()).or_insert((0, other)).0 += 1;
        }
        let all: usize = counts.values().map(|(count, _)| count).sum();
        let Some((count, usual)) = counts.into_values().max_by_key(|(count, _)| *count) else { continue };
        let (Some(own), Some(others)) = (last_number(&value), last_number(&usual)) else { continue };
        is_known = true;
        if own < others && 2 * count > all {
            let about = scene.settings.iter().find(|about| about.id == setting);
            let command = about.and_then(|about| about.command(&reading, &usual));
            return Observed::Seen(Observation {
                text: format!("{} is {value}, on {count} others {usual}", setting_name(&reading)),
                device: String::new(),
                command: command.unwrap_or_else(|| format!("set {setting} to {usual}")),
            });
        }
    }
    if is_known { Observed::Absent } else { Observed::Unknown }
}

fn quota(scene: &Scene<'_>) -> Observed {
    let of = |node: &SiteNode| node.machine.cpu.quota.known().cloned();
    let Some(own) = scene.site.node(scene.node).and_then(of) else { return Observed::Unknown };
    let others = || scene.site.nodes.iter().filter(|node| node.name != scene.node);
    let is_alone = others().all(|node| of(node).is_some_and(|quota| quota != own));
    match own.filter(|_| is_alone) {
        Some(quota) => {
            let cpus = quota.quota_us as f64 / quota.period_us.max(1) as f64;
            told(true, format!("the cgroup {} allows {} CPUs", quota.group, significant(cpus)))
        }
        None => Observed::Absent,
    }
}

fn fewer_cpus(scene: &Scene<'_>) -> Observed {
    let of = |node: &SiteNode| node.machine.cpu.usable().count();
    let Some(own) = scene.site.node(scene.node).map(of) else { return Observed::Unknown };
    let mut others: Vec<usize> =
        scene.site.nodes.iter().filter(|node| node.name != scene.node).map(of).collect();
    others.sort_unstable();
    let Some(usual) = others.get(others.len() / 2) else { return Observed::Unknown };
    if own == 0 {
        return Observed::Unknown;
    }
    told(own < *usual, format!("{own} CPUs, the others have {usual}"))
}
