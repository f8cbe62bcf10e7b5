//! Pure functions on records: verdicts, findings, comparisons.
//!
//! Nothing here reads the machine, the clock or a file: an old run can be judged again, by the same or another
//! profile, with the same result.

mod audit;
mod believable;
mod beside_peers;
pub mod bisect;
mod command;
mod compare;
mod disturbances;
mod draft;
mod finding;
mod fleet;
mod judge;
mod nfs;
mod number;
mod same;
mod source_tables;
mod stated;
mod trend;
mod verify;
mod waterfall;

pub use audit::{Audit, audit, changed_since};
pub use believable::BELIEVABLE_PERCENT;
pub use command::named_params;
pub use compare::{
    Apart, BY_CHANCE, Change, Changed, ComparedCases, Comparison, Curves, Difference, DifferingParam, Ended,
    NoSuchPart, Part, PerPrice, Priced, Side, apart, changed, changed_parts, compare, curves, per_price,
};
pub use disturbances::{Disturbances, disturbances};
pub use draft::{Draft, DraftRun, FLOOR_PERCENT, MADS, Spread, draft};
pub use finding::{
    AtOnce, Bisection, CAUSES, CauseRule, Cell, Classes, FactorInteraction, Factors, Flow, Impact, ImpactRow,
    Line, Matrix, RULES, Repeat, Rule, SettingEffect, SettingGain, SettingStudy, SettingWorth, Sign, Slow,
    Step, Suspect, Table, WRONG_EFFECTS, Worth, at_once, bisections, cause_word, cost_findings, explain,
    factors, fill, fill_all, findings, impacts, is_of_factors, load_findings, loss, matrices,
    setting_studies, suspects, tables,
};
pub use fleet::{fleet_findings, note_counters, note_counters_after};
pub use judge::{Assignment, JudgeInputs, Judgement, MissingLimit, judge};
pub use source_tables::{Basis, ComparedCell, ComparedTable, Counterpart, source_tables};
pub use stated::state_limits;
pub use trend::{FEWEST_RUNS, Point, Trend, TrendRun, TrendStep, trends};
pub use verify::{Conclusions, Discrepancy, conclusion_discrepancies, record_discrepancies};
pub use waterfall::{Fall, FallKind, Waterfall, holds_of};
