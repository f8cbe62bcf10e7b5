//! `clock-offset`: nodes whose time of day is not that of the others.

use seatrial_model::profile::fold;
use seatrial_model::setting::{SettingAbout, SettingReading};
use seatrial_model::{Actor, Finding, Nanos, Remedy, Severity, Site, SiteNode, Subject};

const KIND: &str = "clock-offset";

const SETTING: &str = "state.clock_offset";

/// NTP sets a clock that stays as far off at once, instead of letting it run faster or slower (RFC 5905, STEPT).
const MOST: Nanos = Nanos::millis(128);

/// One finding for each node whose clock is off; one for all of them where most are, since ours is the wrong one then.
pub(super) fn find(site: &Site, settings: &[&'static SettingAbout]) -> Vec<Finding> {
    let all: Vec<(&SiteNode, &SettingReading, Nanos)> = site.nodes.iter().filter_map(offset).collect();
    let off: Vec<_> = all.iter().filter(|(_, _, offset)| *offset > MOST).collect();
    let finding = |node: Option<&str>, text: String| {
        let finding = Finding::new(KIND, Severity::Warning, Subject::node(), text);
        let action = settings.iter().find(|about| about.id == SETTING).map_or("", |about| about.remedy);
        let finding = Finding { node: node.map(str::to_owned), ..finding };
        finding.with_remedy(Remedy::of(Actor::Administrator, action.to_owned()))
    };
    let words = |(_, reading, offset): &(&SiteNode, &SettingReading, Nanos)| {
        let note = reading.note.as_ref().map(|note| format!(" ({note})")).unwrap_or_default();
        format!("{:.3} s off at least{note}", offset.as_secs())
    };
    let ours = "that of the machine that started the run";
    if let Some(least) =
        off.iter().min_by_key(|(_, _, offset)| *offset).filter(|_| off.len() > 1 && 2 * off.len() > all.len())
    {
        let nodes: Vec<&str> = off.iter().map(|(node, ..)| node.name.as_str()).collect();
        let text = format!(
            "{}: the clocks of most nodes are not {ours}, which may be the wrong one; the nearest, of {}, is {}",
            fold(&nodes),
            least.0.name,
            words(least)
        );
        return vec![finding(None, text)];
    }
    let of_node = |one: &&(&SiteNode, &SettingReading, Nanos)| {
        let name = one.0.name.as_str();
        finding(Some(name), format!("{name}: its clock is not {ours}: {}", words(one)))
    };
    off.iter().map(of_node).collect()
}

fn offset(node: &SiteNode) -> Option<(&SiteNode, &SettingReading, Nanos)> {
    let reading = node.settings.iter().find(|reading| reading.setting == SETTING)?;
    let offset = reading.present.value()?.to_string().parse().ok()?;
    Some((node, reading, offset))
}

#[cfg(test)]
mod tests {
    use super::*;
    use seatrial_model::machine::Machine;
    use seatrial_model::setting::Present;
    use seatrial_model::{Params, Value};

    fn found(millis: &[Option<u64>]) -> Vec<String> {
        let reading = |offset: u64| SettingReading {
            setting: SETTING.to_owned(),
            subject: Subject::node(),
            facts: Params::default(),
            present: Present::Value(Value::from(Nanos::millis(offset))),
            note: Some("ahead".to_owned()),
            counted: None,
            counted_before: None,
            counted_after: None,
        };
        let node = |(at, offset): (usize, &Option<u64>)| SiteNode {
            settings: offset.map(reading).into_iter().collect(),
            ..SiteNode::new(format!("n{}", at + 1), Machine::default())
        };
        let site = Site { nodes: millis.iter().enumerate().map(node).collect() };
        find(&site, &[]).into_iter().map(|finding| finding.text).collect()
    }

    #[test]
    fn a_node_that_is_off_is_told_by_name_and_most_of_them_together() {
        assert!(found(&[Some(0), Some(128), None]).is_empty());
        assert_eq!(
            found(&[Some(0), Some(5000), Some(3)]),
            ["n2: its clock is not that of the machine that started the run: 5.000 s off at least (ahead)"]
        );
        let most = found(&[Some(700), Some(5000), Some(3)]);
        let [text] = most.as_slice() else { panic!("{most:?}") };
        assert!(text.starts_with("n[1-2]: the clocks of most nodes are not "), "{text}");
        assert!(text.ends_with("the nearest, of n1, is 0.700 s off at least (ahead)"), "{text}");
    }
}
