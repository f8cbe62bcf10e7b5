//! One criterion on one case.

use seatrial_model::disturbance::Disturber;
use seatrial_model::profile::{Absence, Bar, Bounds, Missed, Statistic, Test};
use seatrial_model::record::CaseRecord;
use seatrial_model::{Outcome, Remedy, Severity, Unit, Verdict, VerdictRecord, Verification};

use super::advice::MissingLimit;
use super::disturbed::disturbed_by;
use super::judged_nodes::judged_node;
use super::level::{CriterionContext, Gap};
use super::measured::{Measured, measured};
use super::range::Range;
use crate::believable::is_beyond;
use crate::finding::path;
use crate::number::{in_unit, quantity, significant};

/// The verdict on a case, and the limit that was missing for it.
pub(super) struct Ruling {
    pub record: VerdictRecord,
    pub missing: Option<MissingLimit>,
}

impl From<VerdictRecord> for Ruling {
    fn from(record: VerdictRecord) -> Self {
        Self { record, missing: None }
    }
}

impl Ruling {
    /// The joint verdict on a case that lost a node and on the case of `nodes` that stands in for it. A criterion
    /// missed with the other partner too is missed; a criterion that was met says nothing about the lost node.
    pub fn with_stand_in(mut self, other: Self, nodes: &[String]) -> Self {
        let words = |ruling: &Self| ruling.record.reason.clone().unwrap_or_default();
        if other.record.verdict == Verdict::Fail {
            let again = format!(
                "measured with another partner, since the planned case has no result: {}",
                words(&self)
            );
            let reason: Vec<String> = other.record.reason.into_iter().chain([again]).collect();
            let reason = Some(reason.join("; "));
            return Self { record: VerdictRecord { reason, ..other.record }, ..other };
        }
        if let Some(measured) = other.record.measured {
            let verdict = other.record.verdict;
            let reason = format!("{}; {} instead: {measured}, {verdict}", words(&self), nodes.join(" with "));
            self.record.reason = Some(reason);
        }
        self
    }
}

pub(super) fn judge_case(test: &Test, matter: CriterionContext<'_>) -> Ruling {
    let plain = |verdict, reason: String| Ruling::from(blank(test, &matter, verdict, reason));
    let case = matter.case;
    let why = || case.reason.clone().unwrap_or_else(|| "the record does not say why".to_owned());
    match case.outcome {
        Outcome::Failed => return plain(Verdict::Fail, why()),
        Outcome::Unmeasured => return plain(Verdict::Unknown, why()),
        Outcome::Skipped => return plain(Verdict::Skip, why()),
        Outcome::Measured => {}
    }
    if let Err(why) = is_of_test(test, case) {
        return plain(Verdict::Unknown, why);
    }
    match measured(case, &matter.criterion.metric, &matter.criterion.at) {
        Err(why) => plain(Verdict::Unknown, why),
        // Of a series the row with the heaviest verdict counts, of equals the one furthest off.
        Ok(rows) => rows
            .iter()
            .map(|found| judge_number(test, &matter, found))
            .reduce(|a, b| if weight(&b) > weight(&a) { b } else { a })
            .unwrap_or_else(|| plain(Verdict::Unknown, "there is nothing to judge".to_owned())),
    }
}

fn weight(ruling: &Ruling) -> (Verdict, i64) {
    // Thousandths of a percent order margins well enough, and integers order totally.
    let margin = ruling.record.margin_percent.map_or(0, |percent| (percent * 1000.0) as i64);
    (ruling.record.verdict, -margin)
}

/// Whether the numbers of `case` are those that `test` asks for; `Err` says why not.
pub fn is_of_test(test: &Test, case: &CaseRecord) -> Result<(), String> {
    test.requirements_met(&case.facts)?;
    // All numbers of the case are those of another path than the judged one.
    path::contradiction(case).map_or(Ok(()), |why| Err(format!("path unconfirmed: {why}")))
}

fn blank(test: &Test, matter: &CriterionContext<'_>, verdict: Verdict, reason: String) -> VerdictRecord {
    let CriterionContext { case, criterion, .. } = matter;
    let bound = criterion.bounds.to_string();
    VerdictRecord {
        case: Some(case.case.to_string()),
        node: judged_node(test, case).map(str::to_owned),
        reason: (!reason.is_empty()).then_some(reason),
        ..VerdictRecord::new(&criterion.id, &test.id, case.subject.clone(), verdict, bound)
    }
}

fn judge_number(test: &Test, matter: &CriterionContext<'_>, found: &Measured<'_>) -> Ruling {
    let criterion = matter.criterion;
    let place = found.at.map(|at| format!("at {at}"));
    let with_place =
        |reason: String| place.clone().into_iter().chain([reason]).collect::<Vec<_>>().join(": ");
    let value = match found.statistic(criterion.of) {
        Ok(value) => value,
        Err(why) => return blank(test, matter, Verdict::Unknown, with_place(why)).into(),
    };
    let unit = shown_unit(&criterion.bounds, found.unit);
    let scale = found.unit.factor() / unit.factor();
    let mut record = blank(test, matter, Verdict::Unknown, String::new());
    record.measured = quantity(value * scale, unit);
    if criterion.of == Statistic::Median {
        let ends =
            found.summary.ci95.map(|(low, high)| (quantity(low * scale, unit), quantity(high * scale, unit)));
        record.interval = ends.and_then(|(low, high)| low.zip(high));
    }
    if let Ok(limit) = matter.limit(found)
        && let Some(wrong) =
            [value, found.summary.median].into_iter().find(|v| is_beyond(*v, limit.value, found.better))
    {
        record.reason = Some(with_place(format!(
            "limit or measurement wrong: {} is {} % of the limit {} ({})",
            in_unit(wrong, found.unit),
            significant(100.0 * wrong / limit.value),
            in_unit(limit.value, found.unit),
            limit.source
        )));
        return record.into();
    }
    let range = match range(matter, found) {
        Ok(range) => range,
        Err(Gap::Other(why)) => {
            record.reason = Some(with_place(why));
            return record.into();
        }
        Err(Gap::NoNominal(why)) => {
            if criterion.without_limit == Absence::Skip {
                record.verdict = Verdict::Skip;
            }
            record.reason = Some(with_place(why));
            return record.into();
        }
        Err(Gap::NoLimit(why)) => {
            if let Some(range) = met_at_the_highest_limit(matter, found, value) {
                record.verdict = Verdict::Pass;
                record.bound = bound_words(&criterion.bounds, range, found.unit);
                record.reason =
                    Some(with_place(format!("met even if the limit is as high as it can be: {why}")));
                return record.into();
            }
            let missing = MissingLimit {
                test: test.id.clone(),
                metric: criterion.metric.clone(),
                unit: found.unit,
                reason: why.clone(),
            };
            if criterion.without_limit == Absence::Skip {
                record.verdict = Verdict::Skip;
            }
            let metric = &criterion.metric;
            record.reason = Some(with_place(format!("no limit is known for {metric} here: {why}")));
            return Ruling { record, missing: Some(missing) };
        }
    };
    let decision = range.decide(value, found.spread(criterion.of, value));
    record.verdict = decision.verdict;
    record.margin_percent = range.margin_percent(value);
    record.bound = bound_words(&criterion.bounds, range, found.unit);
    let mut reasons: Vec<String> = place.into_iter().collect();
    if decision.is_noise {
        reasons.push(noise_words(decision.verdict, found));
        record.remedy = Some(Remedy::MORE_TRIALS);
    }
    if decision.verdict == Verdict::Fail {
        // CPU or GPU time that others took is missing here: a sound part may be as slow.
        if let Some(Disturber { name, text, .. }) = disturbed_by(matter.case) {
            record.verdict = Verdict::Unknown;
            reasons.push(format!("disturbed by {name}: {text}"));
            record.remedy = Some(Remedy::ON_A_QUIET_MACHINE);
        } else {
            record.verdict = criterion.missed.verdict();
            reasons.extend(explaining(matter.case));
        }
    }
    // Of noise and of a disturbance too, a warning is the worst that comes.
    if record.verdict == Verdict::Unknown && criterion.missed == Missed::Warn {
        record.verdict = Verdict::Warn;
    }
    if !found.converged {
        reasons.push("did not converge: the interval is wider than asked for".to_owned());
    }
    reasons.extend(Verification::of(&matter.case.params).left_out().map(str::to_owned));
    if let Some(why) = path::doubt(matter.case) {
        reasons.push(format!("path unconfirmed: {why}"));
    }
    record.reason = (!reasons.is_empty()).then(|| reasons.join("; "));
    record.into()
}

/// The range at the highest value that an unknown limit can have, if `value` is a pass there: it is one at the limit too.
/// A value beyond it shows that the limit is of another machine; one that misses it shows nothing.
fn met_at_the_highest_limit(
    matter: &CriterionContext<'_>,
    found: &Measured<'_>,
    value: f64,
) -> Option<Range> {
    let highest = found.limit?.at_its_highest(found.better, found.unit)?;
    let is_beyond = highest.value.is_none_or(|limit| is_beyond(value, limit, found.better));
    if is_beyond || !matches!(matter.criterion.bounds, Bounds::AtLeast(_)) {
        return None;
    }
    let range = range(matter, &Measured { limit: Some(&highest), ..found.clone() }).ok()?;
    let decision = range.decide(value, found.spread(matter.criterion.of, value));
    (decision.verdict == Verdict::Pass).then_some(range)
}

/// What the findings of the case say that may explain a missed number: of each kind the first one, without its advice.
fn explaining(case: &CaseRecord) -> Option<String> {
    let mut told: Vec<(&str, &str)> = Vec::new();
    for finding in case.findings.iter().filter(|finding| finding.severity > Severity::Info) {
        if told.iter().all(|(kind, _)| *kind != finding.kind) {
            let text = finding.text.split(';').next().unwrap_or_default();
            told.push((&finding.kind, text.trim()));
        }
    }
    let told: Vec<String> = told.iter().map(|(kind, text)| format!("{kind}: {text}")).collect();
    (!told.is_empty()).then(|| told.join("; "))
}

fn noise_words(verdict: Verdict, found: &Measured<'_>) -> String {
    let met = if verdict == Verdict::Warn { "met" } else { "missed" };
    match found.summary.ci95 {
        Some(_) => format!("{met}, but too close to tell: the wanted value lies inside the 95 % interval"),
        None => {
            let n = found.summary.n;
            format!(
                "{met}, but too close to tell: {n} values are too few for an interval, and the wanted value lies among them"
            )
        }
    }
}

fn range(matter: &CriterionContext<'_>, found: &Measured<'_>) -> Result<Range, Gap> {
    let level = |bar: &Bar| matter.level(bar, found);
    Ok(match &matter.criterion.bounds {
        Bounds::AtLeast(bar) => Range { low: level(bar)?, high: f64::INFINITY },
        Bounds::AtMost(bar) => Range { low: f64::NEG_INFINITY, high: level(bar)? },
        Bounds::Equals(bar) => {
            let level = level(bar)?;
            Range { low: level, high: level }
        }
        Bounds::Within(low, high) => {
            let range = Range { low: level(low)?, high: level(high)? };
            if range.low > range.high {
                let (low, high) = (in_unit(range.low, found.unit), in_unit(range.high, found.unit));
                return Err(Gap::Other(format!(
                    "nothing lies from {low} to {high}: the two bounds contradict each other"
                )));
            }
            range
        }
    })
}

/// The unit of the bound as given; the metric's own unit if the bound is a percentage.
fn shown_unit(bounds: &Bounds, own: Unit) -> Unit {
    let mut units = bounds.bars().filter_map(|bar| match bar {
        Bar::Absolute(quantity) => Some(quantity.unit()),
        _ => None,
    });
    units.find(|unit| unit.dimension() == own.dimension()).unwrap_or(own)
}

fn bound_words(bounds: &Bounds, range: Range, unit: Unit) -> String {
    let bar = |bar: &Bar, level: f64| match bar {
        Bar::Absolute(quantity) => quantity.to_string(),
        _ => format!("{bar} ({})", in_unit(level, unit)),
    };
    match bounds {
        Bounds::AtLeast(low) => format!("at least {}", bar(low, range.low)),
        Bounds::AtMost(high) => format!("at most {}", bar(high, range.high)),
        Bounds::Equals(level) => format!("exactly {}", bar(level, range.low)),
        Bounds::Within(low, high) => format!("from {} to {}", bar(low, range.low), bar(high, range.high)),
    }
}
