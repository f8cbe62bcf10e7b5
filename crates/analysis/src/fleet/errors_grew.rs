//! `errors-grew`: counters of errors that are higher than in the last run of this boot, or than at the start of this run.

use seatrial_model::record::CaseRecord;
use seatrial_model::setting::{SettingAbout, SettingReading};
use seatrial_model::{Actor, Finding, Remedy, Severity, Site, SiteNode, Subject};

use super::setting_name;

const KIND: &str = "errors-grew";

/// Counters named in one finding; more are counted.
const MOST_NAMED: usize = 6;

/// Notes in `site` what the counters of its nodes were in an earlier run, where the node has not been booted since.
/// True when every node of `site` has been in such a run.
pub fn note_counters(before: &Site, site: &mut Site) -> bool {
    let is_noted = |node: &SiteNode| node.settings.iter().any(|reading| reading.counted_before.is_some());
    let mut are_all_noted = true;
    for node in &mut site.nodes {
        let earlier = before.node(&node.name).filter(|earlier| {
            let boots = (earlier.machine.boot_id.known(), node.machine.boot_id.known());
            matches!(boots, (Some(one), Some(other)) if one == other)
        });
        match earlier {
            Some(earlier) if !is_noted(node) => {
                for reading in node.settings.iter_mut().filter(|reading| reading.counted.is_some()) {
                    let is_same = |other: &&SettingReading| is_same(other, reading);
                    reading.counted_before = earlier
                        .settings
                        .iter()
                        .find(is_same)
                        .and_then(|other| other.counted_after.or(other.counted));
                }
            }
            _ => are_all_noted &= is_noted(node),
        }
    }
    are_all_noted
}

/// Notes in `site` what the counters of a node are at the end of the run. True when one of them grew.
pub fn note_counters_after(site: &mut Site, node: &str, readings: &[SettingReading]) -> bool {
    let Some(node) = site.nodes.iter_mut().find(|known| known.name == node) else { return false };
    for reading in node.settings.iter_mut().filter(|reading| reading.counted.is_some()) {
        let is_same = |other: &&SettingReading| is_same(other, reading);
        reading.counted_after = readings.iter().find(is_same).and_then(|other| other.counted);
    }
    node.settings.iter().any(|reading| reading.counted_after > reading.counted)
}

fn is_same(one: &SettingReading, other: &SettingReading) -> bool {
    (&one.setting, &one.subject) == (&other.setting, &other.subject)
}

/// A counter, and its value at two moments.
type Growth<'a> = (&'a SettingReading, u64, u64);

/// One finding for each node with counters that grew before the run, and one for those that grew in it.
pub(super) fn find(site: &Site, records: &[CaseRecord], settings: &[&'static SettingAbout]) -> Vec<Finding> {
    let of_node = |node: &SiteNode| {
        let before = grown(node, |reading| (reading.counted_before, reading.counted));
        let within = grown(node, |reading| (reading.counted, reading.counted_after));
        [
            finding(node, &before, || "since the last run of this boot".to_owned(), settings),
            finding(node, &within, || format!("during {}", cases(&node.name, records)), settings),
        ]
    };
    site.nodes.iter().flat_map(of_node).flatten().collect()
}

fn grown(node: &SiteNode, of: fn(&SettingReading) -> (Option<u64>, Option<u64>)) -> Vec<Growth<'_>> {
    let both = |reading| {
        let (before, after) = of(reading);
        Some((reading, before?, after?))
    };
    node.settings.iter().filter_map(both).filter(|(_, before, after)| after > before).collect()
}

/// The cases of a node in words: the one of a node with one by its name.
fn cases(node: &str, records: &[CaseRecord]) -> String {
    let own = records.iter().filter(|case| case.nodes.iter().any(|name| name == node));
    match own.map(|case| case.case.as_str()).collect::<Vec<_>>().as_slice() {
        [] => "this run".to_owned(),
        [case] => (*case).to_owned(),
        many => format!(
            "one of the {} cases of this run from {} to {}",
            many.len(),
            many[0],
            many[many.len() - 1]
        ),
    }
}

fn finding(
    node: &SiteNode,
    grown: &[Growth<'_>],
    when: impl FnOnce() -> String,
    settings: &[&'static SettingAbout],
) -> Option<Finding> {
    let (first, ..) = grown.first()?;
    let words =
        |(reading, before, after): &Growth<'_>| format!("{} from {before} to {after}", setting_name(reading));
    let mut texts: Vec<String> = grown.iter().take(MOST_NAMED).map(words).collect();
    if grown.len() > MOST_NAMED {
        texts.push(format!("and {} more", grown.len() - MOST_NAMED));
    }
    let text = format!("{}: errors grew {}: {}", node.name, when(), texts.join(", "));
    let finding = Finding::new(KIND, Severity::Warning, Subject::node(), text);
    let about = settings.iter().find(|about| about.id == first.setting);
    let action = about.map_or("", |about| about.remedy);
    let remedy = match action {
        "" => format!("look at {} of {}", setting_name(first), node.name),
        action => format!("{}: {action}", node.name),
    };
    Some(
        Finding { node: Some(node.name.clone()), ..finding }
            .with_remedy(Remedy::of(Actor::Administrator, remedy)),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge::fixture::measured;
    use seatrial_model::machine::{Known, Machine};
    use seatrial_model::setting::Present;
    use seatrial_model::{Params, Value};

    fn site(boot: &str, counters: &[(&str, u64)]) -> Site {
        let reading = |(setting, count): &(&str, u64)| SettingReading {
            setting: (*setting).to_owned(),
            subject: Subject::device("nic", "eth0"),
            facts: Params::default(),
            present: Present::Value(Value::Number(1.0)),
            note: None,
            counted: Some(*count),
            counted_before: None,
            counted_after: None,
        };
        let boot_id = Known::Known(boot.to_owned());
        let node = SiteNode::new("n1", Machine { boot_id, ..Machine::default() });
        Site { nodes: vec![SiteNode { settings: counters.iter().map(reading).collect(), ..node }] }
    }

    fn found(before: &Site, mut now: Site) -> Vec<String> {
        note_counters(before, &mut now);
        find(&now, &[], &[]).into_iter().map(|finding| finding.text).collect()
    }

    #[test]
    fn a_counter_that_is_higher_than_in_the_last_run_of_this_boot_is_told() {
        let before = site("a", &[("state.crc", 3), ("state.lost", 1), ("state.reset", 9)]);
        let now = || site("a", &[("state.crc", 10), ("state.lost", 1), ("state.reset", 0), ("state.new", 5)]);
        let wanted = "n1: errors grew since the last run of this boot: state.crc of nic:eth0 from 3 to 10";
        assert_eq!(found(&before, now()), [wanted]);
        // Counters of another boot began again, and of an unknown one nobody knows.
        assert!(found(&site("b", &[("state.crc", 3)]), now()).is_empty());
        assert!(found(&Site::default(), now()).is_empty());
    }

    #[test]
    fn the_newest_of_several_runs_counts() {
        let mut now = site("a", &[("state.crc", 10)]);
        assert!(!note_counters(&Site::default(), &mut now));
        assert!(note_counters(&site("a", &[("state.crc", 10)]), &mut now));
        assert!(note_counters(&site("a", &[("state.crc", 3)]), &mut now));
        assert!(find(&now, &[], &[]).is_empty());
    }

    #[test]
    fn a_counter_that_is_higher_at_the_end_of_the_run_is_told_with_the_case() {
        let mut now = site("a", &[("state.crc", 3), ("state.lost", 1), ("state.gone", 1)]);
        let after = site("a", &[("state.crc", 7), ("state.lost", 1)]);
        assert!(note_counters_after(&mut now, "n1", &after.nodes[0].settings));
        let texts = |records: &[CaseRecord]| -> Vec<String> {
            find(&now, records, &[]).into_iter().map(|finding| finding.text).collect()
        };
        let case = measured("n1");
        let id = case.case.to_string();
        assert_eq!(
            texts(std::slice::from_ref(&case)),
            [format!("n1: errors grew during {id}: state.crc of nic:eth0 from 3 to 7")]
        );
        let of_two = texts(&[case.clone(), case]);
        assert!(of_two[0].starts_with("n1: errors grew during one of the 2 cases of this run"), "{of_two:?}");
        // The next run begins where this one ended.
        let mut next = site("a", &[("state.crc", 7), ("state.lost", 2)]);
        note_counters(&now, &mut next);
        assert_eq!(
            find(&next, &[], &[])[0].text,
            "n1: errors grew since the last run of this boot: state.lost of nic:eth0 from 1 to 2"
        );
    }
}
