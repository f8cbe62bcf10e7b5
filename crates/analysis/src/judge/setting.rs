//! Settings and the rules that demand values of them.

use std::collections::{BTreeSet, HashMap};

use seatrial_model::profile::{Profile, Requirement, SettingRule, nobody_plays};
use seatrial_model::setting::{Present, Privilege, SettingAbout, SettingReading};
use seatrial_model::{Actor, Params, Quantity, Remedy, Subject, Unit, Value, Verdict, VerdictRecord};

use super::{JudgeInputs, waiver};

pub(crate) struct SettingRuling<'a> {
    pub rule: &'a SettingRule,
    /// The judged reading; `None` when the rule found nothing to judge.
    pub reading: Option<&'a SettingReading>,
    pub record: VerdictRecord,
    /// The demanded value, if the present one differs.
    pub value: Option<Value>,
    /// The command that sets the demanded value, if the value differs and a command is known.
    pub change: Option<String>,
}

/// One ruling per rule, node and subject that the rule selects. A rule that selects nothing is unknown.
pub(crate) fn judge_settings<'a>(
    profile: &'a Profile,
    inputs: &'a JudgeInputs<'a>,
) -> impl Iterator<Item = SettingRuling<'a>> {
    let by_node: HashMap<&str, &[SettingReading]> =
        inputs.site.nodes.iter().map(|node| (node.name.as_str(), node.settings.as_slice())).collect();
    profile.settings.iter().flat_map(move |rule| {
        let of_node = |node| on_node(rule, node, by_node.get(node).copied(), inputs);
        let mut rulings: Vec<_> = inputs.nodes.players(&rule.roles).flat_map(of_node).collect();
        if rulings.is_empty() {
            rulings.push(unknown(rule, None, nobody_plays(&rule.roles)));
        }
        for ruling in &mut rulings {
            waiver::apply(&mut ruling.record, &profile.waivers, inputs.today);
        }
        rulings
    })
}

fn on_node<'a>(
    rule: &'a SettingRule,
    node: &str,
    settings: Option<&'a [SettingReading]>,
    inputs: &'a JudgeInputs<'a>,
) -> Vec<SettingRuling<'a>> {
    let Some(settings) = settings else {
        return vec![unknown(rule, Some(node), format!("{node} was not reached"))];
    };
    let readings = || settings.iter().filter(|reading| reading.setting == rule.id);
    let is_meant = |reading: &&SettingReading| !rule.on.is_empty() || is_in_use(&reading.facts);
    let chosen: Vec<_> = readings()
        .filter(|reading| Requirement::selects(&rule.on, &reading.facts))
        .filter(is_meant)
        .collect();
    if !chosen.is_empty() {
        return chosen.into_iter().map(|reading| rule_on(rule, reading, node, inputs)).collect();
    }
    let why = match readings().next() {
        None if rule.on.is_empty() => "the setting was not read".to_owned(),
        None => format!("nothing here has {}", rule.on),
        Some(_) if rule.on.is_empty() => {
            "every interface of this node is down or virtual: name the ones to judge with `on`".to_owned()
        }
        Some(_) => nothing_has(rule, readings()),
    };
    let mut nothing = unknown(rule, Some(node), why);
    nothing.record.verdict = rule.without_value.verdict();
    vec![nothing]
}

/// Whether a rule without a selection applies: to interfaces that are up and have a link.
fn is_in_use(facts: &Params) -> bool {
    let is = |name: &str, value: &Value| facts.get(name) == Some(value);
    let is_type = |word: &&str| is("type", &Value::from(*word));
    let is_made = ["software", "loopback", "tun", "tap"].iter().any(is_type);
    !is("kind", &Value::from("nic")) || !(is("up", &Value::Flag(false)) || is_made)
}

/// Why `on` selects nothing: possibly because a fact of a subject is unknown.
fn nothing_has<'a>(rule: &SettingRule, readings: impl Iterator<Item = &'a SettingReading>) -> String {
    let mut why = vec![format!("nothing here has {}", rule.on)];
    let mut gaps = BTreeSet::new();
    for reading in readings {
        let missing: Vec<&str> =
            rule.on.iter().map(|(name, _)| name).filter(|name| reading.facts.get(name).is_none()).collect();
        if missing.is_empty() {
            continue;
        }
        gaps.insert(match &reading.present {
            Present::Unreadable(reason) => reason.clone(),
            _ => format!("{} of {} not known", missing.join(" and "), reading.subject),
        });
    }
    why.extend(gaps);
    why.join("; ")
}

fn rule_on<'a>(
    rule: &'a SettingRule,
    reading: &'a SettingReading,
    node: &str,
    inputs: &JudgeInputs<'_>,
) -> SettingRuling<'a> {
    let of = |verdict, reason| {
        let record = record(rule, Some(node), reading.subject.clone(), verdict, reason);
        SettingRuling { rule, reading: Some(reading), record, value: None, change: None }
    };
    let value = match &reading.present {
        Present::Value(value) => value,
        Present::Absent(why) => {
            return of(
                rule.without_value.verdict(),
                Some(format!("this setting does not exist here: {why}")),
            );
        }
        Present::Unreadable(why) => {
            return of(rule.without_value.verdict(), Some(format!("the setting could not be read: {why}")));
        }
    };
    let of = |verdict, reason| {
        let mut ruling = of(verdict, reason);
        ruling.record.present = Some(value.to_string());
        ruling
    };
    match rule.met_by(value) {
        Ok(true) => {
            let mut met = of(Verdict::Pass, None);
            met.record.measured = number(value);
            met
        }
        Err(why) => of(Verdict::Unknown, Some(why)),
        Ok(false) => {
            let about = inputs.settings.iter().find(|about| about.id == rule.id);
            let target = rule.target(value).ok();
            let change =
                about.zip(target.as_ref()).and_then(|(about, target)| about.command(reading, target));
            let title = about.map_or(rule.id.as_str(), |about| about.title);
            let mut reasons = vec![match &reading.note {
                Some(note) => format!("{title}: {value} ({note})"),
                None => format!("{title}: {value}"),
            }];
            reasons.extend(rule.why.clone());
            let mut missed = of(rule.missed.verdict(), Some(reasons.join("; ")));
            missed.record.remedy = about.and_then(|about| remedy(about, change.as_deref()));
            SettingRuling { value: target, change, ..missed }
        }
    }
}

/// The command that sets the value; without one, the remedy of the setting.
fn remedy(about: &SettingAbout, change: Option<&str>) -> Option<Remedy> {
    let action = change.unwrap_or(about.remedy);
    let actor = if about.privilege == Privilege::None { Actor::User } else { Actor::Root };
    (!action.is_empty()).then(|| Remedy::of(actor, action.to_owned()))
}

/// The value as a number with its unit; `None` for a word.
fn number(value: &Value) -> Option<Quantity> {
    match value {
        Value::Count(count) => Quantity::new(*count as f64, Unit::Count).ok(),
        Value::Number(number) => Quantity::new(*number, Unit::Count).ok(),
        Value::Text(text) => text.parse().ok(),
        Value::Flag(_) => None,
    }
}

fn unknown<'a>(rule: &'a SettingRule, node: Option<&str>, why: String) -> SettingRuling<'a> {
    let record = record(rule, node, Subject::node(), Verdict::Unknown, Some(why));
    SettingRuling { rule, reading: None, record, value: None, change: None }
}

fn record(
    rule: &SettingRule,
    node: Option<&str>,
    subject: Subject,
    verdict: Verdict,
    reason: Option<String>,
) -> VerdictRecord {
    let record = VerdictRecord::new(&rule.id, "", subject, verdict, rule.bound());
    VerdictRecord { node: node.map(str::to_owned), reason, ..record }
}
