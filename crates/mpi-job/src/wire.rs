//! Messages between the worker and its ranks, and between the parts of a job: one line of JSON each.

use std::collections::BTreeMap;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::path::PathBuf;

use seatrial_model::{Integrity, Nanos, Phase, Reason, Sample};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ToRank {
    /// Load the first of these libraries that can be loaded, and say what it is. The process does nothing else.
    Look {
        candidates: Vec<PathBuf>,
    },
    /// Load the library, go to the CPU of the rank, join the job, get ready for the benchmark.
    Start {
        /// The name that the process is to have.
        process: String,
        library: PathBuf,
        /// What the library says of itself where the job is started.
        version: String,
        bench: String,
        config: Value,
        /// Of the whole job.
        ranks: usize,
        cpus: Vec<Option<u32>>,
        /// Whether the job has ranks on several nodes, whose clocks differ.
        several_nodes: bool,
        /// What to ask MPI_Init_thread for.
        thread_level: String,
    },
    Run {
        phase: Phase,
        span: Nanos,
    },
    /// End the phase early.
    Stop,
    Verify,
    /// Leave the job.
    Finish,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FromRank {
    /// The first message. The rank as the launcher's environment has it, where it does.
    Hello {
        rank: Option<usize>,
    },
    Looked {
        loaded: Option<Loaded>,
        /// Why the candidates before could not be loaded.
        refused: Vec<String>,
    },
    Started {
        rank: usize,
        size: usize,
        cpu: Option<u32>,
    },
    Ran {
        samples: Vec<Sample>,
    },
    Verified {
        integrity: Integrity,
    },
    /// MPI_Finalize returned.
    Finished {
        left: Sample,
    },
    Failed {
        reason: Reason,
    },
}

/// What a launcher starts on a node, as its remote shell is told.
#[derive(Debug, Serialize, Deserialize)]
pub struct RemoteCommand {
    /// The node, as the launcher was told.
    pub host: String,
    /// A line for a shell.
    pub line: String,
    /// This program, as its path stands in the line.
    pub program: String,
    /// Variables that steer the library, and where programs and libraries are looked for.
    pub environment: BTreeMap<String, String>,
    /// Whether lines follow for its standard input, and its standard output is told line by line.
    pub talks: bool,
}

/// What becomes of a [`RemoteCommand`].
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RemoteAnswer {
    /// The command printed this; the last answers.
    Printed {
        text: String,
    },
    /// A line of a command that talks.
    Line {
        text: String,
    },
    Ended {
        code: u8,
    },
}

/// What a process found out about the library that it loaded.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Loaded {
    /// Its place among the candidates.
    pub candidate: usize,
    pub path: PathBuf,
    pub is_open_mpi: bool,
    pub abi: String,
    /// What the library says of itself, the first line.
    pub version: String,
    /// Version of the MPI standard.
    pub standard: String,
}

pub fn send(mut stream: impl Write, message: &impl Serialize) -> io::Result<()> {
    let mut line = serde_json::to_vec(message)?;
    line.push(b'\n');
    stream.write_all(&line)
}

/// The messages that come, until the other end is closed or sends what is none.
pub fn messages<T: DeserializeOwned>(stream: impl Read) -> impl Iterator<Item = T> {
    let lines = BufReader::new(stream).lines().map_while(Result::ok);
    lines.map_while(|line| serde_json::from_str(&line).ok())
}

#[cfg(test)]
mod tests {
    use std::os::unix::net::UnixStream;

    use super::*;

    #[test]
    fn messages_arrive_in_their_order_until_the_end() {
        let (ours, theirs) = UnixStream::pair().expect("a pair");
        send(&ours, &ToRank::Run { phase: Phase::Measure, span: Nanos(7) }).expect("sent");
        send(&ours, &ToRank::Stop).expect("sent");
        drop(ours);
        let got: Vec<ToRank> = messages(theirs).collect();
        assert!(
            matches!(got[..], [ToRank::Run { phase: Phase::Measure, span: Nanos(7) }, ToRank::Stop]),
            "{got:?}"
        );
    }
}
