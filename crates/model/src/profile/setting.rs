//! Requirements of a profile on host settings.

use serde::{Deserialize, Serialize};

use super::{Absence, Missed, Requirement};
use crate::param::{Params, Value};
use crate::setting::{SettingAbout, UNLIMITED};

/// A requirement on a host setting.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct SettingRule {
    /// Id of the setting, such as `nic.mtu`.
    pub id: String,
    /// One requirement per value of the setting, in order; most settings have one value.
    pub require: Vec<Requirement>,
    /// Facts that a subject must have; empty for every subject of the setting.
    #[serde(default)]
    pub on: Params,
    /// Roles of the nodes; empty for all nodes.
    pub roles: Vec<String>,
    /// Who requires it and why, for the user.
    #[serde(default)]
    pub why: Option<String>,
    /// The verdict when the value misses a bound.
    #[serde(default)]
    pub missed: Missed,
    /// What happens where no value was read.
    #[serde(default)]
    pub without_value: Absence,
}

impl SettingRule {
    /// Whether `value`, as read, meets the rule; an error as of [`Requirement::met_by`], or when the setting has
    /// another number of values.
    pub fn met_by(&self, value: &Value) -> Result<bool, String> {
        let mut met = true;
        for (require, value) in self.require.iter().zip(self.values(value)?) {
            met &= is_met(require, &value)?;
        }
        Ok(met)
    }

    /// `value` with each number that misses its bound replaced by the bound; fails as [`Self::met_by`] does, and where
    /// the rule names only values that it refuses.
    pub fn target(&self, value: &Value) -> Result<Value, String> {
        if self.require.iter().any(|require| !require.none_of.is_empty()) {
            return Err("the profile names values that it refuses, and not the one to set".to_owned());
        }
        let targets = self.require.iter().zip(self.values(value)?);
        let targets: Result<Vec<Value>, String> = targets
            .map(|(require, value)| match is_met(require, &value)? {
                true => Ok(value),
                false => Ok(missed(require, &value).unwrap_or(value)),
            })
            .collect();
        Ok(SettingAbout::join(&targets?))
    }

    /// The requirement in words: `at least 16 MiB`, `exactly 4 KiB, 64 KiB, 16 MiB`.
    pub fn bound(&self) -> String {
        let all = |of: fn(&Requirement) -> Option<String>| {
            let texts: Vec<String> = self.require.iter().filter_map(of).collect();
            (!texts.is_empty()).then(|| texts.join(", "))
        };
        let bounds = [
            ("at least", all(|require| require.at_least.map(|bound| bound.to_string()))),
            ("at most", all(|require| require.at_most.map(|bound| bound.to_string()))),
            ("exactly", all(|require| require.equals.as_ref().map(Value::to_string))),
            ("not", all(|require| refused(&require.none_of))),
        ];
        let words = bounds.into_iter().filter_map(|(word, bound)| Some(format!("{word} {}", bound?)));
        words.collect::<Vec<_>>().join(" and ")
    }

    fn values(&self, value: &Value) -> Result<Vec<Value>, String> {
        if let [_] = self.require.as_slice() {
            return Ok(vec![value.clone()]);
        }
        let text = value.to_string();
        let values: Vec<Value> = text.split(',').map(|value| Value::from(value.trim())).collect();
        if values.len() == self.require.len() {
            Ok(values)
        } else {
            Err(format!(
                "'{value}' has {} values, and the profile judges {}",
                values.len(),
                self.require.len()
            ))
        }
    }
}

fn refused(values: &[Value]) -> Option<String> {
    let words: Vec<String> = values.iter().map(Value::to_string).collect();
    (!words.is_empty()).then(|| words.join(" or "))
}

/// "unlimited" meets every `at_least` and no `at_most`.
fn is_met(require: &Requirement, value: &Value) -> Result<bool, String> {
    let unlimited = Value::from(UNLIMITED);
    if *value == unlimited {
        let is_same = require.equals.as_ref().is_none_or(|wanted| *wanted == unlimited);
        return Ok(is_same && require.at_most.is_none() && !require.none_of.contains(&unlimited));
    }
    require.met_by(value)
}

/// The bound that `value` misses.
fn missed(require: &Requirement, value: &Value) -> Option<Value> {
    if let Some(equals) = &require.equals {
        return Some(equals.clone());
    }
    let low = Requirement { at_least: require.at_least, ..Requirement::default() };
    let is_low = matches!(is_met(&low, value), Ok(false));
    let bound = if is_low { require.at_least } else { require.at_most };
    bound.map(|bound| Value::Text(bound.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at_least(bounds: &[&str]) -> SettingRule {
        let require = |bound: &&str| Requirement {
            at_least: Some(bound.parse().expect("a quantity")),
            ..Requirement::default()
        };
        SettingRule { require: bounds.iter().map(require).collect(), ..SettingRule::default() }
    }

    fn equals(value: impl Into<Value>) -> SettingRule {
        let require = Requirement { equals: Some(value.into()), ..Requirement::default() };
        SettingRule { require: vec![require], ..SettingRule::default() }
    }

    #[test]
    fn several_values_are_held_each_against_its_own_bound() {
        let rule = at_least(&["262144", "327680", "393216"]);
        assert_eq!(rule.bound(), "at least 262144, 327680, 393216");
        assert_eq!(rule.met_by(&"262144, 327680, 400000".into()), Ok(true));
        assert_eq!(rule.met_by(&"300000, 300000, 400000".into()), Ok(false));
        assert!(rule.met_by(&"300000, 300000".into()).is_err());
    }

    #[test]
    fn the_target_keeps_what_is_good_already() {
        let rule = at_least(&["262144", "327680", "393216"]);
        assert_eq!(rule.target(&"300000, 300000, 100".into()), Ok("300000, 327680, 393216".into()));
        assert_eq!(at_least(&["16 MiB"]).target(&"208 KiB".into()), Ok("16 MiB".into()));
        let mut between = at_least(&["10"]);
        between.require[0].at_most = Some("20".parse().expect("a quantity"));
        assert_eq!(between.target(&Value::Count(60)), Ok("20".into()));
        assert_eq!(between.target(&Value::Count(5)), Ok("10".into()));
        assert_eq!(between.target(&Value::Count(15)), Ok(Value::Count(15)));
    }

    #[test]
    fn no_limit_is_at_least_anything_and_at_most_nothing() {
        let unlimited = Value::from(UNLIMITED);
        assert_eq!(at_least(&["1 GiB"]).met_by(&unlimited), Ok(true));
        let most = Requirement { at_most: Some("10 us".parse().expect("a time")), ..Requirement::default() };
        let most = SettingRule { require: vec![most], ..SettingRule::default() };
        assert_eq!(most.met_by(&unlimited), Ok(false));
        assert_eq!(most.target(&unlimited), Ok("10 us".into()));
        assert_eq!(equals(UNLIMITED).met_by(&unlimited), Ok(true));
        assert_eq!(equals(UNLIMITED).met_by(&"950 ms".into()), Ok(false));
        assert_eq!(equals("950 ms").met_by(&unlimited), Ok(false));
    }

    #[test]
    fn a_refused_value_has_no_target() {
        let require =
            Requirement { none_of: vec!["hpet".into(), "jiffies".into()], ..Requirement::default() };
        let rule = SettingRule { require: vec![require], ..SettingRule::default() };
        assert_eq!(rule.bound(), "not hpet or jiffies");
        assert_eq!((rule.met_by(&"tsc".into()), rule.met_by(&"hpet".into())), (Ok(true), Ok(false)));
        assert!(rule.target(&"hpet".into()).is_err());
    }

    #[test]
    fn a_word_with_a_comma_is_one_value_where_one_is_wanted() {
        assert_eq!(equals("a, b").met_by(&"a, b".into()), Ok(true));
        assert_eq!(equals(Value::Flag(false)).met_by(&Value::Flag(true)), Ok(false));
        assert_eq!(equals("16 MiB").met_by(&"16384 KiB".into()), Ok(true));
    }
}
