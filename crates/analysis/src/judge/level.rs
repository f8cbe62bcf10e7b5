//! The value of a bar, in the unit of the metric.

use seatrial_model::Quantity;
use seatrial_model::profile::{Bar, Criterion};
use seatrial_model::record::CaseRecord;

use super::JudgeInputs;
use super::measured::{Measured, measured};
use super::peers::Peers;
use crate::same::{is_same_class, is_same_question, is_same_thing};

#[derive(Clone, Copy)]
pub(super) struct CriterionContext<'a> {
    pub inputs: &'a JudgeInputs<'a>,
    pub criterion: &'a Criterion,
    pub case: &'a CaseRecord,
    pub peers: &'a Peers<'a>,
}

#[derive(Debug, PartialEq)]
pub(super) enum Gap {
    NoLimit(String),
    NoNominal(String),
    Other(String),
}

#[derive(Debug, PartialEq)]
pub(super) struct StatedLimit {
    pub value: f64,
    pub source: String,
}

impl CriterionContext<'_> {
    pub fn level(&self, bar: &Bar, found: &Measured<'_>) -> Result<f64, Gap> {
        match bar {
            Bar::Absolute(quantity) => {
                let converted = quantity.to(found.unit);
                converted.map(Quantity::value).map_err(|error| Gap::Other(error.to_string()))
            }
            Bar::PercentOfLimit(percent) => {
                let limit = self.limit(found).map_err(Gap::NoLimit)?;
                Ok(limit.value * percent / 100.0)
            }
            Bar::PercentOfNominal(percent) => {
                let nominal = found.limit.and_then(|limit| limit.nominal);
                let why = "no nominal rate: the rate of no network port belongs to it, or it is not known";
                nominal.map(|rate| rate * percent / 100.0).ok_or_else(|| Gap::NoNominal(why.to_owned()))
            }
            Bar::PercentOfFleetMedian(percent) => {
                self.fleet_median(found).map(|median| median * percent / 100.0).map_err(Gap::Other)
            }
            Bar::PercentOfReference(percent) => {
                self.reference(found).map(|value| value * percent / 100.0).map_err(Gap::Other)
            }
        }
    }

    /// The limit in the record, to which `state_limits` has added those of the profile; the reason when there is none.
    pub fn limit(&self, found: &Measured<'_>) -> Result<StatedLimit, String> {
        let Some(limit) = found.limit else { return Err("a series has no limit".to_owned()) };
        let Some(value) = limit.value else {
            return Err(limit.reason.clone().unwrap_or_else(|| "the record does not say why".to_owned()));
        };
        let source = [limit.formula.as_deref(), limit.provenance.as_deref()];
        Ok(StatedLimit { value, source: source.into_iter().flatten().collect::<Vec<_>>().join(", ") })
    }

    /// The median over all nodes that measured the same question on a subject of the same name, this node included.
    fn fleet_median(&self, found: &Measured<'_>) -> Result<f64, String> {
        self.peers.median(self.case, self.criterion, found.at, |peer| self.value_in(peer, found))
    }

    /// The value of the reference run: of the same subject on the same node, or, if the reference is a single
    /// (golden) node, of the subject of the same name there.
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

    fn value_in(&self, other: &CaseRecord, found: &Measured<'_>) -> Option<f64> {
        let there = measured(other, &self.criterion.metric, &self.criterion.at).ok()?;
        let same = there.iter().find(|there| there.at == found.at && there.unit == found.unit)?;
        same.statistic(self.criterion.of).ok()
    }
}
