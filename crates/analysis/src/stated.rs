//! Limits that a profile states, beside the derived limits.

use seatrial_model::profile::{LimitRule, Profile, Requirement};
use seatrial_model::record::{CaseRecord, MetricRecord};
use seatrial_model::{Bound, Limit};

/// Adds the limits that `profile` states to the chains of bounds in `records`, so that reports show them. A rule
/// covers the cases of its test whose parameters it selects; adding a rule twice changes nothing.
pub fn state_limits(profile: &Profile, records: &mut [CaseRecord]) {
    for record in records {
        let rules: Vec<_> = profile.limits.iter().filter(|rule| is_for(rule, &rule.metric, record)).collect();
        for rule in rules {
            if let Some(metric) = record.metrics.get_mut(&rule.metric) {
                add(rule, metric);
            }
        }
    }
}

fn is_for(rule: &LimitRule, metric: &str, case: &CaseRecord) -> bool {
    rule.test == case.group && rule.metric == metric && Requirement::selects(&rule.cases, &case.params)
}

fn add(rule: &LimitRule, metric: &mut MetricRecord) {
    let bound = Bound {
        value: rule.value,
        formula: rule.source.clone(),
        provenance: "profile".to_owned(),
        nominal: None,
    };
    // Where the limit is unknown, the record holds only the highest value that it can have.
    let mut chain = if metric.limit.value.is_some() { metric.limit.chain.clone() } else { Vec::new() };
    if !chain.contains(&bound) {
        chain.push(bound);
    }
    // The reader of profiles refuses bounds of another dimension.
    if let Ok(limit) = Limit::Chain(chain).record(metric.better, metric.unit) {
        metric.limit = limit;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge::fixture;
    use seatrial_model::Params;

    fn unlimited() -> CaseRecord {
        let mut case = fixture::case("n1", "node");
        let metric = fixture::metric(90.0, (89.0, 91.0), fixture::no_limit());
        case.metrics.insert("bandwidth".to_owned(), metric);
        case
    }

    fn rule(value: &str) -> LimitRule {
        LimitRule {
            test: "memory".to_owned(),
            metric: "bandwidth".to_owned(),
            cases: Params::default(),
            value: value.parse().unwrap(),
            source: "data sheet".to_owned(),
        }
    }

    #[test]
    fn a_stated_limit_stands_in_the_record_and_the_tightest_binds() {
        let mut records = [unlimited()];
        let profile = Profile { limits: vec![rule("1600 Gbit/s"), rule("300 GB/s")], ..Profile::default() };
        state_limits(&profile, &mut records);
        state_limits(&profile, &mut records);
        let limit = &records[0].metrics["bandwidth"].limit;
        assert_eq!((limit.value, limit.provenance.as_deref()), (Some(200.0), Some("profile")));
        assert_eq!(limit.chain.len(), 2);
    }

    #[test]
    fn another_test_is_left_alone() {
        let mut records = [unlimited()];
        records[0].group = "other".to_owned();
        state_limits(&Profile { limits: vec![rule("200 GB/s")], ..Profile::default() }, &mut records);
        assert_eq!(records[0].metrics["bandwidth"].limit.value, None);
    }
}
