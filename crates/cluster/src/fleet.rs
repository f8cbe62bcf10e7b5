//! The agents a run drives, behind one face: real ones, or scripted ones without a clock.

use seatrial_model::Nanos;

use crate::message::{Command, Hello, Report};

/// A node of a fleet, by its position in [`Fleet::agents`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodeIndex(pub usize);

/// Something an agent said, or its loss.
#[derive(Clone, Debug, PartialEq)]
pub enum Notice {
    /// The agent's message; never a second [`Report::Hello`].
    From(NodeIndex, Report),
    /// The agent is gone; nothing follows from this node.
    Lost(NodeIndex, String),
    /// Nothing came until the time asked for.
    Quiet,
}

/// Agents that said hello, one a node.
pub trait Fleet {
    /// What each agent said of itself.
    fn agents(&self) -> &[Hello];

    /// Sends a command; a lost agent swallows it, the loss arrives as a notice.
    fn send(&mut self, node: NodeIndex, command: Command);

    /// Waits for the next notice, at most until `deadline` on [`Self::now`]'s clock.
    fn next(&mut self, deadline: Nanos) -> Notice;

    /// The controller's monotonic clock; a scripted fleet has its own that only moves when someone waits.
    fn now(&self) -> Nanos;
}

/// A way to get agents running.
pub trait Launcher {
    /// Starts the agents and waits until they have said hello. Dropping the fleet ends them and all their workers.
    ///
    /// # Errors
    /// See [`LaunchError`]; nothing is left running then.
    fn launch(&self) -> Result<Box<dyn Fleet>, LaunchError>;
}

/// Why no fleet came up. A node that is merely missing is no error here.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LaunchError {
    /// The agent could not be started at all.
    #[error("cannot start an agent on {node}: {why}")]
    Start {
        /// Which node.
        node: String,
        /// What was tried and what the system answered.
        why: String,
    },
    /// The agent said something other than hello, or nothing in time.
    #[error("the agent on {node} did not introduce itself: {why}")]
    NoHello {
        /// Which node.
        node: String,
        /// What it did instead.
        why: String,
    },
    /// The agent is of another build.
    #[error("the agent on {node} is build {theirs}, this is {ours}: install the same version there")]
    Build {
        /// Which node.
        node: String,
        /// Its build and protocol.
        theirs: String,
        /// Ours.
        ours: String,
    },
}
