//! A profile as one file writes it: its entries with their places, nothing looked up yet.

use std::collections::BTreeMap;

use seatrial_model::profile::{Bounds, Expect, NodeSet, Requirement, Statistic, WithoutLimit};
use seatrial_model::{Nanos, Params, Quantity, Value};

use crate::diagnostic::{At, Position};

/// Names with a value each, all with their places.
pub(crate) type Pairs<T> = Vec<(At<String>, T)>;

/// One file's entries, or those of several files after the merge.
#[derive(Debug, Default)]
pub(crate) struct Layer {
    /// Whether every entry of the file is here; one that could not be read is not.
    pub is_whole: bool,
    pub id: String,
    pub title: String,
    pub description: String,
    pub time_budget: Option<Nanos>,
    pub extends: Vec<At<String>>,
    pub tests: Vec<TestEntry>,
    pub criteria: Vec<CriterionEntry>,
    pub settings: Vec<SettingEntry>,
    pub roles: Vec<RoleEntry>,
    pub waivers: Vec<WaiverEntry>,
    pub limits: Vec<LimitEntry>,
    pub prices: Vec<PriceEntry>,
}

#[derive(Debug)]
pub(crate) struct TestEntry {
    pub id: At<String>,
    pub bench: At<String>,
    pub pattern: Option<At<String>>,
    pub roles: Vec<At<String>>,
    pub params: Pairs<Vec<At<Value>>>,
    pub on: Params,
    pub require: BTreeMap<String, Requirement>,
    pub expect: Option<Expect>,
    pub partner: Option<At<String>>,
    pub rounds: Option<u32>,
    pub links: Option<u32>,
}

#[derive(Debug)]
pub(crate) struct CriterionEntry {
    pub id: At<String>,
    pub test: At<String>,
    pub metric: At<String>,
    pub cases: Pairs<At<Value>>,
    pub axes: Pairs<At<Value>>,
    pub of: At<Statistic>,
    pub bounds: Bounds,
    /// One place a bar of `bounds`.
    pub bars: Vec<Position>,
    pub without_limit: Option<At<WithoutLimit>>,
}

#[derive(Debug)]
pub(crate) struct SettingEntry {
    pub id: At<String>,
    /// `equals`, `at_least` and `at_most` in this order, those that are there.
    pub bounds: Vec<SettingBound>,
    pub on: Pairs<At<Value>>,
    pub roles: Vec<At<String>>,
    pub why: Option<String>,
}

#[derive(Debug)]
pub(crate) struct SettingBound {
    pub key: &'static str,
    /// The place of all of them.
    pub at: Position,
    pub values: Vec<At<Value>>,
}

#[derive(Debug)]
pub(crate) struct RoleEntry {
    pub id: At<String>,
    pub nodes: NodeSet,
    pub expect: Option<Expect>,
}

#[derive(Debug)]
pub(crate) struct WaiverEntry {
    pub criterion: At<String>,
    pub nodes: NodeSet,
    pub owner: String,
    pub reason: String,
    pub until: At<jiff::civil::Date>,
}

#[derive(Debug)]
pub(crate) struct LimitEntry {
    pub test: At<String>,
    pub metric: At<String>,
    pub cases: Pairs<At<Value>>,
    pub value: At<Quantity>,
    pub source: String,
}

#[derive(Debug)]
pub(crate) struct PriceEntry {
    /// The place of the whole entry.
    pub at: Position,
    pub on: Pairs<At<Value>>,
    pub amount: f64,
    pub currency: String,
    pub source: Option<String>,
}

/// The values of `pairs` without their places.
pub(crate) fn plain(pairs: &Pairs<At<Value>>) -> Params {
    pairs.iter().map(|(name, value)| (name.value.clone(), value.value.clone())).collect()
}
