//! Why a case exists: the pattern that chose its nodes, the study that added it.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::param::Params;
use crate::setting::SettingBlock;

/// Why a case exists. Empty for a case that was asked for directly.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(default)]
pub struct Origin {
    /// The pattern that chose its nodes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pattern: Option<String>,
    /// Step of the pattern, from 1; cases of one step run at the same time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub step: Option<u64>,
    /// Links between the two groups of a trunk, where stated.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub links: Option<u32>,
    /// The study of factors that the case belongs to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub study: Option<FactorCase>,
    /// The parameter that is varied to find the highest load. No profile asked for the case.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub load_sweep: Option<String>,
    /// The node that was slow with its partners and is measured again for that.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub suspect: Option<String>,
    /// The other test that runs at the same time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub beside: Option<Beside>,
    /// The metric by which a bisection compares groups of nodes; in steps from 1 are the groups that the study added to
    /// the whole.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub isolates_by: Option<String>,
    /// Whether the parts only check that the subject still answers.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub liveness_check: bool,
}

/// Role of a case in a study of factors.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct FactorCase {
    /// The factor that is left out, the setting that is set, or `baseline`.
    pub factor: String,
    /// The two factors that are left out at the same time, in a study of crossed factors.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub crossed: Vec<String>,
    /// Repetition of the whole study, from 1.
    pub repeat: u32,
    /// Seed of the random order of the study.
    pub seed: u64,
    /// The metric that the study compares.
    pub metric: String,
    /// The block of the case, where the factor is a setting of the hosts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub block: Option<SettingBlock>,
}

impl FactorCase {
    /// The factor of the cases that the others are compared with.
    pub const BASELINE: &'static str = "baseline";

    /// The setting that the hosts have during the case alone, if any.
    pub fn set(&self) -> Option<&SettingBlock> {
        self.block.as_ref().filter(|_| self.factor != Self::BASELINE)
    }
}

/// Two tests at the same time: one is measured, the other one loads what both share.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Beside {
    /// Id of the test that is measured under the load.
    pub test: String,
    /// Id of the test that makes the load.
    pub load: String,
    /// Cases of the load that run, in percent of all of its cases.
    pub percent: u32,
    /// Number of the combination in its test; cases of one number run at the same time.
    pub number: u32,
    /// Whether this case is part of the load, which nobody judges.
    pub is_load: bool,
}

impl Origin {
    /// Whether the case runs at the same time as others, with which it shares links on purpose.
    pub fn is_concurrent(&self) -> bool {
        self.step.is_some() || self.beside.is_some()
    }

    /// Whether the case only loads what another test measures.
    pub fn is_load(&self) -> bool {
        self.beside.as_ref().is_some_and(|beside| beside.is_load)
    }

    /// Whether the case was asked for directly.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Whether the case was added: its result tells about a factor, a load or a group of nodes, and no profile judges it.
    pub fn is_added(&self) -> bool {
        self.study.is_some() || self.load_sweep.is_some() || self.is_load() || self.is_group()
    }

    /// Whether a bisection added the case to the case of the whole.
    pub fn is_group(&self) -> bool {
        self.isolates_by.is_some() && self.step.is_some()
    }

    /// Moves what schema 1 holds in `chosen` here.
    pub(crate) fn upgrade(&mut self, chosen: &mut Params) {
        if self.is_empty() {
            *self = Self::take_from(chosen);
        }
    }

    fn take_from(chosen: &mut Params) -> Self {
        let mut take = |name: &str| chosen.remove(name).map(|value| value.to_string());
        let number = |text: Option<String>| text.and_then(|text| text.parse::<u64>().ok());
        let (factor, repeat, seed, metric) =
            (take("factor"), number(take("repeat")), number(take("seed")), take("metric"));
        Self {
            pattern: take("pattern"),
            step: number(take("step")),
            links: number(take("links")).and_then(|links| links.try_into().ok()),
            study: factor.map(|factor| FactorCase {
                factor,
                crossed: Vec::new(),
                repeat: repeat.and_then(|repeat| repeat.try_into().ok()).unwrap_or_default(),
                seed: seed.unwrap_or_default(),
                metric: metric.unwrap_or_default(),
                block: None,
            }),
            load_sweep: take("back_off"),
            suspect: take("suspect"),
            beside: None,
            isolates_by: None,
            liveness_check: take("look").is_some(),
        }
    }
}

/// Deserialises a type (`#[serde(remote = "Self")]`) from schema 1 too, by its `upgrade`.
macro_rules! reads_schema_1 {
    ($name:ident) => {
        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                Self::serialize(self, serializer)
            }
        }

        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let mut read = Self::deserialize(deserializer)?;
                read.upgrade();
                Ok(read)
            }
        }
    };
}
pub(crate) use reads_schema_1;

/// `pattern=ring, step=2`, for tables.
impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let study = self.study.as_ref();
        let said = [
            ("pattern", self.pattern.clone()),
            ("step", self.step.map(|step| step.to_string())),
            ("links", self.links.map(|links| links.to_string())),
            ("factor", study.map(|study| study.factor.clone())),
            ("repeat", study.map(|study| study.repeat.to_string())),
            ("seed", study.map(|study| study.seed.to_string())),
            ("load_sweep", self.load_sweep.clone()),
            ("suspect", self.suspect.clone()),
            ("beside", self.beside.as_ref().map(ToString::to_string)),
        ];
        let said = said.iter().filter_map(|(name, value)| Some(format!("{name}={}", value.as_deref()?)));
        f.pad(&said.collect::<Vec<_>>().join(", "))
    }
}

/// `bulk at 50 %`; of a case of the load, `load of latency at 50 %`.
impl fmt::Display for Beside {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { test, load, percent, is_load, .. } = self;
        match is_load {
            true => write!(f, "load of {test} at {percent} %"),
            false => write!(f, "{load} at {percent} %"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_of_schema_1_become_an_origin_and_leave_the_parameters() {
        let mut chosen = Params::default();
        chosen.set("isa", "avx2");
        for (name, value) in
            [("pattern", "trunk"), ("factor", "no_pinning"), ("metric", "throughput"), ("back_off", "flows")]
        {
            chosen.set(name, value);
        }
        for (name, value) in [("step", 4_u64), ("links", 2), ("repeat", 3), ("seed", 7)] {
            chosen.set(name, value);
        }
        let origin = Origin::take_from(&mut chosen);
        let study = FactorCase {
            factor: "no_pinning".to_owned(),
            crossed: Vec::new(),
            repeat: 3,
            seed: 7,
            metric: "throughput".to_owned(),
            block: None,
        };
        assert_eq!(origin.study, Some(study));
        assert_eq!(
            (origin.step, origin.links, origin.load_sweep.as_deref()),
            (Some(4), Some(2), Some("flows"))
        );
        assert_eq!(chosen.to_string(), "isa=avx2");
        let text = "pattern=trunk, step=4, links=2, factor=no_pinning, repeat=3, seed=7, load_sweep=flows";
        assert_eq!(origin.to_string(), text);
        assert!(Origin::take_from(&mut chosen).is_empty());
    }
}
