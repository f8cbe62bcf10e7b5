//! `errors-grew`: counters of errors that are higher than in the last run of this boot.

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
                    let is_same = |other: &&SettingReading| {
                        (&other.setting, &other.subject) == (&reading.setting, &reading.subject)
                    };
                    reading.counted_before =
                        earlier.settings.iter().find(is_same).and_then(|other| other.counted);
                }
            }
            _ => are_all_noted &= is_noted(node),
        }
    }
    are_all_noted
}

/// One finding for each node with counters that grew.
pub(super) fn find(site: &Site, settings: &[&'static SettingAbout]) -> Vec<Finding> {
    site.nodes.iter().filter_map(|node| of_node(node, settings)).collect()
}

fn of_node(node: &SiteNode, settings: &[&'static SettingAbout]) -> Option<Finding> {
    let grown: Vec<(&SettingReading, u64, u64)> = node
        .settings
        .iter()
        .filter_map(|reading| Some((reading, reading.counted_before?, reading.counted?)))
        .filter(|(_, before, now)| now > before)
        .collect();
    let (first, ..) = grown.first()?;
    let words = |(reading, before, now): &(&SettingReading, u64, u64)| {
        format!("{} from {before} to {now}", setting_name(reading))
    };
    let mut texts: Vec<String> = grown.iter().take(MOST_NAMED).map(words).collect();
    if grown.len() > MOST_NAMED {
        texts.push(format!("and {} more", grown.len() - MOST_NAMED));
    }
    let text = format!("{}: errors grew since the last run of this boot: {}", node.name, texts.join(", "));
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
        };
        let boot_id = Known::Known(boot.to_owned());
        let node = SiteNode::new("n1", Machine { boot_id, ..Machine::default() });
        Site { nodes: vec![SiteNode { settings: counters.iter().map(reading).collect(), ..node }] }
    }

    fn found(before: &Site, mut now: Site) -> Vec<String> {
        note_counters(before, &mut now);
        find(&now, &[]).into_iter().map(|finding| finding.text).collect()
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
        assert!(find(&now, &[]).is_empty());
    }
}
