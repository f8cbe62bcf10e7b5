//! The agents a run drives, behind one face: real ones, or scripted ones without a clock.

use std::sync::Arc;

use seatrial_model::Nanos;
use serde::{Deserialize, Serialize};

use crate::clock_offset::Offset;
use crate::message::{Command, Hello, Report};

/// A node of a fleet, by its position in [`Fleet::agents`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodeIndex(pub usize);

/// Something an agent said, or its loss.
#[derive(Clone, Debug, PartialEq)]
pub enum FleetEvent {
    /// The agent's message; never a second [`Report::Hello`].
    From(NodeIndex, Report),
    /// The agent is gone; nothing follows from this node.
    Lost(NodeIndex, String),
    /// The agent is gone because whoever lent its node wants it back: a job was cancelled, or its time was up. That
    /// says nothing about the node.
    Recalled(NodeIndex, String),
    /// Nothing came until the time asked for.
    Quiet,
}

/// Ends a wait of [`Fleet::next`] before its time, from any thread: it finds [`FleetEvent::Quiet`].
pub type Nudge = Arc<dyn Fn() + Send + Sync>;

/// Agents that said hello, one a node.
pub trait Fleet {
    /// What each agent said of itself.
    fn agents(&self) -> &[Hello];

    /// Nodes that were asked for and of which no agent came.
    fn missing(&self) -> &[Missing] {
        &[]
    }

    /// The clock of a node against [`Self::now`]; none where nobody compared them.
    fn offset(&self, _: NodeIndex) -> Option<Offset> {
        None
    }

    /// Sends a command; a lost agent swallows it, the loss arrives as a notice.
    fn send(&mut self, node: NodeIndex, command: Command);

    /// Waits for the next notice, at most until `deadline` on [`Self::now`]'s clock.
    fn next(&mut self, deadline: Nanos) -> FleetEvent;

    /// What ends a wait before its time; nothing where waits take none.
    fn nudge(&self) -> Nudge {
        Arc::new(|| {})
    }

    /// The controller's monotonic clock; a scripted fleet has its own that only moves when someone waits.
    fn now(&self) -> Nanos;
}

/// A node of which no agent came.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Missing {
    pub node: String,
    pub why: LaunchError,
}

/// A way to get agents running.
pub trait Launcher {
    /// Starts the agents and waits until they have said hello. Dropping the fleet ends them and all their workers.
    ///
    /// # Errors
    /// See [`LaunchError`]; nothing is left running then.
    fn launch(&self) -> Result<Box<dyn Fleet>, LaunchError>;
}

/// Why an agent, or no fleet at all, came up. As long as one agent did, the others are merely [`Missing`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error, Serialize, Deserialize)]
pub enum LaunchError {
    /// The agent could not be started at all.
    #[error("cannot start an agent on {node}: {why}")]
    Start {
        node: String,
        /// What was tried and what the system answered.
        why: String,
    },
    /// The node does not answer, or lets nobody in.
    #[error("{node} not reachable: {why} ({how})")]
    Unreachable {
        node: String,
        /// What the system answered.
        why: String,
        /// The program that tried, and where.
        how: String,
    },
    /// The agent said something other than hello, or nothing in time.
    #[error("the agent on {node} did not introduce itself: {why}")]
    NoHello {
        node: String,
        /// What it did instead.
        why: String,
    },
    /// The agent is of another build.
    #[error("the agent on {node} is build {theirs}, this is {ours}: install the same version there")]
    Build {
        node: String,
        /// Its build and protocol.
        theirs: String,
        ours: String,
    },
    #[error("of {count} nodes none could be reached; the last one: {last}")]
    Nobody {
        /// How many were asked.
        count: usize,
        /// What became of the last one.
        last: Box<LaunchError>,
    },
    /// The program that starts the agents could not do so.
    #[error("{launcher} started no agents: {why}")]
    Launcher {
        launcher: String,
        /// What was tried and what it answered.
        why: String,
    },
}

impl LaunchError {
    /// The node it is about.
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
