//! Gives the findings that name a node their cause and what to do about it.

use std::collections::BTreeMap;

use seatrial_model::record::CaseRecord;
use seatrial_model::setting::SettingAbout;
use seatrial_model::{Confidence, Finding, Gain, Outcome, Severity, Site, Subject, Unit};

use super::rule::CauseRule;
use super::rules::CAUSES;
use super::scene::{Fleet, Scene};
use super::sign::Observation;
use crate::finding::fill::file_system_of;
use crate::finding::loss::loss;
use crate::finding::matrix::{Matrix, SlowSide};
use crate::finding::speeds::{FEWEST_PARTNERS, is_of, speeds};
use crate::finding::{culprit, shaped, slow};
use crate::number::{quantity, ratio};

/// The finding that says why cases of one node have no numbers.
const ALONE: &str = "known-cause";

/// Adds causes and remedies to the findings that name a slow node or a culprit, and findings about cases of one node that have
/// no numbers for a known cause, and about shapers whose rate is reached.
pub fn explain(
    findings: &mut Vec<Finding>,
    records: &[CaseRecord],
    site: &Site,
    settings: &[&'static SettingAbout],
) {
    let fleet = Fleet::new(site, settings);
    for finding in findings.iter_mut() {
        // The rule of the finding told the cause.
        let told = CAUSES.iter().find(|rule| finding.cause.as_deref() == Some(rule.id));
        let Some(node) = finding.node.clone() else {
            finding.remedy =
                finding.remedy.take().or_else(|| told?.general_remedy("", &Observation::default()));
            continue;
        };
        let empty = Scene {
            node: &node,
            side: SlowSide::Both,
            cases: Vec::new(),
            slow: None,
            records,
            fleet: &fleet,
        };
        match finding.kind.as_str() {
            kind if kind == slow::NODE.kind && finding.remedy.is_none() => of_slow(finding, empty),
            kind if kind == culprit::RULE.kind => {
                let is_named =
                    |case: &&CaseRecord| finding.evidence.iter().any(|id| *id == case.case.as_str());
                let cases = records.iter().filter(is_named).collect();
                of_failed(finding, &Scene { cases, ..empty });
            }
            _ => {
                let remedy = told.map(|rule| rule.remedy(&empty, &Observation::default()));
                finding.remedy = finding.remedy.take().or(remedy);
            }
        }
    }
    findings.extend(alone(records, &fleet));
    shaped::tell(findings, records, site);
}

/// Adds causes and remedies to findings about numbers of one node that are worse than those of nodes like it.
pub fn explain_outliers<'a>(
    findings: impl Iterator<Item = &'a mut Finding>,
    records: &[CaseRecord],
    site: &Site,
    settings: &[&'static SettingAbout],
) {
    let fleet = Fleet::new(site, settings);
    for finding in findings {
        let Some(node) = finding.node.clone() else { continue };
        let is_its = |case: &&CaseRecord| {
            finding.case.as_deref() == Some(case.case.as_str()) && case.nodes.first() == Some(&node)
        };
        let cases = records.iter().filter(is_its).collect();
        let scene = Scene { node: &node, side: SlowSide::Both, cases, slow: None, records, fleet: &fleet };
        of_failed(finding, &scene);
        if finding.cause.is_some() {
            finding.confidence = finding.confidence.or(Some(Confidence::High));
        }
    }
}

/// The cause that an attribute or setting of a node is, with this value where the others have another.
pub fn cause_of_difference(name: &str, own: &str, usual: &str) -> Option<&'static CauseRule> {
    CAUSES.iter().find(|rule| rule.seen.iter().any(|sign| sign.is_difference(name, own, usual)))
}

/// The first rule that holds.
fn cause(scene: &Scene<'_>) -> Option<(&'static CauseRule, Observation)> {
    CAUSES.iter().find_map(|rule| Some((rule, rule.holds(scene)?)))
}

/// Where the cause stays open, the causes that were looked for and are not there.
fn excluded(rule: &CauseRule, scene: &Scene<'_>) -> String {
    let is_absent = |other: &&CauseRule| rule.is_open() && !other.is_open() && other.is_excluded(scene);
    let titles: Vec<&str> = CAUSES.iter().filter(is_absent).map(|rule| rule.title).collect();
    if titles.is_empty() {
        String::new()
    } else {
        format!("; looked for and not found: {}", titles.join(", "))
    }
}

fn of_slow(finding: &mut Finding, scene: Scene<'_>) {
    let matrices = speeds(scene.records);
    let is_asked = |matrix: &&Matrix| {
        finding.evidence.first() == Some(&matrix.group) && finding.evidence.get(1) == Some(&matrix.metric)
    };
    let slow = matrices.iter().filter(is_asked).find_map(|matrix| {
        let named = matrix.slow_nodes(FEWEST_PARTNERS);
        let peers = matrix.sound(&named);
        let slow = named.into_iter().find(|slow| matrix.nodes[slow.nodes[0]] == scene.node)?;
        // Of several questions of a group, the one that the finding tells.
        let told = quantity(slow::percent(slow.value, peers.unwrap_or(slow.median)), Unit::Percent);
        (told == finding.value).then_some((matrix, slow))
    });
    let Some((matrix, slow)) = slow else { return };
    let own = scene
        .records
        .iter()
        .filter(|case| is_of(case, matrix) && slow.side.has_node(scene.node, &case.nodes));
    let scene = Scene { side: slow.side, cases: own.collect(), slow: Some((matrix, slow)), ..scene };
    let (rule, seen) =
        cause(&scene).unwrap_or((CAUSES.last().expect("there are rules"), Observation::default()));
    say_first(finding, scene.node, &rule.text(&scene, &seen));
    finding.cause = Some(rule.id.to_owned());
    finding.remedy = Some(rule.remedy(&scene, &seen));
    if let (Some(gain), Some((matrix, _))) = (gain(&scene), &scene.slow) {
        let factor = ratio(gain.factor);
        finding.text += &format!("; without the cause {factor} times the {} is expected", matrix.metric);
        finding.gain = Some(gain);
    }
    finding.text += &excluded(rule, &scene);
}

/// What taking the cause away would bring: the median of the pairs of sound nodes. The limit of the node's own cases is no bound
/// of it: a shaper or a setting that is the cause is in there.
fn gain(scene: &Scene<'_>) -> Option<Gain> {
    let (matrix, slow) = scene.slow.as_ref()?;
    let to = matrix.sound(&matrix.slow_nodes(FEWEST_PARTNERS))?;
    let factor = Some(to / slow.value).filter(|factor| factor.is_finite() && *factor > 0.0)?;
    let cases = scene.cases.iter().map(|case| case.case.to_string()).collect();
    Some(Gain { factor, to: quantity(to, matrix.unit)?, cases })
}

/// The cause before what was measured, as a screen cuts the end of a long sentence, and after the size of the loss.
fn say_first(finding: &mut Finding, node: &str, cause: &str) {
    if cause.is_empty() {
        return;
    }
    let rest = loss(finding).and_then(|loss| finding.text.split_once(&format!("{loss}: ")));
    finding.text = match (loss(finding), rest) {
        (Some(loss), Some((before, after))) => format!("{before}{loss}: {cause}; {after}"),
        _ => format!("{node}: {cause}; {}", finding.text),
    };
}

/// Of cases whose rates no matrix has.
fn of_failed(finding: &mut Finding, scene: &Scene<'_>) {
    if let Some((rule, seen)) = cause(scene) {
        say_first(finding, scene.node, &rule.text(scene, &seen));
        finding.cause = Some(rule.id.to_owned());
        finding.remedy = Some(rule.remedy(scene, &seen));
    }
}

/// One finding for each cause of cases of one node that have no numbers. A case that failed speaks against its node; one that could
/// not be measured does where there are other nodes, most of which have no such case.
fn alone(records: &[CaseRecord], fleet: &Fleet<'_>) -> Vec<Finding> {
    let mut found: BTreeMap<(&str, &Subject, &str), Finding> = BTreeMap::new();
    for case in records {
        let [node] = case.nodes.as_slice() else { continue };
        let has_peers = || records.iter().any(|other| other.group == case.group && other.nodes != case.nodes);
        let severity = match case.outcome {
            Outcome::Measured | Outcome::Skipped => continue,
            Outcome::Unmeasured if !has_peers() => Severity::Warning,
            Outcome::Failed | Outcome::Unmeasured => Severity::Problem,
        };
        let scene = by_itself(case, node, records, fleet);
        let Some((rule, seen)) = cause(&scene) else { continue };
        if case.outcome == Outcome::Unmeasured && is_of_most(rule, case, records, fleet) {
            continue;
        }
        let finding = found.entry((node, &case.subject, rule.id)).or_insert_with(|| {
            // A case that could not be planned is about the node as a whole, unless its directory tells a file system.
            let host = fleet.site.node(node).filter(|_| case.subject == Subject::node());
            let subject =
                host.and_then(|host| file_system_of(case, host)).unwrap_or_else(|| case.subject.clone());
            let about = match subject.as_str() {
                "node" => node,
                subject => subject.strip_prefix("fs:").unwrap_or(subject),
            };
            let text = format!("{about}: {}", rule.text(&scene, &seen));
            let finding = Finding::new(ALONE, severity, subject, text);
            Finding {
                node: Some(node.clone()),
                cause: Some(rule.id.to_owned()),
                confidence: Some(Confidence::High),
                ..finding
            }
            .with_remedy(rule.remedy(&scene, &seen))
        });
        finding.evidence.push(case.case.to_string());
    }
    found.into_values().collect()
}

/// A case of one node. What kernels logged explains no case that was not begun.
fn by_itself<'a>(
    case: &'a CaseRecord,
    node: &'a str,
    records: &'a [CaseRecord],
    fleet: &'a Fleet<'a>,
) -> Scene<'a> {
    let records = if case.outcome == Outcome::Failed { records } else { &[] };
    Scene { node, side: SlowSide::Both, cases: vec![case], slow: None, records, fleet }
}

/// Whether half of the other cases of the same question or more have the same cause: what was asked for is the cause then.
fn is_of_most(rule: &CauseRule, case: &CaseRecord, records: &[CaseRecord], fleet: &Fleet<'_>) -> bool {
    let others = records.iter().filter(|other| other.group == case.group && other.nodes != case.nodes);
    let has_it = |other: &CaseRecord| {
        let node = other.nodes.first().map_or("", String::as_str);
        other.outcome != Outcome::Measured && rule.holds(&by_itself(other, node, records, fleet)).is_some()
    };
    let same: Vec<bool> = others.map(has_it).collect();
    !same.is_empty() && 2 * same.iter().filter(|is_same| **is_same).count() >= same.len()
}

#[cfg(test)]
mod tests;
