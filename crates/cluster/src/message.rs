//! What controller, agent and worker say to each other; every message is one frame of JSON.

use std::fmt;

use seatrial_bench::Offer;
use seatrial_model::machine::Machine;
use seatrial_model::setting::SettingReading;
use seatrial_model::{Case, Evidence, Integrity, Nanos, Reason, Sample, SiteNode};
use serde::{Deserialize, Serialize};

/// Rises when an older agent would misread a message.
pub const PROTOCOL: u32 = 1;

/// Names a worker of one controller, never used twice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct WorkerId(pub u64);

impl fmt::Display for WorkerId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "worker {}", self.0)
    }
}

/// The first message of an agent.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Hello {
    /// [`PROTOCOL`] of the agent.
    pub protocol: u32,
    /// The build of the agent's binary; a controller refuses another one.
    pub build: String,
    /// The node, as the launcher knows it.
    pub node: String,
    /// What the node is.
    pub machine: Machine,
    /// The settings of its host.
    #[serde(default)]
    pub settings: Vec<SettingReading>,
}

impl From<&Hello> for SiteNode {
    fn from(hello: &Hello) -> Self {
        Self { name: hello.node.clone(), machine: hello.machine.clone(), settings: hello.settings.clone() }
    }
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Command {
    /// Start a worker for one part of a case.
    Spawn {
        /// The name it will go by.
        worker: WorkerId,
        case: Box<Case>,
        /// Index into the case's places.
        place: u32,
        /// The trial, from 0.
        trial: u32,
    },
    /// Pass a message on to a worker.
    Tell { worker: WorkerId, message: ToWorker },
    /// End a worker: SIGTERM, then SIGKILL after a grace, then give it up.
    Kill { worker: WorkerId },
    /// Say what time it is. Answered by [`Report::Pong`].
    Ping {
        /// Comes back with the answer.
        round: u32,
    },
    /// The controller lives. Not answered.
    Alive,
    /// End all workers and the agent.
    Quit,
}

/// Agent to controller, after its [`Hello`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Report {
    Hello(Box<Hello>),
    /// A worker said something.
    Said {
        worker: WorkerId,
        message: FromWorker,
    },
    /// The answer to [`Command::Ping`].
    Pong {
        /// That of the question.
        round: u32,
        /// The node's monotonic clock.
        clock: Nanos,
    },
    /// A worker is gone, or given up.
    Ended {
        worker: WorkerId,
        end: WorkerEnd,
    },
}

/// Supervisor to worker. Each is answered by exactly one message but `Stop`, which is answered by the end of the
/// phase that runs, `Task`, which only a failure answers, and `Finish`, which the end of the process answers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ToWorker {
    /// What to be; always the first message, sent by the agent.
    Task {
        case: Box<Case>,
        /// Index into the case's places.
        place: u32,
        /// The trial, from 0.
        trial: u32,
    },
    /// Allocate, pin, listen. Answered by `Prepared`.
    Prepare,
    /// Reach the peers. Answered by `Connected`.
    Connect {
        /// Offers of all parts, by index.
        offers: Vec<Offer>,
    },
    /// Run without keeping samples. Answered by `WarmedUp`.
    WarmUp {
        span: Nanos,
    },
    /// Run and keep samples. Answered by `Measured`.
    Measure {
        span: Nanos,
        /// When to begin, on the node's own monotonic clock; none is now. Parts on several nodes begin together.
        #[serde(default)]
        at: Option<Nanos>,
    },
    /// End the phase that runs.
    Stop,
    /// Check the data. Answered by `Verified`.
    Verify,
    Finish,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FromWorker {
    /// Ready to be reached.
    Prepared {
        /// What the peers must know.
        offer: Offer,
    },
    Connected,
    /// The warm-up is over.
    WarmedUp,
    /// Samples so far; may come several times while measuring.
    Samples {
        batch: Vec<Sample>,
    },
    /// The measuring is over and all samples are sent.
    Measured,
    /// The data was checked.
    Verified {
        /// What the check found.
        integrity: Integrity,
        /// Facts the part collected, probes' differences among them.
        evidence: Evidence,
    },
    /// The part cannot go on; nothing else follows.
    Failed {
        reason: Reason,
    },
}

/// How a worker's process ended.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct WorkerEnd {
    pub how: EndKind,
    /// The last of what it wrote to standard output and error, cut to a few KiB.
    pub output: String,
    /// What was seen of the process when it did not answer: task state, wait channel, kernel stack, system call.
    pub evidence: Evidence,
}

/// The way a worker's process ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EndKind {
    Exited {
        code: i32,
    },
    /// A signal ended it.
    Signalled {
        signal: i32,
        /// The name, for example `SIGSEGV`.
        name: String,
    },
    /// It could not be started.
    NotStarted {
        /// What was tried and what the system answered.
        why: String,
    },
    /// It said something that is not a message; it was killed.
    Garbled {
        /// What was wrong with it.
        why: String,
    },
    /// It did not even die by SIGKILL (uninterruptible sleep) and was left behind.
    Abandoned,
}
