//! An audit: each setting of each node, and what the profiles demand of it.

use std::collections::{BTreeMap, HashMap};

use jiff::civil::Date;
use seatrial_model::profile::Profile;
use seatrial_model::setting::{AuditedSetting, Present, SettingAbout, SettingReading, Wanted};
use seatrial_model::{Site, Verdict, VerdictRecord};

use crate::judge::{Assignment, JudgeInputs, SettingRuling, judge_settings};

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Audit {
    pub settings: Vec<AuditedSetting>,
    /// One judgement per rule and subject, and one per rule that found nothing to judge.
    pub verdicts: Vec<VerdictRecord>,
    /// The heaviest verdict; `None` when there was nothing to judge.
    pub verdict: Option<Verdict>,
}

type Place<'a> = (&'a str, &'a str, &'a str);

fn place<'a>(node: &'a str, reading: &'a SettingReading) -> Place<'a> {
    (node, &reading.setting, reading.subject.as_str())
}

/// Judges the settings of `site` by the rules of `profiles`, including which nodes play which role. `abouts` lists
/// all known settings.
pub fn audit(profiles: &[Profile], site: &Site, abouts: &[&'static SettingAbout], today: Date) -> Audit {
    let names: Vec<String> = site.nodes.iter().map(|node| node.name.clone()).collect();
    let readings = || {
        let nodes = site.nodes.iter();
        nodes.flat_map(|node| node.settings.iter().map(move |reading| (node.name.as_str(), reading)))
    };
    let read = |(node, reading): (&str, &SettingReading)| AuditedSetting {
        node: node.to_owned(),
        reading: reading.clone(),
        wanted: Vec::new(),
    };
    let mut audit = Audit { settings: readings().map(read).collect(), ..Audit::default() };
    // A thousand nodes have tens of thousands of settings.
    let mut places: HashMap<Place<'_>, usize> = HashMap::new();
    for (at, (node, reading)) in readings().enumerate() {
        places.entry(place(node, reading)).or_insert(at);
    }
    for profile in profiles {
        let nodes = Assignment::new(profile, &names, &BTreeMap::new());
        let inputs = JudgeInputs {
            typed: &profile.id,
            nodes: &nodes,
            records: &[],
            reference: None,
            site,
            settings: abouts,
            today,
        };
        for ruling in judge_settings(profile, &inputs) {
            audit.add(ruling, &profile.id, &places);
        }
    }
    audit.verdict = Verdict::roll_up(audit.verdicts.iter().map(|record| record.verdict));
    audit
}

impl Audit {
    fn add(&mut self, ruling: SettingRuling<'_>, profile: &str, places: &HashMap<Place<'_>, usize>) {
        let SettingRuling { rule, reading, record, value, change } = ruling;
        let judged = record.node.as_deref().zip(reading);
        let at = judged.and_then(|(node, reading)| places.get(&place(node, reading)).copied());
        if let Some(setting) = at.and_then(|at| self.settings.get_mut(at)) {
            setting.wanted.push(Wanted {
                profile: profile.to_owned(),
                bound: record.bound.clone(),
                why: rule.why.clone(),
                verdict: record.verdict,
                reason: record.reason.clone(),
                value,
                change,
                waiver: record.waiver.clone(),
            });
        }
        self.verdicts.push(record);
    }
}

/// Gives the nodes of a resumed run the settings that were `kept` when the run began, where they equal those of
/// `now`. A setting that changed since becomes unknown: part of the run was measured with the old value, part with
/// the new. A state, which nobody sets, is the present one, with the earlier one beside it; growth of its counter is told from
/// the beginning of the run on.
pub fn changed_since(kept: &Site, now: &mut Site) {
    for node in &mut now.nodes {
        // A run has one inventory, which limits are derived from: the machine as it was when the run began.
        if let Some(machine) = kept.machine(&node.name) {
            node.machine = machine.clone();
        }
        let before = kept.settings(&node.name);
        // A run folder that lost its inventory is judged by the present settings.
        if !before.is_empty() {
            node.settings = before.iter().map(|before| compared(before, &node.settings)).collect();
        }
    }
}

fn compared(kept: &SettingReading, now: &[SettingReading]) -> SettingReading {
    let same = |now: &&SettingReading| now.setting == kept.setting && now.subject == kept.subject;
    let Some(now) = now.iter().find(same) else { return kept.clone() };
    let (Present::Value(before), Present::Value(after)) = (&kept.present, &now.present) else {
        return kept.clone();
    };
    if before == after {
        return kept.clone();
    }
    if kept.is_state() {
        let was = format!("it was {before} when the run began");
        let note = now.note.clone().into_iter().chain([was]).collect::<Vec<_>>().join("; ");
        return SettingReading { note: Some(note), counted: kept.counted, ..now.clone() };
    }
    let why = format!("it was {before} when the run began and {after} when it was resumed");
    SettingReading { present: Present::Unreadable(why), ..kept.clone() }
}

#[cfg(test)]
mod tests {
    use seatrial_model::profile::{Requirement, SettingRule};
    use seatrial_model::{SiteNode, Subject, Value};

    use super::*;

    fn reading(setting: &str, subject: Subject, present: Present) -> SettingReading {
        SettingReading {
            setting: setting.to_owned(),
            subject,
            facts: Default::default(),
            present,
            note: None,
            counted: None,
            counted_before: None,
            counted_after: None,
        }
    }

    fn value(setting: &str, value: impl Into<Value>) -> SettingReading {
        reading(setting, Subject::node(), Present::Value(value.into()))
    }

    fn profile(id: &str, setting: &str, wanted: &str) -> Profile {
        let require = Requirement { equals: Some(wanted.into()), ..Requirement::default() };
        let rule = SettingRule { id: setting.to_owned(), require: vec![require], ..SettingRule::default() };
        Profile { id: id.to_owned(), settings: vec![rule], ..Profile::default() }
    }

    #[test]
    fn every_reading_is_listed_with_what_each_profile_wants_of_it() {
        let mut n1 = SiteNode::new("n1", Default::default());
        n1.settings = vec![value("a", "on"), value("b", "off")];
        let mut n2 = SiteNode::new("n2", Default::default());
        n2.settings = vec![value("a", "off")];
        let site = Site { nodes: vec![n1, n2] };
        let profiles = [profile("p", "a", "on"), profile("q", "a", "off"), profile("r", "c", "on")];
        let audit = audit(&profiles, &site, &[], jiff::civil::date(2026, 3, 1));
        let lines: Vec<String> = audit
            .settings
            .iter()
            .map(|setting| {
                let wanted: Vec<_> =
                    setting.wanted.iter().map(|want| format!("{} {}", want.profile, want.verdict)).collect();
                format!("{} {}: {}", setting.node, setting.reading.setting, wanted.join(", "))
            })
            .collect();
        assert_eq!(lines, ["n1 a: p pass, q fail", "n1 b: ", "n2 a: p fail, q pass"]);
        // A setting that nobody read has a verdict, and no entry in `settings`.
        let of_c: Vec<_> = audit.verdicts.iter().filter(|record| record.criterion == "c").collect();
        assert_eq!(of_c.len(), 2);
        assert_eq!(audit.verdict, Some(Verdict::Fail));
    }

    #[test]
    fn a_setting_that_was_changed_while_the_run_lay_still_is_not_known() {
        let gone = reading("c", Subject::node(), Present::Unreadable("EACCES".to_owned()));
        let site = |name: &str, settings: Vec<SettingReading>| Site {
            nodes: vec![SiteNode { settings, ..SiteNode::new(name, Default::default()) }],
        };
        let kept = vec![value("a", "on"), value("b", "on"), gone.clone()];
        let mut now = site("n1", vec![value("a", "on"), value("b", "off"), value("c", "on")]);
        changed_since(&site("n1", kept.clone()), &mut now);
        let compared = now.settings("n1");
        assert_eq!((&compared[0], &compared[2]), (&kept[0], &gone));
        let why = "it was on when the run began and off when it was resumed";
        assert_eq!(compared[1].present, Present::Unreadable(why.to_owned()));
        let mut grown = site("n1", vec![SettingReading { counted: Some(7), ..value("state.errors", 7_u64) }]);
        let before = SettingReading { counted: Some(4), ..value("state.errors", 4_u64) };
        changed_since(&site("n1", vec![before]), &mut grown);
        let [state] = grown.settings("n1") else { panic!("{grown:?}") };
        assert_eq!((&state.present, state.counted), (&Present::Value(7_u64.into()), Some(4)));
        assert_eq!(state.note.as_deref(), Some("it was 4 when the run began"));
        // The present settings count for a node that the run folder does not describe.
        let mut other = site("n2", vec![value("a", "off")]);
        changed_since(&site("n1", kept), &mut other);
        assert_eq!(other.settings("n2"), [value("a", "off")]);
    }
}
