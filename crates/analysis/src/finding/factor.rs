//! `factor`: the gain of each factor, from a study that leaves out one factor at a time.
//!
//! The gain is the baseline divided by the same without the factor (inverted where less is better), so that the
//! factor helps if the gain is above 1. Each repeat of the study gives one ratio; drift between repeats cancels in
//! it.
//!
//! In a study of crossed factors each two were left out at the same time too. Their interaction is the gain of the first
//! with the second, divided by its gain without the second: 1 if the gains multiply, whichever factor is first.

use std::cmp::Ordering;

use seatrial_model::record::{CaseRecord, MetricRecord};
use seatrial_model::{Better, FactorCase, Finding, Outcome, Params, Subject, Unit, Value};
use seatrial_stats::{PairedRatio, median, paired_ratio};

use super::Rule;
use super::paired::{self, PairedStudy, because, range};
use crate::number::{in_unit, significant};

pub(super) const RULE: Rule = Rule {
    kind: "factor",
    doc: "A study of factors measured a baseline in turn with the same without one factor, or without two.",
    find: |records| factors(records).iter().flat_map(findings).collect(),
};

const BASELINE: &str = FactorCase::BASELINE;

#[derive(Clone, Debug, PartialEq)]
pub struct Factors {
    pub group: String,
    pub bench: String,
    pub nodes: Vec<String>,
    pub subject: Subject,
    pub params: Params,
    pub metric: String,
    pub unit: Unit,
    pub better: Better,
    /// The median of the baseline over its repeats; `None` when it was never measured.
    pub value: Option<f64>,
    /// Repeats that left records.
    pub repeats: usize,
    /// The seed of the random order.
    pub seed: Option<u64>,
    pub worths: Vec<Worth>,
    /// Of each two factors that were crossed.
    pub interactions: Vec<FactorInteraction>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct FactorInteraction {
    pub factors: [String; 2],
    /// The medians without the first factor, without the second one, and without both.
    pub values: [Option<f64>; 3],
    /// The gain of the first factor with the second one, over its gain without; `None` without a repeat that measured
    /// all four.
    pub ratio: Option<PairedRatio>,
    pub repeats: usize,
    pub reason: Option<String>,
    pub outcome: Option<Outcome>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Worth {
    /// As given on the command line.
    pub factor: String,
    pub with: Params,
    pub without: Params,
    /// The median without the factor over the repeats; `None` when it was never measured.
    pub value: Option<f64>,
    /// `None` without a repeat that measured both.
    pub gain: Option<PairedRatio>,
    pub pairs: usize,
    pub reason: Option<String>,
    pub outcome: Option<Outcome>,
}

pub fn is_of_factors(case: &CaseRecord) -> bool {
    label(case).is_some()
}

/// Whether the case is of a study of parameters; settings of hosts have another design.
fn is_of_parameters(case: &CaseRecord) -> bool {
    case.origin.study.as_ref().is_some_and(|study| study.block.is_none())
}

pub fn factors(records: &[CaseRecord]) -> Vec<Factors> {
    let mut studies: Vec<Vec<&CaseRecord>> = Vec::new();
    for case in records.iter().filter(|case| is_of_parameters(case)) {
        let same = |cases: &&mut Vec<&CaseRecord>| {
            let first = cases[0];
            (&first.group, &first.bench, &first.nodes, &first.subject)
                == (&case.group, &case.bench, &case.nodes, &case.subject)
        };
        match studies.iter_mut().find(same) {
            Some(cases) => cases.push(case),
            None => studies.push(vec![case]),
        }
    }
    studies.iter().filter_map(|cases| of_study(cases)).collect()
}

fn label(case: &CaseRecord) -> Option<&str> {
    Some(&case.origin.study.as_ref()?.factor)
}

fn crossed(case: &CaseRecord) -> &[String] {
    case.origin.study.as_ref().map_or(&[], |study| &study.crossed)
}

fn repeat(case: &CaseRecord) -> Option<u32> {
    Some(case.origin.study.as_ref()?.repeat)
}

fn of_study(cases: &[&CaseRecord]) -> Option<Factors> {
    let baseline: Vec<&CaseRecord> = of_label(cases, BASELINE);
    let first = *baseline.first()?;
    let (metric, example) = cases.iter().find_map(|case| asked_for(case).or_else(|| case.headline()))?;
    let mut labels: Vec<&str> = cases.iter().filter_map(|case| label(case)).collect();
    labels.sort_unstable();
    labels.dedup();
    let mut repeats: Vec<u32> = cases.iter().filter_map(|case| repeat(case)).collect();
    repeats.sort_unstable();
    repeats.dedup();
    let is_crossed = |label: &&str| !of_label(cases, label).iter().all(|case| crossed(case).is_empty());
    let (both, single): (Vec<&str>, Vec<&str>) =
        labels.into_iter().filter(|label| *label != BASELINE).partition(is_crossed);
    let worths =
        single.into_iter().filter_map(|label| worth(label, &baseline, &of_label(cases, label), metric));
    let interactions = both.into_iter().filter_map(|label| interaction(cases, label, metric));
    Some(Factors {
        group: first.group.clone(),
        bench: first.bench.clone(),
        nodes: first.nodes.clone(),
        subject: first.subject.clone(),
        params: first.params.clone(),
        metric: metric.to_owned(),
        unit: example.unit,
        better: example.better,
        value: middle(&baseline, metric),
        repeats: repeats.len(),
        seed: first.origin.study.as_ref().map(|study| study.seed),
        worths: worths.collect(),
        interactions: interactions.collect(),
    })
}

fn of_label<'a>(cases: &[&'a CaseRecord], wanted: &str) -> Vec<&'a CaseRecord> {
    cases.iter().copied().filter(|case| label(case) == Some(wanted)).collect()
}

fn asked_for(case: &CaseRecord) -> Option<(&str, &MetricRecord)> {
    let (name, metric) = case.metrics.get_key_value(&case.origin.study.as_ref()?.metric)?;
    Some((name.as_str(), metric))
}

fn value(case: &CaseRecord, metric: &str) -> Option<f64> {
    Some(case.metrics.get(metric)?.median)
}

fn middle(cases: &[&CaseRecord], metric: &str) -> Option<f64> {
    let values: Vec<f64> = cases.iter().filter_map(|case| value(case, metric)).collect();
    median(&values)
}

fn worth(factor: &str, baseline: &[&CaseRecord], cases: &[&CaseRecord], metric: &str) -> Option<Worth> {
    let first = *cases.first()?;
    let differs = |(name, value): &(&str, &Value)| baseline[0].params.get(name) != Some(*value);
    let named = |of: &Params| -> Params {
        let names = first.params.iter().filter(differs).map(|(name, _)| name);
        names.filter_map(|name| Some((name.to_owned(), of.get(name)?.clone()))).collect()
    };
    let is_lower = is_lower(baseline, metric);
    let pair = |with: &&CaseRecord| {
        let (with, without) = (value(with, metric)?, in_repeat(cases, repeat(with), metric)?);
        Some(if is_lower { (without, with) } else { (with, without) })
    };
    let pairs: Vec<(f64, f64)> = baseline.iter().filter_map(pair).collect();
    let lost = cases.iter().find(|case| case.outcome != Outcome::Measured);
    Some(Worth {
        factor: factor.to_owned(),
        with: named(&baseline[0].params),
        without: named(&first.params),
        value: middle(cases, metric),
        gain: paired_ratio(&pairs).ok(),
        pairs: pairs.len(),
        reason: lost.and_then(|case| case.reason.clone()),
        outcome: lost.map(|case| case.outcome),
    })
}

fn is_lower(cases: &[&CaseRecord], metric: &str) -> bool {
    let better = cases.iter().find_map(|case| case.metrics.get(metric)).map(|metric| metric.better);
    better == Some(Better::Lower)
}

fn in_repeat(cases: &[&CaseRecord], wanted: Option<u32>, metric: &str) -> Option<f64> {
    value(cases.iter().find(|case| repeat(case) == wanted)?, metric)
}

fn interaction(cases: &[&CaseRecord], label: &str, metric: &str) -> Option<FactorInteraction> {
    let both = of_label(cases, label);
    let [first, second] = both.first().map(|case| crossed(case))? else { return None };
    let (baseline, one, other) = (of_label(cases, BASELINE), of_label(cases, first), of_label(cases, second));
    let is_lower = is_lower(cases, metric);
    let four = |without: &&CaseRecord| {
        let repeat = repeat(without);
        let of = |cases| in_repeat(cases, repeat, metric);
        // The gain with the second factor is baseline over one, the gain without it is other over both.
        let ratio = (of(&baseline)? * of(&both)?, of(&one)? * of(&other)?);
        Some(if is_lower { (ratio.1, ratio.0) } else { ratio })
    };
    let products: Vec<(f64, f64)> = both.iter().filter_map(four).collect();
    let lost = both.iter().chain(&one).chain(&other).find(|case| case.outcome != Outcome::Measured);
    Some(FactorInteraction {
        factors: [first.clone(), second.clone()],
        values: [&one, &other, &both].map(|cases| middle(cases, metric)),
        ratio: paired_ratio(&products).ok(),
        repeats: products.len(),
        reason: lost.and_then(|case| case.reason.clone()),
        outcome: lost.map(|case| case.outcome),
    })
}

impl FactorInteraction {
    /// Whether the two gains are larger or smaller together, or neither can be told; `None` where there is no interval.
    fn direction(&self) -> Option<Ordering> {
        let interval = self.ratio?.ci95?;
        Some(if interval.low > 1.0 {
            Ordering::Greater
        } else if interval.high < 1.0 {
            Ordering::Less
        } else {
            Ordering::Equal
        })
    }

    /// The direction in words.
    pub fn meaning(&self) -> Option<&'static str> {
        Some(match self.direction()? {
            Ordering::Greater => "larger together",
            Ordering::Less => "smaller together",
            Ordering::Equal => "cannot tell",
        })
    }
}

fn findings(study: &Factors) -> Vec<Finding> {
    let worths = study
        .worths
        .iter()
        .map(|worth| finding(study, worth.gain, format!("{}: {}", worth.factor, words(study, worth))));
    let interactions = study.interactions.iter().map(|both| {
        let text = format!("{} and {}: {}", both.factors[0], both.factors[1], words_of_both(study, both));
        finding(study, both.ratio, text)
    });
    worths.chain(interactions).collect()
}

fn finding(study: &Factors, gain: Option<PairedRatio>, text: String) -> Finding {
    let Factors { nodes, subject, group, metric, .. } = study;
    paired::finding(&RULE, &PairedStudy { nodes, subject, group, metric }, gain, text)
}

fn words(study: &Factors, worth: &Worth) -> String {
    let (Some(with), Some(without), Some(gain)) = (study.value, worth.value, worth.gain) else {
        let why = because(worth.reason.as_deref());
        return format!("the gain is unknown: no repeat measured both with and without it{why}");
    };
    let sizes = format!(
        "{} is {} with {} and {} with {}",
        study.metric,
        in_unit(with, study.unit),
        worth.with,
        in_unit(without, study.unit),
        worth.without
    );
    let over = format!("over {} of {} repeats", worth.pairs, study.repeats);
    match gain.ci95 {
        None => format!("{sizes}: {} times, {over}, too few for an interval", significant(gain.ratio)),
        Some(interval) => {
            let told = if interval.contains(1.0) { ": no difference can be told" } else { "" };
            format!("{sizes}: a gain of {} ({}), {over}{told}", significant(gain.ratio), range(interval))
        }
    }
}

fn words_of_both(study: &Factors, both: &FactorInteraction) -> String {
    let Some(ratio) = both.ratio else {
        let why = because(both.reason.as_deref());
        return format!("the interaction is unknown: no repeat measured both, each and none of the two{why}");
    };
    let over = format!("over {} of {} repeats", both.repeats, study.repeats);
    let size = significant(ratio.ratio);
    let Some(interval) = ratio.ci95 else {
        return format!("an interaction of {size}, {over}, too few for an interval");
    };
    let told = match both.direction() {
        Some(Ordering::Greater) => "the gains are larger together",
        Some(Ordering::Less) => "the gains are smaller together",
        Some(Ordering::Equal) | None => "no interaction can be told",
    };
    format!("an interaction of {size} ({}), {over}: {told}", range(interval))
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::judge::fixture::{case, metric, no_limit};
    use crate::number::quantity;

    /// The case of `factor` in repeat `repeat`: flows=4, except for `off`.
    pub(in super::super) fn one(factor: &str, repeat: u32, rate: f64, off: &[(&str, u64)]) -> CaseRecord {
        let mut case = case("n1", "n1->n2");
        case.params.set("flows", 4_u64);
        case.params.set("depth", 8_u64);
        off.iter().for_each(|(name, value)| case.params.set(name, *value));
        let study = FactorCase {
            factor: factor.to_owned(),
            crossed: Vec::new(),
            repeat,
            seed: 7,
            metric: "throughput".to_owned(),
            block: None,
        };
        case.origin.study = Some(study);
        let Ok(id) = format!("net.tcp_stream#repeat.{repeat}[{factor}]").parse();
        case.case = id;
        case.metrics.insert("throughput".to_owned(), metric(rate, (rate, rate), no_limit()));
        case
    }

    /// A machine that slows down by a tenth per repeat, on which flows gain a factor of 2 and depth nothing.
    fn drifting() -> Vec<CaseRecord> {
        let mut records = Vec::new();
        for repeat in 1..=4_i32 {
            let rate = 100.0 * 0.9_f64.powi(repeat);
            let at = repeat as u32;
            records.push(one("depth=1", at, rate * (1.0 + 0.001 * f64::from(repeat - 2)), &[("depth", 1)]));
            records.push(one(BASELINE, at, rate, &[]));
            records.push(one("flows=1", at, rate / 2.0, &[("flows", 1)]));
        }
        records
    }

    #[test]
    fn a_drift_that_all_share_cancels_in_the_gain() {
        let found = factors(&drifting());
        let [study] = found.as_slice() else { panic!("{found:?}") };
        assert_eq!((study.repeats, study.seed, study.worths.len()), (4, Some(7), 2));
        let flows = &study.worths[1];
        assert_eq!((flows.with.to_string(), flows.without.to_string()), ("flows=4".into(), "flows=1".into()));
        let gain = flows.gain.expect("a gain");
        let interval = gain.ci95.expect("an interval");
        assert!((gain.ratio - 2.0).abs() < 1e-9 && interval.half_width() < 1e-9, "{gain:?}");
    }

    #[test]
    fn a_finding_says_the_gain_with_its_interval_or_that_none_can_be_told() {
        let found = (RULE.find)(&drifting());
        let [depth, flows] = found.as_slice() else { panic!("{found:?}") };
        assert_eq!(
            flows.text,
            "flows=1: throughput is 76.95 GB/s with flows=4 and 38.48 GB/s with flows=1: a gain of 2 (2 to 2), over 4 of 4 \
             repeats"
        );
        assert_eq!(flows.value, quantity(2.0, Unit::Ratio));
        assert!(depth.text.ends_with("over 4 of 4 repeats: no difference can be told"), "{}", depth.text);
        let (low, high) = depth.ci95.expect("an interval");
        assert!(low < 1.0 && 1.0 < high);
    }

    /// Without both of two factors that gain 2 and 1.25 alone, the rate of the baseline over `both`.
    fn crossed_study(both: f64) -> Vec<CaseRecord> {
        let mut records = Vec::new();
        for repeat in 1..=4 {
            let rate = 100.0 * f64::from(repeat);
            records.push(one(BASELINE, repeat, rate, &[]));
            records.push(one("flows=1", repeat, rate / 2.0, &[("flows", 1)]));
            records.push(one("depth=1", repeat, rate / 1.25, &[("depth", 1)]));
            let without = rate / both * (1.0 + 0.001 * f64::from(repeat));
            let mut case = one("depth=1 + flows=1", repeat, without, &[("flows", 1), ("depth", 1)]);
            if let Some(study) = case.origin.study.as_mut() {
                study.crossed = vec!["depth=1".to_owned(), "flows=1".to_owned()];
            }
            records.push(case);
        }
        records
    }

    #[test]
    fn two_factors_interact_unless_their_gains_multiply() {
        for (both, ratio, says) in [
            (2.5 * 1.002_5, 1.0, "cannot tell"),
            (2.0, 1.25, "larger together"),
            (5.0, 0.5, "smaller together"),
        ] {
            let records = crossed_study(both);
            let found = factors(&records);
            let [study] = found.as_slice() else { panic!("{found:?}") };
            assert_eq!((study.worths.len(), study.interactions.len()), (2, 1));
            let interaction = &study.interactions[0];
            let told = interaction.ratio.expect("a ratio").ratio;
            assert!((told / ratio - 1.0).abs() < 0.005, "{told} for {ratio}");
            assert_eq!(interaction.meaning(), Some(says), "{interaction:?}");
            let texts: Vec<String> = (RULE.find)(&records).into_iter().map(|finding| finding.text).collect();
            assert!(texts[2].starts_with("depth=1 and flows=1: an interaction of "), "{texts:?}");
        }
    }

    #[test]
    fn an_interaction_needs_all_four_of_a_repeat() {
        let mut records = crossed_study(2.0);
        records.retain(|record| label(record) != Some("flows=1"));
        let found = factors(&records);
        assert_eq!((found[0].interactions[0].ratio, found[0].interactions[0].repeats), (None, 0));
        // Where less is better, gains are ratios the other way round, and so is what one adds to the other.
        let mut records = crossed_study(2.0);
        for record in &mut records {
            record.metrics.values_mut().for_each(|metric| metric.better = Better::Lower);
        }
        assert_eq!(factors(&records)[0].interactions[0].meaning(), Some("smaller together"));
    }

    #[test]
    fn where_less_is_better_the_gain_is_the_other_way_round() {
        let mut records = drifting();
        for record in &mut records {
            if let Some(metric) = record.metrics.get_mut("throughput") {
                metric.better = Better::Lower;
            }
        }
        let gain = factors(&records)[0].worths[1].gain.expect("a gain");
        assert!((gain.ratio - 0.5).abs() < 1e-9, "{gain:?}");
    }

    #[test]
    fn a_factor_that_was_never_measured_says_why() {
        let mut records = drifting();
        for record in records.iter_mut().filter(|record| label(record) == Some("flows=1")) {
            record.metrics.clear();
            record.outcome = Outcome::Failed;
            record.reason = Some("reset by peer".to_owned());
        }
        let found = (RULE.find)(&records);
        let text = &found[1].text;
        assert!(text.contains("the gain is unknown") && text.ends_with("it: reset by peer"), "{text}");
        assert_eq!((found[1].value, found[1].ci95), (None, None));
        // One repeat that lost its case leaves three pairs.
        let mut records = drifting();
        records.retain(|record| label(record) != Some("flows=1") || repeat(record) != Some(2));
        assert_eq!(factors(&records)[0].worths[1].pairs, 3);
    }
}
