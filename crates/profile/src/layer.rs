//! A profile as written in one file: its entries with their positions, names not resolved.

use seatrial_model::profile::{
    Absence, Bounds, Expect, FlowClass, Groups, Missed, NodeSet, PriceShare, Requirement, Statistic,
};
use seatrial_model::{Nanos, Params, Quantity, Unit, Value};

use crate::diagnostic::{At, Position};

/// Names with one value each, with their positions.
pub(crate) type Pairs<T> = Vec<(At<String>, T)>;

/// The entries of one file, or of several files after the merge.
#[derive(Debug, Default)]
pub(crate) struct Layer {
    /// Whether every entry of the file could be read.
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
    pub source_tables: Vec<SourceTableEntry>,
}

#[derive(Debug)]
pub(crate) struct TestEntry {
    pub id: At<String>,
    pub bench: At<String>,
    pub pattern: Option<At<String>>,
    pub roles: Vec<At<String>>,
    pub params: Pairs<Vec<At<Value>>>,
    pub on: Pairs<At<Value>>,
    pub require: Pairs<Requirement>,
    pub expect: Option<Expect>,
    pub if_none: Absence,
    pub partner: Option<At<String>>,
    pub rounds: Option<u32>,
    pub links: Option<u32>,
    pub beside: Option<At<String>>,
    pub groups: Option<Groups>,
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
    pub bars: Vec<Position>,
    pub without_limit: Option<At<Absence>>,
    pub missed: Missed,
}

#[derive(Debug)]
pub(crate) struct SettingEntry {
    pub id: At<String>,
    /// Those of `equals`, `none_of`, `at_least` and `at_most` that are present, in this order.
    pub bounds: Vec<SettingBound>,
    pub on: Pairs<At<Value>>,
    pub roles: Vec<At<String>>,
    pub why: Option<String>,
    pub missed: Missed,
    pub without_value: Absence,
}

#[derive(Debug)]
pub(crate) struct SettingBound {
    pub key: &'static str,
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
    pub at: Position,
    pub on: Pairs<At<Value>>,
    pub amount: f64,
    pub share: Option<PriceShare>,
    pub currency: String,
    pub source: Option<String>,
}

#[derive(Debug)]
pub(crate) struct SourceTableEntry {
    pub id: At<String>,
    pub title: String,
    pub source: String,
    /// What all cells share.
    pub shared: CellEntry,
    pub rows: AxisEntry,
    /// `None` for a list.
    pub columns: Option<AxisEntry>,
    /// One inner list per row; empty where each row has its own `value`.
    pub values: Vec<Vec<At<Value>>>,
    pub values_at: Position,
}

/// The rows or columns of a source table.
#[derive(Debug)]
pub(crate) enum AxisEntry {
    /// Values of one parameter or coordinate.
    Values { name: At<String>, values: Vec<At<Value>> },
    /// What the cells of each row or column share.
    Cells(Vec<CellEntry>),
}

/// Keys of the cells of a source table; those of a column count before those of a row, and these before those of the
/// table.
#[derive(Clone, Debug)]
pub(crate) struct CellEntry {
    pub at: Position,
    pub name: Option<At<String>>,
    pub test: Option<At<String>>,
    pub metric: Option<At<String>>,
    pub cases: Pairs<At<Value>>,
    pub axes: Pairs<At<Value>>,
    pub on: Pairs<At<Value>>,
    pub roles: Vec<At<String>>,
    pub step: Option<At<u64>>,
    pub class: Option<At<FlowClass>>,
    pub of: Option<At<Statistic>>,
    pub unit: Option<Unit>,
    pub factor: Option<f64>,
    pub not_measured: Option<String>,
    pub value: Option<At<Value>>,
}

pub(crate) fn plain(pairs: &Pairs<At<Value>>) -> Params {
    pairs.iter().map(|(name, value)| (name.value.clone(), value.value.clone())).collect()
}
