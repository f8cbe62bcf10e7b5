//! Simulated agents with exact numbers and no clock, for tests of everything above a fleet.

mod fault;
mod file;
mod fleet;
mod glob;
mod pattern;
mod script;
mod worker;

pub use fault::Fault;
pub use file::{Rule, ScriptError, ScriptFile, SimulatedNodes, When};
pub use fleet::ScriptedFleet;
pub use pattern::Pattern;
pub use script::Script;
