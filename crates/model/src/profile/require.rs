//! Requirements on facts and settings.

use serde::{Deserialize, Serialize};

use crate::param::{Params, Value};
use crate::units::Quantity;

/// A requirement on a fact or setting; all given bounds must hold.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Requirement {
    /// The value must be at least this.
    pub at_least: Option<Quantity>,
    /// The value must be at most this.
    pub at_most: Option<Quantity>,
    /// The value must equal this.
    pub equals: Option<Value>,
    /// The value must equal none of these.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub none_of: Vec<Value>,
}

impl Requirement {
    /// Whether `value` meets it. `10 Gbit/s` equals `10000 Mbit/s`. An error when `value` is not a number where a
    /// number is required, or its unit has another dimension.
    pub fn met_by(&self, value: &Value) -> Result<bool, String> {
        if self.equals.as_ref().is_some_and(|wanted| !is_same(wanted, value)) {
            return Ok(false);
        }
        if self.none_of.iter().any(|refused| is_same(refused, value)) {
            return Ok(false);
        }
        for (bound, is_least) in [(self.at_least, true), (self.at_most, false)] {
            let Some(bound) = bound else { continue };
            let have: Quantity =
                value.to_string().parse().map_err(|_| format!("'{value}' is not a number"))?;
            let have = have.to(bound.unit()).map_err(|error| error.to_string())?.value();
            if (is_least && have < bound.value()) || (!is_least && have > bound.value()) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Whether it has no bound.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Whether all `wanted` facts equal those in `facts`; a missing fact does not match.
    pub fn selects(wanted: &Params, facts: &Params) -> bool {
        wanted.iter().all(|(name, value)| facts.get(name).is_some_and(|fact| is_same(value, fact)))
    }
}

impl std::fmt::Display for Requirement {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let refused: Vec<String> = self.none_of.iter().map(Value::to_string).collect();
        let bounds = [
            self.at_least.map(|bound| format!("at least {bound}")),
            self.at_most.map(|bound| format!("at most {bound}")),
            self.equals.as_ref().map(|value| format!("exactly {value}")),
            (!refused.is_empty()).then(|| format!("not {}", refused.join(" or "))),
        ];
        f.write_str(&bounds.into_iter().flatten().collect::<Vec<_>>().join(" and "))
    }
}

/// Equal as written, or as numbers with units. A flag equals its word: facts come from files.
fn is_same(wanted: &Value, have: &Value) -> bool {
    let (wanted, have) = (wanted.to_string(), have.to_string());
    let as_numbers = || {
        let wanted: Quantity = wanted.parse().ok()?;
        let have: Quantity = have.parse().ok()?;
        Some(have.to(wanted.unit()).ok()?.value() == wanted.value())
    };
    wanted == have || as_numbers().unwrap_or(false)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn compares_across_units_and_refuses_words() {
        let rule = Requirement { at_least: Some("10 Gbit/s".parse().unwrap()), ..Requirement::default() };
        assert_eq!(rule.met_by(&Value::from("25 Gbit/s")), Ok(true));
        assert_eq!(rule.met_by(&Value::from("1 GB/s")), Ok(false));
        assert!(rule.met_by(&Value::from("fast")).is_err());
        assert!(rule.met_by(&Value::from("3 s")).is_err());
    }

    #[test]
    fn equal_in_another_unit_is_equal() {
        let facts: Params =
            [("speed".to_owned(), "10000 Mbit/s".into()), ("up".to_owned(), Value::Flag(true))]
                .into_iter()
                .collect();
        let wanted = |speed: &str| -> Params {
            [("speed".to_owned(), speed.into()), ("up".to_owned(), "true".into())].into_iter().collect()
        };
        assert!(Requirement::selects(&wanted("10 Gbit/s"), &facts));
        assert!(!Requirement::selects(&wanted("25 Gbit/s"), &facts));
        assert!(!Requirement::selects(&wanted("10 Gbit/s"), &Params::default()));
    }

    #[test]
    fn says_what_it_asks_for() {
        let rule = Requirement {
            at_least: Some("50 %".parse().unwrap()),
            at_most: Some("90 %".parse().unwrap()),
            ..Requirement::default()
        };
        assert_eq!(rule.to_string(), "at least 50 % and at most 90 %");
        let refused =
            Requirement { none_of: vec!["hpet".into(), "jiffies".into()], ..Requirement::default() };
        assert_eq!(refused.to_string(), "not hpet or jiffies");
        assert_eq!(refused.met_by(&"hpet".into()), Ok(false));
        assert_eq!(refused.met_by(&"tsc".into()), Ok(true));
    }
}
