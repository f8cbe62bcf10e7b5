//! The interface to the agents of a run: real agents, or simulated ones without a clock.

use std::sync::Arc;

use seatrial_model::Nanos;
use serde::{Deserialize, Serialize};

use crate::clock_offset::Offset;
use crate::message::{Command, Hello, Report};

/// A node of a fleet, by its position in [`Fleet::agents`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodeIndex(pub usize);

#[derive(Clone, Debug, PartialEq)]
pub enum FleetEvent {
    /// A report; never a second [`Report::Hello`].
    From(NodeIndex, Report),
    /// The agent is gone; no more reports of this node.
    Lost(NodeIndex, String),
    /// The agent is gone because its job was cancelled, preempted or ran out of time; no fault of the node.
    Recalled(NodeIndex, String),
    Quiet,
}

/// Ends a wait of [`Fleet::next`] early, from any thread: the wait returns [`FleetEvent::Quiet`].
pub type Nudge = Arc<dyn Fn() + Send + Sync>;

/// Agents that said hello, one per node.
pub trait Fleet {
    fn agents(&self) -> &[Hello];

    fn missing(&self) -> &[Missing] {
        &[]
    }

    /// Offset of a node's clock from [`Self::now`]; `None` where it was not measured.
    fn offset(&self, _: NodeIndex) -> Option<Offset> {
        None
    }

    /// Offset of a node's time of day from this machine's; `None` where it was not measured.
    fn time_of_day_offset(&self, _: NodeIndex) -> Option<Offset> {
        None
    }

    /// Whether the agent of a node is gone, as far as is known: a command to it has no answer.
    fn is_gone(&self, _: NodeIndex) -> bool {
        false
    }

    /// Sends a command. A lost agent ignores it; the loss arrives as an event.
    fn send(&mut self, node: NodeIndex, command: Command);

    /// Waits for the next event, at most until `deadline` on the clock of [`Self::now`].
    fn next(&mut self, deadline: Nanos) -> FleetEvent;

    /// Ends a wait early; does nothing in a fleet that never waits.
    fn nudge(&self) -> Nudge {
        Arc::new(|| {})
    }

    /// The controller's monotonic clock; the clock of a simulated fleet moves only in waits.
    fn now(&self) -> Nanos;
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Missing {
    pub node: String,
    pub why: LaunchError,
}

pub trait Launcher {
    /// Starts the agents and waits for their hellos. Dropping the fleet, or an error, ends all agents and workers.
    fn launch(&self) -> Result<Box<dyn Fleet>, LaunchError>;
}

/// Why an agent did not start. With at least one agent, the others are [`Missing`]; without any, the launch fails.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error, Serialize, Deserialize)]
pub enum LaunchError {
    #[error("cannot start an agent on {node}: {why}")]
    Start { node: String, why: String },
    /// The node does not answer, or refuses the login.
    #[error("{node} not reachable: {why} ({how})")]
    Unreachable { node: String, why: String, how: String },
    /// The agent sent something else than hello, or nothing in time.
    #[error("the agent on {node} did not start up: {why}")]
    NoHello { node: String, why: String },
    #[error("the agent on {node} is build {theirs}, this is {ours}: install the same version there")]
    Build { node: String, theirs: String, ours: String },
    #[error("none of the {count} nodes could be reached; for example: {last}")]
    Nobody { count: usize, last: Box<LaunchError> },
    #[error("{launcher} started no agents: {why}")]
    Launcher { launcher: String, why: String },
}

impl LaunchError {
    pub fn node(&self) -> &str {
        match self {
            Self::Start { node, .. }
            | Self::Unreachable { node, .. }
            | Self::NoHello { node, .. }
            | Self::Build { node, .. } => node,
            Self::Nobody { last, .. } => last.node(),
            Self::Launcher { launcher, .. } => launcher,
        }
    }
}
