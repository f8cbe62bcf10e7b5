//! What a bar comes to, in the unit of the metric.

use seatrial_model::profile::{Bar, Criterion, Profile};
use seatrial_model::record::CaseRecord;
use seatrial_model::{Better, Quantity};

use super::JudgeInputs;
use super::measured::{Measured, measured};
use super::peers::Peers;
use crate::same::{is_same_class, is_same_question, is_same_thing};
use crate::stated::is_for;

/// One criterion on one case.
#[derive(Clone, Copy)]
pub(super) struct CriterionContext<'a> {
    pub profile: &'a Profile,
    pub inputs: &'a JudgeInputs<'a>,
    pub criterion: &'a Criterion,
    pub case: &'a CaseRecord,
    pub peers: &'a Peers<'a>,
}

/// Why a bar comes to no number.
#[derive(Debug, PartialEq)]
pub(super) enum Gap {
    /// There is no limit, and why.
    NoLimit(String),
    Other(String),
}

/// A limit and where it is from.
#[derive(Debug, PartialEq)]
pub(super) struct Ceiling {
    pub value: f64,
    pub source: String,
}

impl CriterionContext<'_> {
    /// What `bar` comes to for `found`, in its unit.
    pub fn level(&self, bar: &Bar, found: &Measured<'_>) -> Result<f64, Gap> {
        match bar {
            Bar::Absolute(quantity) => {
                let converted = quantity.to(found.unit);
                converted.map(Quantity::value).map_err(|error| Gap::Other(error.to_string()))
            }
            Bar::PercentOfLimit(percent) => {
                let ceiling = self.ceiling(found).map_err(Gap::NoLimit)?;
                Ok(ceiling.value * percent / 100.0)
            }
            Bar::PercentOfFleetMedian(percent) => {
                self.fleet_median(found).map(|median| median * percent / 100.0).map_err(Gap::Other)
            }
            Bar::PercentOfReference(percent) => {
                self.reference(found).map(|value| value * percent / 100.0).map_err(Gap::Other)
            }
        }
    }

    /// The tightest of the limit that the benchmark derived and those that the profile states; the reason when
    /// there is none.
    pub fn ceiling(&self, found: &Measured<'_>) -> Result<Ceiling, String> {
        let Some(limit) = found.limit else { return Err("a series has no limit".to_owned()) };
        let derived = limit.value.map(|value| {
            let source = [limit.formula.as_deref(), limit.provenance.as_deref()];
            Ceiling { value, source: source.into_iter().flatten().collect::<Vec<_>>().join(", ") }
        });
        let stated = self
            .profile
            .limits
            .iter()
            .filter(|rule| is_for(rule, &self.criterion.metric, self.case))
            .filter_map(|rule| {
                let value = rule.value.to(found.unit).ok()?.value();
                Some(Ceiling { value, source: format!("{}, profile", rule.source) })
            });
        let tighter = |a: Ceiling, b: Ceiling| match found.better {
            Better::Lower => {
                if b.value > a.value {
                    b
                } else {
                    a
                }
            }
            Better::Higher | Better::None => {
                if b.value < a.value {
                    b
                } else {
                    a
                }
            }
        };
        derived
            .into_iter()
            .chain(stated)
            .reduce(tighter)
            .ok_or_else(|| limit.reason.clone().unwrap_or_else(|| "the record does not say why".to_owned()))
    }

    /// The median over all nodes that measured the same question on a thing of the same name, this one included.
    fn fleet_median(&self, found: &Measured<'_>) -> Result<f64, String> {
        self.peers.median(self.case, self.criterion, found.at, |peer| self.value_in(peer, found))
    }

    /// The value of the reference run: of the same thing on the same node, or, when the reference is a single node
    /// (a golden one), of the thing of the same name there.
    fn reference(&self, found: &Measured<'_>) -> Result<f64, String> {
        let Some(reference) = self.inputs.reference else {
            return Err("no reference run was given; --reference RUN names one".to_owned());
        };
        let alike: Vec<_> = reference.iter().filter(|other| is_same_question(other, self.case)).collect();
        let is_golden = reference.iter().all(|other| other.nodes == reference[0].nodes);
        let same = alike.iter().find(|other| is_same_thing(other, self.case));
        let golden = || alike.iter().find(|other| is_golden && is_same_class(other, self.case));
        let Some(other) = same.or_else(golden) else {
            return Err("the reference run has no case like it".to_owned());
        };
        if other.version != self.case.version {
            return Err(format!(
                "the reference run measured with version {} of {}, this one with version {}: not comparable",
                other.version, other.bench, self.case.version
            ));
        }
        self.value_in(other, found).ok_or_else(|| "the reference run did not measure it".to_owned())
    }

    /// The same statistic of the same metric and place in another case.
    fn value_in(&self, other: &CaseRecord, found: &Measured<'_>) -> Option<f64> {
        let there = measured(other, self.criterion).ok()?;
        let same = there.iter().find(|there| there.at == found.at && there.unit == found.unit)?;
        same.statistic(self.criterion.of).ok()
    }
}
