//! The difference of one metric between two cases, with what can be said of it.

use seatrial_model::record::{CaseRecord, MetricRecord};
use seatrial_model::{Better, Outcome, Params, Subject, Unit};
use seatrial_stats::{CompareRule, Interval, discoveries};

use super::Changed;
use super::pairing::pair;

/// Of all differences of a comparison that are called better or worse, at most this share comes by chance.
pub const BY_CHANCE: f64 = 0.05;

/// Two runs side by side. Run `a` is the baseline, `b` the candidate.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Comparison {
    /// Metrics of cases that both runs have, in the order of `a`.
    pub differences: Vec<Difference>,
    /// Cases of `a` that `b` does not have, by id.
    pub only_a: Vec<String>,
    /// Cases of `b` that `a` does not have, by id.
    pub only_b: Vec<String>,
    /// Cases that `a` measured and in which the system under test did not deliver in `b`. They are worse, without a
    /// number that says by how much.
    pub broken: Vec<Ended>,
    /// The other way round: failed in `a`, measured in `b`.
    pub mended: Vec<Ended>,
    /// Cases that `a` measured and that `b` could not look at: nobody knows whether they are worse.
    pub unmeasured: Vec<Ended>,
    /// What else differs between the runs: settings, inventory. Filled in by whoever has the sites, see
    /// [`changed`](super::changed).
    pub changed: Vec<Changed>,
    /// The share within which differences count as the same; none where only equal counts do.
    pub same_within: Option<f64>,
}

/// A case that ended in one run as it did not in the other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ended {
    /// The case, as the run calls it in which it has no numbers.
    pub case: String,
    /// Why it has none.
    pub reason: String,
}

/// One metric of a pair of cases.
#[derive(Clone, Debug, PartialEq)]
pub struct Difference {
    pub bench: String,
    /// The thing measured, as `b` calls it.
    pub subject: Subject,
    pub params: Params,
    /// The metric; empty when the pair has no numbers to compare, and `change` says why.
    pub metric: String,
    /// The unit of both sides.
    pub unit: Unit,
    /// Which direction is good.
    pub better: Better,
    pub a: Side,
    pub b: Side,
    /// What can be said, or why nothing can.
    pub change: Result<Change, String>,
}

/// One side of a difference.
#[derive(Clone, Debug, PartialEq)]
pub struct Side {
    pub case: String,
    pub nodes: Vec<String>,
    /// The number that the change is of: the geometric mean of the trials' medians. Where no change can be told, the median
    /// of all samples, if there is one.
    pub value: Option<f64>,
}

/// What can be said of a difference.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Change {
    /// Better, worse, the same or cannot tell; of those that are better or worse at most [`BY_CHANCE`] are so by chance.
    pub verdict: seatrial_stats::Verdict,
    /// How often trials without a difference would come out this far apart.
    pub p: Option<f64>,
    /// Whether it would be better or worse by itself, and is not, because among so many comparisons differences like it
    /// come by chance.
    pub may_be_chance: bool,
    /// The candidate's value over the baseline's, in percent above 100: 2 is 2 % more.
    pub percent: f64,
    /// Ends of the 95 % interval of `percent`.
    pub interval: Option<(f64, f64)>,
    /// The smallest difference, in percent, that trials like these would have shown nine times in ten.
    pub smallest_percent: Option<f64>,
}

/// Compares every metric that cases of both runs have.
///
/// With `same_within` (a share, 0.02 is 2 %) differences shown to be smaller count as the same; without it only
/// counted values that are equal do. Samples that stand in a file of the run folder must have been put back into
/// the records.
///
/// The test is Welch's on the medians of the trials, see [`seatrial_stats::compare`]. A run has many metrics, and one in
/// twenty would differ where nothing does, so better and worse are those that stand when all are looked at together, see
/// [`discoveries`]. The interval beside a metric is that of the metric alone.
pub fn compare(a: &[CaseRecord], b: &[CaseRecord], same_within: Option<f64>) -> Comparison {
    let pairs = pair(a, b);
    let ids = |cases: &[&CaseRecord]| cases.iter().map(|case| case.case.to_string()).collect();
    let mut differences: Vec<Difference> =
        pairs.pairs.iter().flat_map(|(a, b)| of_pair(a, b, same_within)).collect();
    correct(&mut differences);
    // Those that were measured in the one run and ended so in the other.
    let ended = |outcome: Outcome, in_b: bool| {
        let sides = pairs.pairs.iter().map(|(a, b)| if in_b { (*a, *b) } else { (*b, *a) });
        let such = sides.filter(|(good, bad)| good.outcome == Outcome::Measured && bad.outcome == outcome);
        such.map(|(_, bad)| Ended { case: bad.case.to_string(), reason: why_without(bad).to_owned() })
            .collect()
    };
    Comparison {
        only_a: ids(&pairs.only_a),
        only_b: ids(&pairs.only_b),
        broken: ended(Outcome::Failed, true),
        mended: ended(Outcome::Failed, false),
        unmeasured: ended(Outcome::Unmeasured, true),
        changed: Vec::new(),
        same_within,
        differences,
    }
}

impl Comparison {
    /// Whether anything is worse: a metric, or a case that failed and was measured before.
    pub fn is_worse(&self) -> bool {
        let is_worse = |change: &Change| change.verdict == seatrial_stats::Verdict::Worse;
        !self.broken.is_empty() || self.differences.iter().flat_map(|row| &row.change).any(is_worse)
    }

    /// Whether it says too little to call the candidate not worse: nothing could be compared, or something was not or
    /// could not be measured again.
    pub fn is_incomplete(&self) -> bool {
        !self.unmeasured.is_empty()
            || !self.only_a.is_empty()
            || !self.differences.iter().any(|row| row.change.is_ok())
    }
}

/// Takes back the verdicts that do not stand among all comparisons.
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
            unit: of.1.unit,
            better: of.1.better,
            a: side(a, Some(before)),
            b: side(b, Some(after)),
            change: told.map(|told| told.change),
        }
    };
    if let Err(why) = comparable(a, b) {
        return vec![Difference {
            bench: b.bench.clone(),
            subject: b.subject.clone(),
            params: b.params.clone(),
            metric: String::new(),
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

/// A change, and the two values that it is of.
struct Told {
    before: f64,
    after: f64,
    change: Change,
}

/// Whether two cases can be compared at all; `Err` says why not.
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
        // Nothing lost against nothing lost: a relative difference does not exist, and there is none.
        let verdict = seatrial_stats::Verdict::Same;
        let change = Change {
            verdict,
            p: None,
            may_be_chance: false,
            percent: 0.0,
            interval: None,
            smallest_percent: None,
        };
        return Ok(Told { before: 0.0, after: 0.0, change });
    }
    let rule = CompareRule { better, same_within };
    let found = seatrial_stats::compare(first, second, &rule).map_err(|error| error.to_string())?;
    let ends = |interval: Interval| (100.0 * interval.low, 100.0 * interval.high);
    let change = Change {
        verdict: found.verdict,
        p: found.p,
        may_be_chance: false,
        percent: 100.0 * found.difference,
        interval: found.ci95.map(ends),
        smallest_percent: found.smallest_detectable.map(|share| 100.0 * share),
    };
    Ok(Told { before: found.baseline, after: found.candidate, change })
}

fn samples<'a>(metric: &'a MetricRecord, which: &str) -> Result<&'a [Vec<f64>], String> {
    metric.samples.as_deref().ok_or_else(|| match &metric.samples_file {
        Some(file) => format!("the samples of the {which} run stand in {file}, which is not at hand"),
        None => format!("the {which} run kept no samples"),
    })
}
