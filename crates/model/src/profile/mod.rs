//! What is demanded: tests, criteria, settings, roles and waivers, as data.

mod bound;
mod fold;
mod nodes;
mod require;
mod setting;
mod test;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

pub use bound::{Bar, Bounds, Statistic};
pub use fold::fold;
pub use nodes::{NodeSet, NodeSetError};
pub use require::Requirement;
pub use setting::SettingRule;
pub use test::{Criterion, Expect, Test, WithoutLimit};

use crate::param::Params;
use crate::units::{Nanos, Quantity};

/// A whole profile, its `extends` already merged.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Profile {
    /// The name it is asked for by.
    pub id: String,
    /// What the profile is for, in a few words.
    pub title: String,
    /// What it is for, and where its numbers come from.
    pub description: String,
    /// The time that all of it is to take on each node.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time_budget: Option<Nanos>,
    /// The profiles it was merged from, nearest first.
    pub extends: Vec<String>,
    /// The benchmarks that the profile runs, with parameters.
    pub tests: Vec<Test>,
    /// The bounds that results must meet.
    pub criteria: Vec<Criterion>,
    /// Host settings that must hold.
    pub settings: Vec<SettingRule>,
    /// Roles that nodes may have, by name.
    pub roles: BTreeMap<String, Role>,
    /// Criteria and settings excused for a time.
    pub waivers: Vec<Waiver>,
    /// Limits that a person knows and the machine does not tell.
    pub limits: Vec<LimitRule>,
    /// What devices cost, to hold rates against prices.
    #[serde(default)]
    pub prices: Vec<PriceRule>,
}

/// A sort of nodes.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Role {
    /// The nodes that play it; empty when the command line says.
    pub nodes: NodeSet,
    /// How many nodes must play it.
    pub expect: Option<Expect>,
}

/// A limit that a person states for a metric of a test, with provenance `profile`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct LimitRule {
    /// Id of the test whose limit is stated.
    pub test: String,
    /// A metric of its benchmark.
    pub metric: String,
    /// Parameter values a case must have; empty means all.
    pub cases: Params,
    /// The limit with its unit.
    pub value: Quantity,
    /// How it is known: `8 channels of DDR4-3200, from the data sheet`.
    pub source: String,
}

/// What a device costs, so that a rate can be held against its price.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct PriceRule {
    /// Facts that the subject of a case must have: `{ kind = "nic", speed = "10 Gbit/s" }`.
    pub on: Params,
    /// The price of one.
    pub amount: f64,
    /// In what: `EUR`, `USD`.
    pub currency: String,
    /// Where the price is from.
    pub source: Option<String>,
}

/// A criterion or setting excused for a time. It is always shown.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Waiver {
    /// The criterion's or setting's id.
    pub criterion: String,
    /// The nodes it is for; empty means all.
    pub nodes: NodeSet,
    /// Who answers for it.
    pub owner: String,
    /// Why the criterion or setting is excused.
    pub reason: String,
    /// The last day it holds.
    #[schemars(with = "String")]
    pub until: jiff::civil::Date,
}

impl Profile {
    /// The test called `id`.
    pub fn test(&self, id: &str) -> Option<&Test> {
        self.tests.iter().find(|test| test.id == id)
    }

    /// The criteria of the test called `id`, in order.
    pub fn criteria_of<'a>(&'a self, id: &'a str) -> impl Iterator<Item = &'a Criterion> {
        self.criteria.iter().filter(move |criterion| criterion.test == id)
    }
}

impl Waiver {
    /// Whether it is meant for `criterion` on `node`; a judgement over several nodes has none, and then only a
    /// waiver for all nodes holds.
    pub fn covers(&self, criterion: &str, node: Option<&str>) -> bool {
        self.criterion == criterion
            && (self.nodes.is_empty() || node.is_some_and(|node| self.nodes.contains(node)))
    }
}
