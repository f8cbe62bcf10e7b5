//! What can be seen of a cause.

use std::collections::BTreeMap;

use seatrial_model::record::CaseRecord;
use seatrial_model::setting::{Present, SettingAbout};
use seatrial_model::{Bytes, NodeReadings, SiteNode};

use super::scene::Scene;
use crate::finding::lossy::{self, Lost};
use crate::finding::matrix::distance;
use crate::finding::nfs;
use crate::finding::probes::seen;
use crate::finding::shaped;
use crate::finding::speeds::FEWEST_PARTNERS;
use crate::fleet::{attributes, how_to_set, setting_name};
use crate::number::{in_unit, significant};

/// Something that a record, the inventory or the settings show, or do not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sign {
    /// The reason of a case without a number has this text.
    Reason(&'static str),
    /// The kernel of the node logged a line with one of these texts during trials, and no other kernel did.
    KernelLog(&'static [&'static str]),
    /// A control group limits the device of its cases.
    ThrottledDevice,
    /// Segments are lost in most pairs of the node.
    Loss,
    /// Acknowledgements are lost in most pairs of the node.
    LostAcknowledgements,
    /// Segments come twice in most pairs of the node.
    Duplicates,
    /// Segments come after later ones in most pairs of the node.
    Reordering,
    /// A shaper of the node allows what the node reaches, and less than the others reach.
    Shaper,
    /// An attribute or a setting of one of these names is lower than on most nodes: of a list the last number counts.
    Lower(&'static [&'static str]),
    /// An attribute or a setting of one of these names is not as on most nodes.
    Differs(&'static [&'static str]),
    /// One of these states counts errors on the node, and on most others none.
    Counted(&'static [&'static str]),
    /// A case of the node has a finding of one of these kinds, and most cases of the others have none.
    Finding(&'static [&'static str]),
    /// The clock of the node's CPUs was lowered because of heat, and that of most others was not.
    Heat,
    /// A cgroup limits the CPU time of the node, and of no other.
    CpuQuota,
    /// The node waits for its NFS server, and most others do not.
    SlowNfsServer,
    /// The node sends requests to its NFS server again, and most others do not.
    NfsRetransmissions,
    /// This limits the flows of the node, as their benchmark derives it from TCP_INFO and CPU times.
    LimitedBy(&'static str),
    /// The same limits the flows of the other nodes.
    OthersLimitedBy(&'static str),
    /// The path limits the flows of the node, and their rate is the same with all partners.
    SteadyRate,
}

/// What a sign saw.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Observation {
    pub text: String,
    pub device: String,
    pub command: String,
}

impl Observation {
    /// The attribute or setting `name` of `node`, which is `value` there and `usual` on so many others.
    pub fn of_difference(
        node: &SiteNode,
        name: &str,
        value: &str,
        (usual, others): (&str, usize),
        settings: &[&'static SettingAbout],
    ) -> Self {
        let others = if others == 1 { "1 other".to_owned() } else { format!("{others} others") };
        Self {
            text: format!("{name} is {value}, on {others} {usual}"),
            device: name.rsplit_once(':').map_or_else(String::new, |(_, device)| device.to_owned()),
            command: how_to_set(node, name, usual, settings).unwrap_or_default(),
        }
    }

    /// The places of texts that it fills.
    pub(super) fn places(&self) -> [(&'static str, &str); 3] {
        [("{seen}", &self.text), ("{device}", &self.device), ("{command}", &self.command)]
    }
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
            Self::KernelLog(texts) => {
                let texts: Vec<String> = texts.iter().map(|text| format!("\"{text}\"")).collect();
                format!("{} in the kernel log", texts.join(" or "))
            }
            Self::ThrottledDevice => "a limit of a control group on the device, of the node alone".to_owned(),
            Self::Loss => "packet loss".to_owned(),
            Self::LostAcknowledgements => "loss of acknowledgements".to_owned(),
            Self::Duplicates => "duplicate packets".to_owned(),
            Self::Reordering => "packets out of order".to_owned(),
            Self::Shaper => "a shaper on the node".to_owned(),
            Self::Lower(names) => format!("lower {} than on the others", names.join(" or ")),
            Self::Differs(names) => format!("other {} than on the others", names.join(" or ")),
            Self::Counted(states) => format!("{} above 0, and 0 on the others", states.join(" or ")),
            Self::Finding(kinds) => format!("the finding {} of the node alone", kinds.join(" or ")),
            Self::Heat => "a clock lowered by heat, of the node alone".to_owned(),
            Self::CpuQuota => "a CPU quota".to_owned(),
            Self::SlowNfsServer => "an NFS server that answers late, of the node alone".to_owned(),
            Self::NfsRetransmissions => "NFS requests sent again, of the node alone".to_owned(),
            Self::LimitedBy(word) => format!("flows limited by {word}"),
            Self::OthersLimitedBy(word) => format!("flows of other nodes limited by {word}"),
            Self::SteadyRate => "flows limited by path, at the same rate with all partners".to_owned(),
        }
    }

    /// Whether an attribute of this name that is `own`, and usually `usual`, is the sign.
    pub(super) fn is_difference(&self, name: &str, own: &str, usual: &str) -> bool {
        let is_of = |names: &[&str]| names.iter().any(|known| is_named(name, known));
        match self {
            Self::Lower(names) => is_of(names) && is_less(own, usual),
            // What is on, or set for performance, makes no node slow.
            Self::Differs(names) => is_of(names) && own != usual && !["true", "performance"].contains(&own),
            Self::CpuQuota => name == "CPU quota",
            _ => false,
        }
    }

    pub(super) fn sight(&self, scene: &Scene<'_>) -> Observed {
        if let Self::Reason(text) = self {
            let reasons: Vec<&String> = scene.cases.iter().filter_map(|case| case.reason.as_ref()).collect();
            return match reasons.is_empty() {
                true => Observed::Unknown,
                false => told(reasons.iter().any(|reason| reason.contains(text)), (*text).to_owned()),
            };
        }
        match self {
            Self::KernelLog(texts) => return kernel_log(scene, texts),
            Self::ThrottledDevice => return throttled_device(scene),
            // What makes a node slow explains no case without a number.
            _ if !scene.has_numbers() => return Observed::Unknown,
            _ => {}
        }
        match self {
            Self::Reason(_) | Self::KernelLog(..) | Self::ThrottledDevice => Observed::Unknown,
            Self::Loss => lost(scene, Lost::Segments),
            Self::LostAcknowledgements => lost(scene, Lost::Acknowledgements),
            Self::Duplicates => lost(scene, Lost::Duplicates),
            Self::Reordering => lost(scene, Lost::Order),
            Self::Shaper => shaper(scene),
            Self::Lower(names) | Self::Differs(names) => odd(scene, self, names),
            Self::Counted(states) => counted(scene, states),
            Self::Finding(kinds) => has_finding(scene, kinds),
            Self::Heat => heat(scene),
            Self::CpuQuota => quota(scene),
            Self::SlowNfsServer => of_nfs(scene, nfs::slow_server),
            Self::NfsRetransmissions => of_nfs(scene, nfs::retransmissions),
            Self::LimitedBy(word) => limited_by(scene.cases.iter().copied(), word, MOST),
            Self::OthersLimitedBy(word) => limited_by(scene.others(), word, OTHERS),
            Self::SteadyRate => steady_rate(scene),
        }
    }
}

fn told(is_seen: bool, text: String) -> Observed {
    if is_seen { Observed::Seen(Observation { text, ..Observation::default() }) } else { Observed::Absent }
}

fn kernel_log(scene: &Scene<'_>, texts: &[&str]) -> Observed {
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
    // A limit that most others have too makes no node slower than these.
    let is_alike = |case: &CaseRecord| {
        limits(&case).is_some_and(|other| !other.is_empty() && other.iter().all(|one| own.contains(one)))
    };
    match own.first() {
        Some(_) => alone(Some(own.join(", ")), scene.others().map(is_alike)),
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

/// Largest distance of a rate from the median of its node that a limiter of the rate leaves.
const STEADY: f64 = 0.03;

fn steady_rate(scene: &Scene<'_>) -> Observed {
    let Some((matrix, slow)) = &scene.slow else { return Observed::Unknown };
    match limited_by(scene.cases.iter().copied(), "path", MOST) {
        Observed::Seen(_) => {}
        other => return other,
    }
    let rates = || scene.cases.iter().filter_map(|case| Some(case.headline()?.1.median));
    let is_steady = rates().all(|rate| distance(rate, slow.value).abs() <= STEADY);
    let text = format!("{}, the same with {} partners", in_unit(slow.value, matrix.unit), slow.partners);
    told(is_steady && slow.partners >= FEWEST_PARTNERS, text)
}

fn shaper(scene: &Scene<'_>) -> Observed {
    let Some(node) = scene.site().node(scene.node) else { return Observed::Unknown };
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

/// The number by which values are ordered: the largest of a list, and of a number with a unit that number.
fn last_number(value: &str) -> Option<f64> {
    let last = value.rsplit(',').next()?.trim();
    let first = last.split(' ').next()?;
    last.parse::<Bytes>().ok().map(|bytes| bytes.get() as f64).or_else(|| first.parse::<f64>().ok())
}

fn is_less(own: &str, usual: &str) -> bool {
    last_number(own).zip(last_number(usual)).is_some_and(|(own, usual)| own < usual)
}

/// An attribute with one of `names`, of the node or of a device, whose difference from that of most nodes is `sign`.
fn odd(scene: &Scene<'_>, sign: &Sign, names: &[&str]) -> Observed {
    let Some(node) = scene.site().node(scene.node) else { return Observed::Unknown };
    let mut is_known = false;
    let all = attributes(node);
    let own = names.iter().flat_map(|name| all.iter().filter(move |(of, _)| is_named(of, name)));
    for (name, value) in own.filter(|(name, _)| scene.concerns(name)) {
        let Some(usual) = scene.fleet.usual(name) else { continue };
        is_known = true;
        if sign.is_difference(name, value, &usual.value) {
            let usual = (usual.value.as_str(), usual.nodes);
            let settings = scene.fleet.settings;
            let mut seen = Observation::of_difference(node, name, value, usual, settings);
            if seen.command.is_empty() {
                seen.command = format!("set {name} to {}", usual.0);
            }
            return Observed::Seen(seen);
        }
    }
    if is_known { Observed::Absent } else { Observed::Unknown }
}

/// The command that sets what the node has lower than most nodes, if it has.
pub(super) fn command_for_lower(scene: &Scene<'_>, names: &'static [&'static str]) -> Option<String> {
    match odd(scene, &Sign::Lower(names), names) {
        Observed::Seen(seen) => Some(seen.command),
        Observed::Absent | Observed::Unknown => None,
    }
}

/// Whether an attribute is called `name`, or `name` of a device.
fn is_named(attribute: &str, name: &str) -> bool {
    attribute.strip_prefix(name).is_some_and(|rest| rest.is_empty() || rest.starts_with(" of "))
}

/// What the node has, and most others have not, of those of which it is known whether they have it.
fn alone(own: Option<String>, others: impl Iterator<Item = bool>) -> Observed {
    let others: Vec<bool> = others.collect();
    let with = others.iter().filter(|has| **has).count();
    match own.filter(|_| others.is_empty() || 2 * with < others.len()) {
        Some(own) => told(true, own),
        None => Observed::Absent,
    }
}

/// A count of errors that the node has and most others have not.
fn counted(scene: &Scene<'_>, settings: &[&str]) -> Observed {
    let of = |node: &SiteNode| -> Option<(String, f64)> {
        let own = node.settings.iter().filter(|reading| settings.contains(&reading.setting.as_str()));
        let counts = own.filter_map(|reading| match &reading.present {
            Present::Value(value) => {
                let value = value.to_string();
                let count = match value.as_str() {
                    "true" => 1.0,
                    "false" => 0.0,
                    number => last_number(number)?,
                };
                let value = if value == "true" { value } else { significant(count) };
                let note = reading.note.as_ref().map(|note| format!(" ({note})")).unwrap_or_default();
                Some((format!("{} is {value}{note}", setting_name(reading)), count))
            }
            Present::Absent(_) | Present::Unreadable(_) => None,
        });
        counts.max_by(|(_, one), (_, other)| one.total_cmp(other))
    };
    let Some((name, count)) = scene.site().node(scene.node).and_then(of) else { return Observed::Unknown };
    let others = scene.site().nodes.iter().filter(|node| node.name != scene.node);
    // Errors of a single node say nothing about others.
    let others: Vec<bool> = others.filter_map(|node| Some(of(node)?.1 > 0.0)).collect();
    let own = (count > 0.0 && !others.is_empty()).then_some(name);
    alone(own, others.into_iter())
}

/// A finding of one of these kinds about a case of the node, which most cases of the others have not.
fn has_finding(scene: &Scene<'_>, kinds: &[&str]) -> Observed {
    let of = |case: &CaseRecord| -> Option<String> {
        case.findings.iter().find(|one| kinds.contains(&one.kind.as_str())).map(|one| one.text.clone())
    };
    let own = scene.cases.iter().find_map(|case| of(case));
    alone(own, scene.others().map(|case| of(case).is_some()))
}

/// The clock of the node's CPUs was lowered because of heat, and that of most others was not.
fn heat(scene: &Scene<'_>) -> Observed {
    let times = |case: &CaseRecord, is_own: bool| -> Option<u64> {
        let of = seen(case, "throttle").filter(|seen| (seen.node == scene.node) == is_own);
        of.map(|seen| seen.count("core_throttles") + seen.count("package_throttles"))
            .reduce(|sum, one| sum + one)
    };
    let own = scene.cases.iter().filter_map(|case| times(case, true)).reduce(|sum, one| sum + one);
    let Some(own) = own else { return Observed::Unknown };
    let own = (own > 0).then(|| format!("{own} times during the trials"));
    alone(own, scene.others().filter_map(|case| times(case, false)).map(|times| times > 0))
}

/// What the NFS counters of a node tell in each of these cases that has some.
type OfNfs = fn(&[&CaseRecord], &str) -> Vec<Option<String>>;

fn of_nfs(scene: &Scene<'_>, told: OfNfs) -> Observed {
    let own = told(&scene.cases, scene.node);
    if own.is_empty() {
        return Observed::Unknown;
    }
    let others = scene.others().flat_map(|case| case.nodes.iter().flat_map(move |node| told(&[case], node)));
    alone(own.into_iter().flatten().next(), others.map(|one| one.is_some()))
}

fn quota(scene: &Scene<'_>) -> Observed {
    let of = |node: &SiteNode| node.machine.cpu.quota.known().cloned();
    let Some(own) = scene.site().node(scene.node).and_then(of) else { return Observed::Unknown };
    let others = || scene.site().nodes.iter().filter(|node| node.name != scene.node);
    let is_alone = others().all(|node| of(node).is_some_and(|quota| quota != own));
    match own.filter(|_| is_alone) {
        Some(quota) => {
            let cpus = quota.quota_us as f64 / quota.period_us.max(1) as f64;
            told(true, format!("the cgroup {} allows {} CPUs", quota.group, significant(cpus)))
        }
        None => Observed::Absent,
    }
}
