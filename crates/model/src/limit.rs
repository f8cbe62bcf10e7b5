//! Limits of the hardware: chains of bounds, of which the tightest is the limit.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::metric::Better;
use crate::units::{Quantity, QuantityError, Unit};

/// One bound on a metric.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Bound {
    /// The rate or time that the hardware cannot exceed.
    pub value: Quantity,
    /// Formula with the numbers put in: `8 channels x 4800 MT/s x 8 B`.
    pub formula: String,
    /// Source of the numbers: `dmi`, `pcie link`, `nic speed`, `profile`.
    pub provenance: String,
    /// Of a network port: its rate before headers and gaps are taken off.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nominal: Option<Quantity>,
}

impl Bound {
    /// A bound that is no rate of a network port.
    pub fn new(value: Quantity, formula: impl Into<String>, provenance: impl Into<String>) -> Self {
        Self { value, formula: formula.into(), provenance: provenance.into(), nominal: None }
    }

    /// All of `bounds` together; an error when there are none, or of different dimensions.
    pub fn sum(bounds: &[Self]) -> Result<Self, String> {
        let unit = bounds.first().ok_or("there is no bound to add up")?.value.unit();
        let total = |of: &dyn Fn(&Self) -> Option<Quantity>| -> Result<Option<Quantity>, QuantityError> {
            let Some(all) = bounds.iter().map(of).collect::<Option<Vec<Quantity>>>() else { return Ok(None) };
            let values = all.iter().map(|value| Ok(value.to(unit)?.value()));
            let sum: f64 = values.collect::<Result<Vec<f64>, QuantityError>>()?.iter().sum();
            Quantity::new(sum, unit).map(Some)
        };
        let add =
            || Ok::<_, QuantityError>((total(&|bound| Some(bound.value))?, total(&|bound| bound.nominal)?));
        let (value, nominal) = add().map_err(|error| error.to_string())?;
        let formulas: Vec<String> = bounds.iter().map(|bound| format!("({})", bound.formula)).collect();
        let mut provenance: Vec<&str> = bounds.iter().map(|bound| bound.provenance.as_str()).collect();
        provenance.dedup();
        let sum = Self::new(
            value.ok_or("there is no bound to add up")?,
            formulas.join(" + "),
            provenance.join(", "),
        );
        Ok(Self { nominal, ..sum })
    }

    /// The tightest of `bounds` of one dimension on a metric where `better` is good; the first of equal bounds.
    pub fn tightest<'a>(bounds: impl IntoIterator<Item = &'a Self>, better: Better) -> Option<&'a Self> {
        let is_tighter = |one: &Self, other: &Self| better.is_tighter(one.value.base(), other.value.base());
        bounds
            .into_iter()
            .reduce(|tightest, bound| if is_tighter(bound, tightest) { bound } else { tightest })
    }
}

/// The derived limit of a metric for a case.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Limit {
    /// At least one bound is known.
    Chain(Vec<Bound>),
    /// The limit is unknown, but not above what other machines of the kind have: a number below it is no fault.
    AtMost {
        /// The highest value that the limit can have.
        bound: Bound,
        /// The reason why the limit itself is unknown.
        reason: String,
    },
    /// No bound is known.
    Unknown {
        /// The reason, and how the user can supply a bound.
        reason: String,
    },
}

impl Limit {
    /// An unknown limit with its reason.
    pub fn unknown(reason: impl Into<String>) -> Self {
        Self::Unknown { reason: reason.into() }
    }
}

/// Limits of a case by the name of the metric.
pub type Limits = BTreeMap<String, Limit>;

/// A limit as the record holds it, in the metric's unit.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct LimitRecord {
    /// Value of the tightest bound; null when the limit is unknown.
    pub value: Option<f64>,
    /// Formula of the tightest bound.
    pub formula: Option<String>,
    /// Source of the numbers in the formula.
    pub provenance: Option<String>,
    /// Why the limit is unknown.
    pub reason: Option<String>,
    /// All bounds, the tightest included; where the limit is unknown, the highest value that it can have.
    #[serde(default)]
    pub chain: Vec<Bound>,
    /// Rate of the slower port before headers; null where the metric is no rate of a network port.
    #[serde(default)]
    pub nominal: Option<f64>,
}

impl Limit {
    /// The tightest bound on a metric where `better` is good; `None` where the limit is unknown.
    pub fn tightest(&self, better: Better) -> Option<&Bound> {
        match self {
            Limit::Chain(bounds) => Bound::tightest(bounds, better),
            Limit::AtMost { .. } | Limit::Unknown { .. } => None,
        }
    }

    /// The record of the limit of a metric in `unit`, where `better` is good; [`QuantityError::WrongKind`] when a bound
    /// has another dimension than the metric.
    pub fn record(&self, better: Better, unit: Unit) -> Result<LimitRecord, QuantityError> {
        let bounds = match self {
            Limit::Unknown { reason } => return Ok(LimitRecord::unknown(reason)),
            Limit::AtMost { bound, reason } => return LimitRecord::at_most(bound, reason, unit),
            Limit::Chain(bounds) => bounds,
        };
        bounds.iter().try_for_each(|bound| bound.value.to(unit).map(drop))?;
        let Some(tightest) = self.tightest(better) else {
            return Ok(LimitRecord::unknown("the chain of bounds is empty"));
        };
        let nominal = bounds.iter().filter_map(|bound| bound.nominal);
        let nominal: Vec<f64> =
            nominal.map(|rate| Ok(rate.to(unit)?.value())).collect::<Result<_, QuantityError>>()?;
        Ok(LimitRecord {
            nominal: nominal.into_iter().reduce(f64::min),
            value: Some(tightest.value.to(unit)?.value()),
            formula: Some(tightest.formula.clone()),
            provenance: Some(tightest.provenance.clone()),
            reason: None,
            chain: bounds.clone(),
        })
    }
}

impl LimitRecord {
    /// The record of an unknown limit.
    pub fn unknown(reason: &str) -> Self {
        Self {
            value: None,
            formula: None,
            provenance: None,
            reason: Some(reason.to_owned()),
            chain: Vec::new(),
            nominal: None,
        }
    }

    fn at_most(bound: &Bound, reason: &str, unit: Unit) -> Result<Self, QuantityError> {
        let value = bound.value.to(unit)?;
        let reason = format!("{reason}; at most {value}: {} ({})", bound.formula, bound.provenance);
        Ok(Self { chain: vec![bound.clone()], ..Self::unknown(&reason) })
    }

    /// This limit at the highest value that it can have; `None` where the limit is known or nothing bounds it.
    pub fn at_its_highest(&self, better: Better, unit: Unit) -> Option<Self> {
        let bounds = (self.value.is_none() && !self.chain.is_empty()).then(|| self.chain.clone())?;
        Limit::Chain(bounds).record(better, unit).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bound(text: &str) -> Bound {
        Bound::new(text.parse().unwrap(), text, "test")
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
    fn the_nominal_rate_is_that_of_the_slower_port_and_of_several_ports_their_sum() {
        let port =
            |payload: &str, rate: &str| Bound { nominal: Some(rate.parse().unwrap()), ..bound(payload) };
        let ends = [port("9.41 Gbit/s", "10 Gbit/s"), port("23.5 Gbit/s", "25 Gbit/s"), bound("1 GB/s")];
        let record = |bounds: &[Bound]| {
            Limit::Chain(bounds.to_vec()).record(Better::Higher, Unit::GigabitsPerSecond).unwrap()
        };
        let found = record(&ends);
        assert_eq!((found.value, found.nominal), (Some(8.0), Some(10.0)));
        assert_eq!(record(&ends[2..]).nominal, None);
        let both = Bound::sum(&ends[..2]).unwrap();
        assert_eq!(both.formula, "(9.41 Gbit/s) + (23.5 Gbit/s)");
        assert_eq!(record(&[both]).nominal, Some(35.0));
        assert_eq!(Bound::sum(&ends).unwrap().nominal, None, "of one the rate of the port is not known");
        assert!(Bound::sum(&[]).is_err() && Bound::sum(&[bound("1 s"), bound("1 B/s")]).is_err());
    }

    #[test]
    fn the_highest_that_a_limit_can_be_is_no_limit() {
        let limit = Limit::AtMost { bound: bound("200 GB/s"), reason: "no DIMM is visible".to_owned() };
        assert_eq!(limit.tightest(Better::Higher), None);
        let record = limit.record(Better::Higher, Unit::GigabytesPerSecond).unwrap();
        assert_eq!((record.value, record.formula.clone()), (None, None));
        assert_eq!(record.reason.as_deref(), Some("no DIMM is visible; at most 200 GB/s: 200 GB/s (test)"));
        let highest = record.at_its_highest(Better::Higher, Unit::MegabytesPerSecond).unwrap();
        assert_eq!(
            (highest.value, highest.at_its_highest(Better::Higher, Unit::BytesPerSecond)),
            (Some(2e5), None)
        );
        assert_eq!(LimitRecord::unknown("why").at_its_highest(Better::Higher, Unit::BytesPerSecond), None);
        assert!(limit.record(Better::Lower, Unit::Nanosecond).is_err());
    }

    #[test]
    fn a_bound_of_another_dimension_is_an_error() {
        assert!(Limit::Chain(vec![bound("3 s")]).record(Better::Higher, Unit::GigabytesPerSecond).is_err());
    }
}
