//! The difference of one metric between two cases, with its statistics.

use seatrial_model::record::{CaseRecord, MetricRecord};
use seatrial_model::{Better, Outcome, Params, Subject, Unit};
use seatrial_stats::{CompareRule, Interval, discoveries, zero_split};

use super::Changed;
use super::cases::ComparedCases;
use super::differing::{DifferingParam, differing};
use super::pairing::pair;

/// At most this share of the differences that a comparison calls better or worse comes by chance.
pub const BY_CHANCE: f64 = 0.05;

/// Two runs compared. Run `a` is the baseline, `b` the candidate.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Comparison {
    /// Metrics of cases that both runs have, in the order of `a`.
    pub differences: Vec<Difference>,
    pub only_a: Vec<String>,
    pub only_b: Vec<String>,
    /// Parameters whose values keep cases of the two runs apart.
    pub differing: Vec<DifferingParam>,
    /// Cases that were measured in `a` and failed in `b`: worse, without a number that says by how much.
    pub broken: Vec<Ended>,
    pub mended: Vec<Ended>,
    /// Cases that were measured in `a` and could not be measured in `b`: unknown whether worse.
    pub unmeasured: Vec<Ended>,
    /// Differences of settings and inventory. Filled in by the caller that has the sites, see
    /// [`changed`](super::changed).
    pub changed: Vec<Changed>,
    /// The share within which differences count as the same; `None` when only equal counts do.
    pub same_within: Option<f64>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ended {
    /// Its id in the run in which it has no numbers.
    pub case: String,
    pub reason: String,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Difference {
    pub bench: String,
    /// The subject, as `b` names it.
    pub subject: Subject,
    pub params: Params,
    /// Empty when the pair has no numbers to compare; `change` says why.
    pub metric: String,
    /// Whether it is the headline metric of its case.
    pub is_headline: bool,
    pub unit: Unit,
    pub better: Better,
    pub a: Side,
    pub b: Side,
    pub change: Result<Change, String>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Side {
    pub case: String,
    pub nodes: Vec<String>,
    /// The geometric mean of the trials' medians, which the change is computed from. Without a change, the median of
    /// all samples, if there is one.
    pub value: Option<f64>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Change {
    /// Better, worse, the same or cannot tell; at most [`BY_CHANCE`] of all better and worse are so by chance.
    pub verdict: seatrial_stats::Verdict,
    /// The probability of a difference at least this large between trials of one distribution.
    pub p: Option<f64>,
    /// Whether this metric alone would be better or worse, but is not significant among this many comparisons.
    pub may_be_chance: bool,
    /// Candidate over baseline, in percent above 100: 2 is 2 % more. `None` where the baseline is 0 and the candidate
    /// is not.
    pub percent: Option<f64>,
    pub interval: Option<(f64, f64)>,
    /// The smallest difference, in percent, that such trials would show nine times in ten.
    pub smallest_percent: Option<f64>,
    /// Whether one side is 0 in every trial and the other in none.
    pub is_zero_split: bool,
}

impl Change {
    /// One without an interval.
    fn new(verdict: seatrial_stats::Verdict, percent: Option<f64>) -> Self {
        Self {
            verdict,
            p: None,
            may_be_chance: false,
            percent,
            interval: None,
            smallest_percent: None,
            is_zero_split: false,
        }
    }
}

/// Compares every metric of the cases that both sides have.
///
/// With `same_within` (a share, 0.02 is 2 %) differences shown to be smaller count as the same; without it only equal
/// counted values do. Samples stored in files of the run folder must have been loaded into the records.
///
/// The test is Welch's on the medians of the trials, see [`seatrial_stats::compare`]. With many metrics one in twenty
/// would differ by chance, so better and worse are corrected for the number of comparisons, see [`discoveries`]. The
/// interval of a metric is not corrected. A side that is 0 in every trial against one that is in none is told by
/// [`seatrial_stats::zero_split`].
pub fn compare(a: &ComparedCases<'_>, b: &ComparedCases<'_>, same_within: Option<f64>) -> Comparison {
    let pairs = pair(a, b);
    let ids = |cases: &[&CaseRecord]| cases.iter().map(|case| case.case.to_string()).collect();
    let mut differences: Vec<Difference> =
        pairs.pairs.iter().flat_map(|(a, b)| of_pair(a, b, same_within)).collect();
    correct(&mut differences);
    // Cases that were measured in one run and have one of these outcomes in the other.
    let ended = |outcomes: &[Outcome], in_b: bool| {
        let sides = pairs.pairs.iter().map(|(a, b)| if in_b { (*a, *b) } else { (*b, *a) });
        let such =
            sides.filter(|(good, bad)| good.outcome == Outcome::Measured && outcomes.contains(&bad.outcome));
        such.map(|(_, bad)| Ended { case: bad.case.to_string(), reason: why_without(bad).to_owned() })
            .collect()
    };
    Comparison {
        only_a: ids(&pairs.only_a),
        only_b: ids(&pairs.only_b),
        differing: differing(&pairs.only_a, &pairs.only_b),
        broken: ended(&[Outcome::Failed], true),
        mended: ended(&[Outcome::Failed], false),
        unmeasured: ended(&[Outcome::Unmeasured, Outcome::Skipped], true),
        changed: Vec::new(),
        same_within,
        differences,
    }
}

impl Comparison {
    /// Whether anything is worse: a metric, or a case that was measured before and failed.
    pub fn is_worse(&self) -> bool {
        let is_worse = |change: &Change| change.verdict == seatrial_stats::Verdict::Worse;
        !self.broken.is_empty() || self.differences.iter().flat_map(|row| &row.change).any(is_worse)
    }

    /// Whether a metric that is not called worse may well be: one side is 0 in every trial, the other in none, and the
    /// trials are too few for it.
    pub fn may_be_worse(&self) -> bool {
        self.differences.iter().any(Difference::may_be_worse)
    }

    /// Whether the comparison is too incomplete to call the candidate not worse: nothing was comparable, or a case
    /// was not or could not be measured again.
    pub fn is_incomplete(&self) -> bool {
        !self.unmeasured.is_empty()
            || !self.only_a.is_empty()
            || !self.differences.iter().any(|row| row.change.is_ok())
    }
}

impl Difference {
    /// See [`Comparison::may_be_worse`].
    pub fn may_be_worse(&self) -> bool {
        let is_undecided =
            |change: &Change| change.is_zero_split && change.verdict == seatrial_stats::Verdict::CannotTell;
        let is_more = self.b.value > self.a.value;
        self.change.as_ref().is_ok_and(is_undecided) && is_more == (self.better == Better::Lower)
    }
}

/// Takes back verdicts that are not significant among all comparisons.
fn correct(differences: &mut [Difference]) {
    let p: Vec<f64> = differences.iter().flat_map(|row| &row.change).filter_map(|change| change.p).collect();
    let stands = discoveries(&p, BY_CHANCE);
    let tested = differences.iter_mut().flat_map(|row| &mut row.change).filter(|change| change.p.is_some());
    for (change, stands) in tested.zip(stands) {
        let is_called =
            matches!(change.verdict, seatrial_stats::Verdict::Better | seatrial_stats::Verdict::Worse);
        if is_called && !stands {
            change.verdict = seatrial_stats::Verdict::CannotTell;
            change.may_be_chance = true;
        }
    }
}

fn why_without(case: &CaseRecord) -> &str {
    case.reason.as_deref().unwrap_or("the record does not say why")
}

fn of_pair(a: &CaseRecord, b: &CaseRecord, same_within: Option<f64>) -> Vec<Difference> {
    let side = |case: &CaseRecord, value: Option<f64>| Side {
        case: case.case.to_string(),
        nodes: case.nodes.clone(),
        value,
    };
    let difference = |name: &str, of: (&MetricRecord, &MetricRecord)| {
        let told = change(of.0, of.1, same_within);
        let (before, after) =
            told.as_ref().map_or((of.0.median, of.1.median), |told| (told.before, told.after));
        Difference {
            bench: b.bench.clone(),
            subject: b.subject.clone(),
            params: b.params.clone(),
            metric: name.to_owned(),
            is_headline: b.headline().is_some_and(|(headline, _)| headline == name),
            unit: of.1.unit,
            better: of.1.better,
            a: side(a, Some(before)),
            b: side(b, Some(after)),
            change: told.map(|told| told.change),
        }
    };
    if [a, b].iter().all(|case| case.outcome == Outcome::Skipped) {
        return Vec::new();
    }
    if let Err(why) = comparable(a, b) {
        return vec![Difference {
            bench: b.bench.clone(),
            subject: b.subject.clone(),
            params: b.params.clone(),
            metric: String::new(),
            is_headline: false,
            unit: Unit::Count,
            better: Better::None,
            a: side(a, None),
            b: side(b, None),
            change: Err(why),
        }];
    }
    let common = a.metrics.iter().filter_map(|(name, metric)| Some((name, (metric, b.metrics.get(name)?))));
    common.map(|(name, of)| difference(name, of)).collect()
}

struct Told {
    before: f64,
    after: f64,
    change: Change,
}

fn comparable(a: &CaseRecord, b: &CaseRecord) -> Result<(), String> {
    if a.version != b.version {
        return Err(format!(
            "measured with version {} and version {} of {}, whose numbers are not comparable",
            a.version, b.version, a.bench
        ));
    }
    for (name, case) in [("first", a), ("second", b)] {
        if case.outcome != Outcome::Measured {
            return Err(format!("the {name} run has no numbers: {}", why_without(case)));
        }
    }
    Ok(())
}

fn change(a: &MetricRecord, b: &MetricRecord, same_within: Option<f64>) -> Result<Told, String> {
    let better = match b.better {
        Better::Higher => seatrial_stats::Better::Higher,
        Better::Lower => seatrial_stats::Better::Lower,
        Better::None => return Err("neither more nor less is better".to_owned()),
    };
    if a.unit != b.unit {
        return Err(format!("measured in {} and in {}", a.unit, b.unit));
    }
    let (first, second) = (samples(a, "first")?, samples(b, "second")?);
    if first.iter().chain(second).flatten().all(|value| *value == 0.0) {
        // Zero against zero: a relative difference is undefined, and the values are equal.
        let change = Change::new(seatrial_stats::Verdict::Same, Some(0.0));
        return Ok(Told { before: 0.0, after: 0.0, change });
    }
    if let Some(split) = zero_split(first, second).map_err(|error| error.to_string())? {
        let percent = (split.candidate == 0.0).then_some(-100.0);
        let plain = Change::new(split.verdict(better), percent);
        let change = Change { p: split.p, is_zero_split: true, ..plain };
        return Ok(Told { before: split.baseline, after: split.candidate, change });
    }
    let rule = CompareRule { better, same_within };
    let found = seatrial_stats::compare(first, second, &rule).map_err(|error| error.to_string())?;
    let ends = |interval: Interval| (100.0 * interval.low, 100.0 * interval.high);
    let change = Change {
        p: found.p,
        interval: found.ci95.map(ends),
        smallest_percent: found.smallest_detectable.map(|share| 100.0 * share),
        ..Change::new(found.verdict, Some(100.0 * found.difference))
    };
    Ok(Told { before: found.baseline, after: found.candidate, change })
}

fn samples<'a>(metric: &'a MetricRecord, which: &str) -> Result<&'a [Vec<f64>], String> {
    metric.samples.as_deref().ok_or_else(|| match &metric.samples_file {
        Some(file) => format!("the samples of the {which} run are in {file}, which is missing"),
        None => format!("the {which} run kept no samples"),
    })
}
