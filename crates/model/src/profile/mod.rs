//! Profiles: tests, criteria, settings, roles and waivers.

mod bound;
mod fold;
mod groups;
mod missed;
mod nodes;
mod require;
mod setting;
mod source_table;
mod test;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

pub use bound::{Bar, Bounds, Statistic};
pub use fold::fold;
pub use groups::{Groups, GroupsError, RACK, rack};
pub use missed::{Absence, Missed};
pub use nodes::{NodeSet, NodeSetError};
pub use require::Requirement;
pub use setting::SettingRule;
pub use source_table::{
    FlowClass, SourceCell, SourceResult, SourceRow, SourceSelection, SourceTable, SourceValue,
};
pub use test::{Criterion, Expect, Test, nobody_plays};

use crate::param::Params;
use crate::units::{Nanos, Quantity};

/// A whole profile, with `extends` merged.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Profile {
    /// Name of the profile.
    pub id: String,
    /// Title of a few words.
    pub title: String,
    /// Purpose, and the source of the numbers.
    pub description: String,
    /// Time that the whole profile may take on each node.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time_budget: Option<Nanos>,
    /// The profiles that it was merged from, nearest first.
    pub extends: Vec<String>,
    /// The benchmarks that the profile runs, with parameters.
    pub tests: Vec<Test>,
    /// Bounds that results must meet.
    pub criteria: Vec<Criterion>,
    /// Host settings that are required.
    pub settings: Vec<SettingRule>,
    /// Roles of nodes, by name.
    pub roles: BTreeMap<String, Role>,
    /// Criteria and settings that are waived for a time.
    pub waivers: Vec<Waiver>,
    /// Limits that the user states because the machine does not tell them.
    pub limits: Vec<LimitRule>,
    /// Prices of devices, to relate rates to.
    #[serde(default)]
    pub prices: Vec<PriceRule>,
    /// Tables of the document that the profile was made from.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub source_tables: Vec<SourceTable>,
}

/// A kind of nodes.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Role {
    /// Nodes of the role; empty when the command line names them.
    pub nodes: NodeSet,
    /// Required number of nodes.
    pub expect: Option<Expect>,
}

/// A limit that the user states for a metric of a test, with provenance `profile`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct LimitRule {
    /// Id of the test whose limit is stated.
    pub test: String,
    /// Metric of the benchmark.
    pub metric: String,
    /// Parameter values that a case must have; empty for all cases.
    pub cases: Params,
    /// The limit, with unit.
    pub value: Quantity,
    /// Source of the value: `8 channels of DDR4-3200, from the data sheet`.
    pub source: String,
}

/// One port of a switch, for example.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct PriceShare {
    /// What is shared: `switch`.
    pub of: String,
    /// Number of devices that share it.
    pub ports: u64,
}

/// Price of a device, to relate a rate to.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct PriceRule {
    /// Facts that the subject of a case must have: `{ kind = "nic", speed = "10 Gbit/s" }`.
    pub on: Params,
    /// Price of one device, or of what `share` is a part of.
    pub amount: f64,
    /// The part of something bought for several devices that one of them needs; it is added to the price of the device.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub share: Option<PriceShare>,
    /// Currency: `EUR`, `USD`.
    pub currency: String,
    /// Source of the price.
    pub source: Option<String>,
}

/// A criterion or setting that is waived for a time. Reports always show it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Waiver {
    /// Id of the criterion or setting.
    pub criterion: String,
    /// Nodes of the waiver; empty for all.
    pub nodes: NodeSet,
    /// The person responsible.
    pub owner: String,
    /// Reason of the waiver.
    pub reason: String,
    /// Last day of the waiver.
    #[schemars(with = "String")]
    pub until: jiff::civil::Date,
}

impl Profile {
    /// The test `id`.
    pub fn test(&self, id: &str) -> Option<&Test> {
        self.tests.iter().find(|test| test.id == id)
    }

    /// The criteria of the test `id`, in order.
    pub fn criteria_of<'a>(&'a self, id: &'a str) -> impl Iterator<Item = &'a Criterion> {
        self.criteria.iter().filter(move |criterion| criterion.test == id)
    }
}

impl Waiver {
    /// Whether the waiver applies to `criterion` on `node`; without `node` (a judgement over several nodes), only a
    /// waiver for all nodes applies.
    pub fn covers(&self, criterion: &str, node: Option<&str>) -> bool {
        self.criterion == criterion
            && (self.nodes.is_empty() || node.is_some_and(|node| self.nodes.contains(node)))
    }
}
