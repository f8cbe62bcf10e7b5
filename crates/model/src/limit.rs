//! What the hardware could do: a chain of bounds, the tightest of which binds.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::metric::Better;
use crate::units::{Quantity, QuantityError, Unit};

/// One bound on a metric.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Bound {
    /// The rate or time that the hardware cannot pass.
    pub value: Quantity,
    /// How it was computed, with the numbers put in: `8 channels x 4800 MT/s x 8 B`.
    pub formula: String,
    /// Where the numbers come from: `dmi`, `pcie link`, `nic speed`, `profile`.
    pub provenance: String,
}

/// The derived limit of a metric for a case.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Limit {
    /// At least one bound is known.
    Chain(Vec<Bound>),
    /// None is, and why.
    Unknown {
        /// Why, and how the person could supply one.
        reason: String,
    },
}

impl Limit {
    /// A limit that is not known, and why.
    pub fn unknown(reason: impl Into<String>) -> Self {
        Self::Unknown { reason: reason.into() }
    }
}

/// Limits of a case by the name of the metric.
pub type Limits = BTreeMap<String, Limit>;

/// A limit as the record shows it, in the metric's unit.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct LimitRecord {
    /// The binding bound, or null.
    pub value: Option<f64>,
    /// How the binding bound was computed.
    pub formula: Option<String>,
    /// Where its numbers come from.
    pub provenance: Option<String>,
    /// Why there is no value.
    pub reason: Option<String>,
    /// All bounds, the binding one included.
    #[serde(default)]
    pub chain: Vec<Bound>,
}

impl Limit {
    /// The record's form: the tightest bound in `unit` for a metric where `better` is good.
    ///
    /// # Errors
    /// [`QuantityError::WrongKind`] when a bound is of another dimension than the metric.
    pub fn record(&self, better: Better, unit: Unit) -> Result<LimitRecord, QuantityError> {
        let bounds = match self {
            Limit::Unknown { reason } => return Ok(LimitRecord::unknown(reason)),
            Limit::Chain(bounds) => bounds,
        };
        let mut values = Vec::with_capacity(bounds.len());
        for bound in bounds {
            values.push((bound.value.to(unit)?.value(), bound));
        }
        let tightest = values.into_iter().reduce(|a, b| match better {
            Better::Lower => {
                if b.0 > a.0 {
                    b
                } else {
                    a
                }
            }
            Better::Higher | Better::None => {
                if b.0 < a.0 {
                    b
                } else {
                    a
                }
            }
        });
        Ok(match tightest {
            None => LimitRecord::unknown("the chain of bounds is empty"),
            Some((value, bound)) => LimitRecord {
                value: Some(value),
                formula: Some(bound.formula.clone()),
                provenance: Some(bound.provenance.clone()),
                reason: None,
                chain: bounds.clone(),
            },
        })
    }
}

impl LimitRecord {
    /// No limit, and why.
    pub fn unknown(reason: &str) -> Self {
        Self {
            value: None,
            formula: None,
            provenance: None,
            reason: Some(reason.to_owned()),
            chain: Vec::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bound(text: &str) -> Bound {
        Bound { value: text.parse().unwrap(), formula: text.to_owned(), provenance: "test".to_owned() }
    }

    #[test]
    fn the_tightest_bound_binds_in_the_unit_of_the_metric() {
        let chain = Limit::Chain(vec![bound("100 Gbit/s"), bound("8 GB/s"), bound("64 GB/s")]);
        let record = chain.record(Better::Higher, Unit::GigabytesPerSecond).unwrap();
        assert_eq!((record.value, record.formula.as_deref()), (Some(8.0), Some("8 GB/s")));
        let floor = Limit::Chain(vec![bound("80 ns"), bound("0.1 us")]);
        assert_eq!(floor.record(Better::Lower, Unit::Nanosecond).unwrap().value, Some(100.0));
    }

    #[test]
    fn a_bound_of_another_dimension_is_an_error() {
        assert!(Limit::Chain(vec![bound("3 s")]).record(Better::Higher, Unit::GigabytesPerSecond).is_err());
    }
}
