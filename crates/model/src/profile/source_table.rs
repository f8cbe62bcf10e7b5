//! Tables of the document that a profile was made from, to be set beside results.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::Statistic;
use crate::param::Params;
use crate::units::Quantity;

/// A table of the document that the profile was made from.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct SourceTable {
    /// Id, unique in the profile.
    pub id: String,
    /// Title of a few words.
    pub title: String,
    /// Document, and the place in it.
    pub source: String,
    /// Names of the axes; empty for a list.
    pub corner: String,
    /// Heads of the columns; a list has one, without text.
    pub columns: Vec<String>,
    /// The rows, with a cell per column.
    pub rows: Vec<SourceRow>,
}

/// A row of a source table.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct SourceRow {
    /// Label of the row.
    pub name: String,
    /// One cell per column; null where the document has none.
    pub cells: Vec<Option<SourceCell>>,
}

/// A cell of a source table: what the document prints, and which result stands beside it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct SourceCell {
    /// What the document prints.
    pub value: SourceValue,
    /// Size of the document's unit in units of the same name: 1.024 for a `MB/s` of 1.024 MB/s, 2 for a latency of half
    /// a round trip.
    pub factor: f64,
    /// The result to compare with.
    pub result: SourceResult,
}

/// The result that a cell of a source table is compared with.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SourceResult {
    /// A result of the run.
    Selection(SourceSelection),
    /// The profile measures nothing like it, for this reason.
    NotMeasured(String),
}

/// A number of a test, over the cases that fit.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct SourceSelection {
    /// Id of the test.
    pub test: String,
    /// A metric of the benchmark; with `at`, a series.
    pub metric: String,
    /// Parameter values that a case must have; empty for all cases.
    pub cases: Params,
    /// Position on the axes of the series.
    pub at: Params,
    /// Facts that the subject of a case must have.
    pub on: Params,
    /// Roles of the tested nodes; empty for all nodes.
    pub roles: Vec<String>,
    /// Step of a pattern whose pairs run at the same time; its result is the total over the pairs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub step: Option<u64>,
    /// The result of a step is the number of its flows of this class.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub class: Option<FlowClass>,
    /// The number of the summary that is compared.
    pub of: Statistic,
}

/// What a document prints in a cell.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SourceValue {
    /// A number with its unit.
    Quantity(Quantity),
    /// A word in place of a number, such as `FAIL`.
    Word(String),
}

/// Class of a flow by its share of the line rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FlowClass {
    /// At least 0.9 of the line rate.
    Full,
    /// 0.4 to 0.6: two flows on one link.
    Half,
    /// 0.28 to 0.38: three flows on one link.
    Third,
    /// Below 0.1.
    Starved,
    /// Any other share.
    Other,
}

impl FlowClass {
    /// Every class, the fastest first.
    pub const ALL: [FlowClass; 5] =
        [FlowClass::Full, FlowClass::Half, FlowClass::Third, FlowClass::Starved, FlowClass::Other];
}

impl fmt::Display for FlowClass {
    /// As a profile writes it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            FlowClass::Full => "full",
            FlowClass::Half => "half",
            FlowClass::Third => "third",
            FlowClass::Starved => "starved",
            FlowClass::Other => "other",
        })
    }
}
