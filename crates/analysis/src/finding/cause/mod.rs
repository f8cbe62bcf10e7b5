//! Why a node is at fault: rules as data, one file each, which `docs/diagnosis.md` lists.

mod explain;
mod rule;
mod rules;
mod scene;
mod sign;

pub use explain::explain;
pub(crate) use explain::{cause_of_difference, explain_outliers};
pub use rule::CauseRule;
pub use rules::CAUSES;
pub(crate) use sign::Observation;
pub use sign::Sign;
