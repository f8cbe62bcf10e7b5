//! The launcher of our own for MPICH and its relatives: starts ranks and serves PMI-1.
//!
//! It starts the ranks of its own node. On each other node it has a part of itself, which the part of the job there starts; lines
//! of the ranks there come from its standard output, and answers to them go to its standard input.

mod local;

use std::collections::BTreeSet;
use std::io::{self, Write};
use std::process::ExitCode;
use std::sync::mpsc::{Receiver, Sender, channel};

use serde::{Deserialize, Serialize};
use socket2::Socket;

use super::LAUNCH;
use super::node::{NO_EXIT_CODE, spawn};
use super::pmi::{PmiAnswer, PmiServer};
use super::process::launcher_program;
use super::remote_shell::ask;
use super::wire::{RemoteAnswer, messages, send};
use local::LocalRanks;

/// Ranks of a node.
#[derive(Clone, Copy)]
struct Block {
    first: usize,
    count: usize,
    /// Of the whole job.
    of: usize,
}

impl Block {
    fn contains(self, rank: usize) -> bool {
        (self.first..self.first + self.count).contains(&rank)
    }
}

/// What comes of a rank, by its number.
#[derive(Debug, Serialize, Deserialize)]
enum RankEvent {
    Line(usize, String),
    /// The connection of a rank of this node is closed.
    Closed(usize),
    /// The rank of another node ended with this code.
    Ended(usize, i32),
    /// The launcher says this to the rank of this node.
    Answer(usize, String),
    /// The connection to the node of this rank, or to the launcher, is closed.
    Gone(usize),
}

/// Runs this process as the launcher, or as a part of it on another node. `words` are the first rank, the number of ranks of a
/// node and that of all nodes, and for the launcher the addresses of the other nodes.
pub fn launch(words: &[String]) -> ExitCode {
    let ended = run(words);
    if let Err(error) = &ended {
        #[expect(clippy::print_stderr, reason = "the worker reads what its launcher prints")]
        {
            eprintln!("seatrial: cannot start the ranks: {error}");
        }
    }
    ExitCode::from(ended.ok().and_then(|code| u8::try_from(code).ok()).unwrap_or(1))
}

/// The exit code of the first rank that failed; 0 where all ended well.
fn run(words: &[String]) -> io::Result<i32> {
    let number = |at: usize| {
        let word = words.get(at).and_then(|word| word.parse::<usize>().ok());
        word.ok_or_else(|| io::Error::new(io::ErrorKind::InvalidInput, "ranks are not told"))
    };
    let block = Block { first: number(0)?, count: number(1)?, of: number(2)? };
    let (report, events) = channel();
    let ranks = LocalRanks::start(block, &report)?;
    if block.first > 0 {
        return part(ranks, report, events);
    }
    let mut parts = Vec::new();
    for (address, first) in words[3..].iter().zip((block.count..).step_by(block.count)) {
        parts.push(Part::start(address, Block { first, ..block }, report.clone())?);
    }
    drop(report);
    serve(Job { ranks, parts }, block, &events)
}

/// A part of the launcher on another node.
struct Part {
    block: Block,
    /// To its standard input.
    stream: Socket,
}

impl Part {
    fn start(address: &str, block: Block, report: Sender<RankEvent>) -> io::Result<Self> {
        let program = launcher_program();
        let Block { first, count, of } = block;
        let stream = ask(address, format!("exec {program} {LAUNCH} {first} {count} {of}"), true)?;
        let answers = messages::<RemoteAnswer>(stream.try_clone()?);
        spawn("part", move || {
            for answer in answers {
                match answer {
                    RemoteAnswer::Line { text } => {
                        if let Ok(event) = serde_json::from_str(&text) {
                            let _ = report.send(event);
                        }
                    }
                    #[expect(clippy::print_stderr, reason = "the worker reads what its launcher prints")]
                    RemoteAnswer::Printed { text } => eprint!("{text}"),
                    RemoteAnswer::Ended { .. } => break,
                }
            }
            let _ = report.send(RankEvent::Gone(first));
        })?;
        Ok(Self { block, stream: stream.into() })
    }
}

/// All ranks, as the launcher has them.
struct Job {
    ranks: LocalRanks,
    parts: Vec<Part>,
}

impl Job {
    fn tell(&mut self, rank: usize, line: &str) {
        match self.parts.iter().find(|part| part.block.contains(rank)) {
            // A rank that is gone is told by the end of its connection.
            Some(part) => drop(send(&part.stream, &RankEvent::Answer(rank, line.to_owned()))),
            None => self.ranks.tell(rank, line),
        }
    }
}

/// Answers the ranks until all have ended, or one failed: then all others are ended.
fn serve(mut job: Job, block: Block, events: &Receiver<RankEvent>) -> io::Result<i32> {
    let mut server = PmiServer::new(job.parts.len() + 1, block.count);
    let mut running: BTreeSet<usize> = (0..block.of).collect();
    while !running.is_empty() {
        let Ok(event) = events.recv() else { break };
        let code = match event {
            RankEvent::Line(rank, line) => match server.answer(&line) {
                PmiAnswer::Line(answer) => {
                    job.tell(rank, &answer);
                    0
                }
                PmiAnswer::ToAll(answer) => {
                    (0..block.of).for_each(|rank| job.tell(rank, &answer));
                    0
                }
                PmiAnswer::Wait => 0,
                PmiAnswer::Abort(code) => code.into(),
            },
            RankEvent::Closed(rank) => {
                running.remove(&rank);
                job.ranks.code_of(rank)?
            }
            RankEvent::Ended(rank, code) => {
                running.remove(&rank);
                code
            }
            RankEvent::Gone(first) => {
                let lost = running.range(first..first + block.count).next();
                lost.map_or(0, |_| NO_EXIT_CODE.into())
            }
            RankEvent::Answer(..) => 0,
        };
        if code != 0 {
            // Parts end with their connections.
            return Ok(code);
        }
    }
    Ok(0)
}

/// Passes on what the ranks of this node and the launcher say to each other, until all ranks have ended or the launcher has.
fn part(mut ranks: LocalRanks, report: Sender<RankEvent>, events: Receiver<RankEvent>) -> io::Result<i32> {
    spawn("answers", move || {
        for answer in messages(io::stdin()) {
            let _ = report.send(answer);
        }
        let _ = report.send(RankEvent::Gone(0));
    })?;
    let mut running = ranks.count();
    for event in events {
        let passed = match event {
            RankEvent::Answer(rank, line) => {
                ranks.tell(rank, &line);
                continue;
            }
            RankEvent::Gone(_) => break,
            RankEvent::Closed(rank) => {
                running -= 1;
                RankEvent::Ended(rank, ranks.code_of(rank)?)
            }
            line => line,
        };
        let mut out = io::stdout().lock();
        send(&mut out, &passed)?;
        out.flush()?;
        if running == 0 {
            break;
        }
    }
    Ok(0)
}
