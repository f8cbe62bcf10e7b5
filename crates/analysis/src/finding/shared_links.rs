//! `missing-link` and `hash-collisions`: findings about the links between two groups of nodes, from the pattern
//! `trunk`.

use seatrial_model::record::CaseRecord;
use seatrial_model::{Finding, Severity, Subject, Unit};

use super::Rule;
use super::at_once::{AtOnce, Step, at_once};
use super::hashing;
use crate::number::{in_unit, quantity, significant};

pub(super) const MISSING: Rule = Rule {
    kind: "missing-link",
    doc: "Fewer links carried flows than were stated, in so many repeats that chance does not explain it.",
    find: |records| of_trunks(records, missing),
};

pub(super) const COLLISIONS: Rule = Rule {
    kind: "hash-collisions",
    doc: "Flows shared links while other links were idle, about as often as random hashing predicts.",
    find: |records| of_trunks(records, collisions),
};

/// Below this probability chance is ruled out.
const UNLIKELY: f64 = 0.01;

/// Below this share of the links' capacity flows collide.
const ENOUGH: f64 = 0.9;

fn of_trunks(records: &[CaseRecord], of: fn(&AtOnce) -> Option<Finding>) -> Vec<Finding> {
    let trunks = at_once(records).into_iter().filter(|found| found.pattern == "trunk");
    trunks.filter_map(|trunk| of(&trunk)).collect()
}

/// The largest number of links that carried flows, and the probability of never seeing more of all links.
fn most_seen(trunk: &AtOnce, links: u32) -> Option<(u32, f64)> {
    let seen = trunk.seen();
    let most = seen.iter().map(|(_, seen)| *seen).max()?;
    // Every repeat is hashed anew, so the probabilities multiply.
    let chance = seen.iter().map(|(flows, _)| hashing::at_most(*flows, links, most)).product();
    Some((most, chance))
}

fn missing(trunk: &AtOnce) -> Option<Finding> {
    let links = trunk.links?;
    let (most, chance) = most_seen(trunk, links)?;
    if most >= links || chance >= UNLIKELY {
        return None;
    }
    let repeats = trunk.seen().len();
    let text = format!(
        "of {links} links between the two groups at most {most} carried flows in any of {repeats} repeats; with all links \
         working the probability of that is {}: {}, or the hash never selects it; check the state of every link of the trunk",
        share(chance),
        if links - most == 1 { "a link is missing" } else { "links are missing" },
    );
    Some(finding(&MISSING, trunk, trunk.steps.last()?, text, f64::from(most), Unit::Count))
}

fn collisions(trunk: &AtOnce) -> Option<Finding> {
    if missing(trunk).is_some() {
        return None;
    }
    let line = trunk.line.as_ref()?;
    let links = trunk.links.or(trunk.fitted)?;
    // The step with the largest loss against links that are all used.
    let lost = |step: &&Step| {
        let could = line.rate * f64::from(step.flows?.min(links));
        let share = step.median()? / could;
        (share < ENOUGH).then_some((share, could))
    };
    let worst = trunk.steps.iter().filter_map(|step| Some((step, lost(&step)?)));
    let (step, (part, could)) = worst.min_by(|one, other| one.1.0.total_cmp(&other.1.0))?;
    let (flows, median, best) = (step.flows?, step.median()?, step.best()?.total);
    let fits = if trunk.links.is_some() { "" } else { ", the number that fits the totals best" };
    let text = format!(
        "{flows} concurrent flows reached {}, {} % of the capacity of {}{fits} (best repeat {}; random \
         hashing averages {}): flows share links while others are idle; let switches and bonds hash over \
         ports too, or use more flows",
        in_unit(median, trunk.unit),
        significant(100.0 * part),
        if links == 1 { "one link".to_owned() } else { format!("{} links", flows.min(links)) },
        significant(best),
        significant(trunk.expected(flows)?),
    );
    Some(finding(&COLLISIONS, trunk, step, text, 100.0 * (median - could) / could, Unit::Percent))
}

fn share(chance: f64) -> String {
    if chance < 1e-6 {
        "below one in a million".to_owned()
    } else {
        format!("{} %", significant(100.0 * chance))
    }
}

fn finding(rule: &Rule, trunk: &AtOnce, step: &Step, text: String, value: f64, unit: Unit) -> Finding {
    let subject = "trunk".parse().unwrap_or_else(|_| Subject::node());
    let finding = Finding::new(rule.kind, Severity::Warning, subject, text);
    Finding {
        case: Some(step.case.clone()),
        value: quantity(value, unit),
        evidence: vec![trunk.group.clone(), trunk.metric.clone()],
        ..finding
    }
}

#[cfg(test)]
mod tests {
    use super::super::at_once::tests::trunk;
    use super::*;

    fn stated(mut records: Vec<CaseRecord>, links: u64) -> Vec<CaseRecord> {
        records.iter_mut().for_each(|record| record.origin.links = u32::try_from(links).ok());
        records
    }

    /// Three repeats of each number of flows up to six, spread evenly over `links` links.
    fn spread(links: usize) -> Vec<CaseRecord> {
        let rows: Vec<Vec<usize>> =
            (1..=6).map(|flows| (0..flows).map(|flow| flow % links).collect()).collect();
        let trials: Vec<[&[usize]; 3]> = rows.iter().map(|row| [row.as_slice(); 3]).collect();
        trunk(&trials.iter().map(<[&[usize]; 3]>::as_slice).collect::<Vec<_>>())
    }

    #[test]
    fn a_link_that_never_carries_anything_is_missing() {
        let found = (MISSING.find)(&stated(spread(2), 3));
        let [finding] = found.as_slice() else { panic!("{found:?}") };
        assert!(
            finding.text.starts_with(
                "of 3 links between the two groups at most 2 carried flows in any of 18 repeats;"
            ),
            "{}",
            finding.text
        );
        assert!(finding.text.contains("a link is missing"), "{}", finding.text);
        assert_eq!(finding.value, quantity(2.0, Unit::Count));
        // With six flows each of three links stays unused with a probability of about a quarter: three repeats are
        // not enough.
        let last: Vec<CaseRecord> =
            spread(2).into_iter().filter(|it| it.case.as_str().ends_with(".6")).collect();
        assert!((MISSING.find)(&stated(last, 3)).is_empty());
    }

    #[test]
    fn links_that_all_carry_flows_are_all_there() {
        assert!((MISSING.find)(&stated(spread(3), 3)).is_empty());
        assert!((COLLISIONS.find)(&stated(spread(3), 3)).is_empty());
        assert!((MISSING.find)(&spread(2)).is_empty(), "nobody said how many there should be");
    }

    #[test]
    fn flows_that_share_a_link_while_another_is_idle_collide() {
        let once: &[&[&[usize]]] =
            &[&[&[0], &[1], &[2]], &[&[0, 0], &[1, 2], &[2, 2]], &[&[0, 0, 1], &[1, 1, 2], &[0, 1, 2]]];
        let found = (COLLISIONS.find)(&stated(trunk(once), 3));
        let [finding] = found.as_slice() else { panic!("{found:?}") };
        assert!(
            finding.text.starts_with(
                "2 concurrent flows reached 10 GB/s, 50 % of the capacity of 2 links (best repeat 20; random hashing \
                 averages 16.67)"
            ),
            "{}",
            finding.text
        );
        assert_eq!(finding.case.as_deref(), Some("net.tcp_stream@a0+b0#trunk.2"));
    }

    #[test]
    fn where_links_are_missing_the_flows_are_not_blamed() {
        assert!((COLLISIONS.find)(&stated(spread(2), 3)).is_empty());
    }
}
