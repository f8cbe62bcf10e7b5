//! Messages between controller, agent and worker; each is one frame of JSON.

use std::fmt;

use seatrial_bench::Offer;
use seatrial_model::machine::Machine;
use seatrial_model::setting::{SettingReading, SettingsAnswer, SettingsOrder};
use seatrial_model::{Case, Evidence, Integrity, Nanos, Reason, Sample, SiteNode};
use serde::{Deserialize, Serialize};

use crate::offers::Offers;

/// Raised when an older agent would misread a message.
pub const PROTOCOL: u32 = 1;

/// Id of a worker, unique for one controller.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct WorkerId(pub u64);

impl fmt::Display for WorkerId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "worker {}", self.0)
    }
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Hello {
    pub protocol: u32,
    /// Build id of the agent's binary; a controller refuses another one.
    pub build: String,
    /// Name of the node at the launcher.
    pub node: String,
    pub machine: Machine,
    #[serde(default)]
    pub settings: Vec<SettingReading>,
}

impl From<&Hello> for SiteNode {
    fn from(hello: &Hello) -> Self {
        Self { settings: hello.settings.clone(), ..Self::new(&hello.node, hello.machine.clone()) }
    }
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Command {
    Spawn {
        worker: WorkerId,
        case: Box<Case>,
        place: u32,
        trial: u32,
    },
    Tell {
        worker: WorkerId,
        message: ToWorker,
    },
    /// End a worker: SIGTERM, SIGKILL after a grace period, then give up.
    Kill {
        worker: WorkerId,
    },
    /// Change settings of the node. Answered by [`Report::Settings`]; never sent by what measures.
    Settings {
        order: SettingsOrder,
    },
    /// Read the counters of errors again. Answered by [`Report::Counters`].
    ReadCounters,
    /// Read both clocks. Answered by [`Report::Pong`].
    Ping {
        round: u32,
    },
    /// Sign of life of the controller. Not answered.
    Alive,
    Quit,
}

/// Agent to controller, after [`Hello`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Report {
    Hello(Box<Hello>),
    Said {
        worker: WorkerId,
        message: FromWorker,
    },
    Pong {
        round: u32,
        /// Monotonic clock of the node.
        clock: Nanos,
        /// Time of day of the node, since 1970.
        time_of_day: Nanos,
    },
    Ended {
        worker: WorkerId,
        end: WorkerEnd,
    },
    Settings {
        answer: Box<SettingsAnswer>,
    },
    Counters {
        readings: Vec<SettingReading>,
    },
}

/// Supervisor to worker. Each is answered by one message, except `Task` (only by a failure), `Stop` (by the end of
/// the running phase) and `Finish` (by the end of the process).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ToWorker {
    /// Case and place of the worker; always the first message.
    Task {
        case: Box<Case>,
        place: u32,
        trial: u32,
    },
    /// Allocate, pin, listen. Answered by `Prepared`.
    Prepare,
    /// Connect to the peers. Answered by `Connected`.
    Connect {
        /// Offers of all parts, or of those that the part has named, by index.
        offers: Offers,
    },
    /// Run and discard samples. Answered by `WarmedUp`.
    WarmUp {
        span: Nanos,
    },
    /// Run and keep samples. Answered by `Measured`.
    Measure {
        span: Nanos,
        /// Start time on the node's monotonic clock, the same moment for parts on several nodes; `None` is now.
        #[serde(default)]
        at: Option<Nanos>,
    },
    Stop,
    /// Verify the data. Answered by `Verified`.
    Verify,
    Finish,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FromWorker {
    Prepared {
        offer: Offer,
    },
    Connected,
    WarmedUp,
    /// Samples so far; may come several times during the measurement.
    Samples {
        batch: Vec<Sample>,
    },
    Measured,
    Verified {
        integrity: Integrity,
        /// Facts of the part, with the readings of probes.
        evidence: Evidence,
    },
    /// The part failed; nothing else follows.
    Failed {
        reason: Reason,
    },
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct WorkerEnd {
    pub how: EndKind,
    pub output: String,
    /// State of a process that did not answer: task state, wait channel, kernel stack, system call.
    pub evidence: Evidence,
}

impl WorkerEnd {
    /// Evidence of a worker that the agent ended: its state before. A worker that died before the order lacks it.
    pub const WHEN_KILLED: &str = "when_killed";
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EndKind {
    Exited {
        code: i32,
    },
    Signalled {
        signal: i32,
        name: String,
    },
    NotStarted {
        why: String,
    },
    /// The worker sent something that is not a message, and was killed.
    Garbled {
        why: String,
    },
    /// The worker survived SIGKILL (uninterruptible sleep) and was abandoned.
    Abandoned,
}
