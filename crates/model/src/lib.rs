//! Data types of Seatrial: units, parameters, cases, samples, records, profiles and machines.
//!
//! No I/O, no decisions. Every type that crosses a process or file border has serde forms and a JSON schema.

#![warn(missing_docs)]

mod about;
mod alias;
mod case;
pub mod disturbance;
mod event;
mod fact;
mod finding;
mod limit;
pub mod machine;
mod metric;
pub mod name;
mod origin;
mod outcome;
mod param;
mod part_placement;
pub mod profile;
pub mod record;
mod remedy;
mod sample;
pub mod setting;
mod shell;
mod site;
mod subject;
mod units;
mod verdict;
mod verification;

pub use about::{About, Cost, Interaction, Need, Parts, Planned};
pub use alias::Alias;
pub use case::{Budget, Case, CaseId, Writes, node_names};
pub use event::{Event, Phase};
pub use fact::{
    Addresses, AgreedStart, CompletedTrials, DisturbedTrial, DisturbedTrials, Fact, FlowEnd, FlowLoss,
    FlowSocket, GpuProcesses, HeldBack, Hold, LastFlows, LogLine, LossShare, Moved, MovedRows, NodeReadings,
    OtherProcesses, PathEnd, ProbeReading, ProbeReadings, RepeatedTrials,
};
pub use finding::{Confidence, Finding, Gain, Price, Severity};
pub use limit::{Bound, Limit, LimitRecord, Limits};
pub use metric::{AxisSpec, Better, MetricSpec, SeriesSpec};
pub use origin::{Beside, FactorCase, Origin};
pub use outcome::{Cause, Outcome, Reason};
pub use param::{Factor, Kind, ParamError, ParamSpec, Params, Value};
pub use part_placement::{Binding, PartPlacement};
pub use remedy::{Actor, Remedy};
pub use sample::{Evidence, Integrity, Measures, PartRecord, Row, Sample, Values};
pub use shell::quoted;
pub use site::{Site, SiteNode};
pub use subject::Subject;
pub use units::{Bytes, Dimension, Nanos, Quantity, QuantityError, Unit};
pub use verdict::{Verdict, VerdictRecord, WantedSide};
pub use verification::Verification;
