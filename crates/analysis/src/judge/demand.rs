//! Settings against their rules, and roles against how many must play them.

use seatrial_model::profile::{Profile, SettingRule};
use seatrial_model::{Subject, Verdict, VerdictRecord};

use super::Grounds;
use super::scope::expect_words;

/// One record a setting and node. A setting that differs fails; one that nobody could read is unknown.
pub(super) fn settings<'a>(
    profile: &'a Profile,
    grounds: &'a Grounds<'a>,
) -> impl Iterator<Item = VerdictRecord> + 'a {
    profile.settings.iter().flat_map(move |rule| {
        grounds.nodes.players(&rule.roles).map(move |node| {
            let (verdict, reason) = judge_setting(rule, node, grounds);
            record(&rule.id, Some(node), verdict, rule.require.to_string(), reason)
        })
    })
}

fn judge_setting(rule: &SettingRule, node: &str, grounds: &Grounds<'_>) -> (Verdict, Option<String>) {
    let reading = grounds.readings.iter().find(|reading| reading.node == node && reading.setting == rule.id);
    let value = match reading.map(|reading| &reading.value) {
        None => return (Verdict::Unknown, Some("the setting was not read".to_owned())),
        Some(Err(why)) => return (Verdict::Unknown, Some(format!("the setting could not be read: {why}"))),
        Some(Ok(value)) => value,
    };
    match rule.require.met_by(value) {
        Ok(true) => (Verdict::Pass, None),
        Ok(false) => (Verdict::Fail, Some(format!("it is {value}"))),
        Err(why) => (Verdict::Unknown, Some(why)),
    }
}

/// One record a role that too few or too many nodes play.
pub(super) fn roles<'a>(
    profile: &'a Profile,
    grounds: &'a Grounds<'a>,
) -> impl Iterator<Item = VerdictRecord> + 'a {
    profile.roles.iter().filter_map(|(name, role)| {
        let players = grounds.nodes.players(std::slice::from_ref(name)).count();
        let expect = role.expect.filter(|expect| !expect.met_by(players as u64))?;
        let wanted = expect_words(expect);
        let nodes = if players == 1 { "node of the run plays" } else { "nodes of the run play" };
        let reason = format!("{players} {nodes} '{name}', {wanted} must");
        Some(record(&format!("roles.{name}"), None, Verdict::Unknown, wanted, Some(reason)))
    })
}

fn record(
    criterion: &str,
    node: Option<&str>,
    verdict: Verdict,
    bound: String,
    reason: Option<String>,
) -> VerdictRecord {
    VerdictRecord {
        criterion: criterion.to_owned(),
        test: String::new(),
        case: None,
        node: node.map(str::to_owned),
        subject: Subject::node(),
        verdict,
        measured: None,
        interval: None,
        bound,
        margin_percent: None,
        reason,
        waiver: None,
    }
}
