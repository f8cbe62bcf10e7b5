//! The two ends as ranks of an MPI job: the same method with another transport.

use std::ops::Range;
use std::sync::atomic::AtomicU64;

use seatrial_bench::pingpong::{Buffers, Follower, Leader, Mode, PingPongTransport};
use seatrial_bench::{Part, Sink, Stop};
use seatrial_model::{Case, Cause, Integrity, PartPlacement, Phase, Reason, Sample};
use seatrial_mpi_job::{Program, RankJob, refused, worker};
use seatrial_sys::mpi::{Communicator, Window, WindowLayout};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{ID, plan};

/// Tags of messages, and of what the ends tell each other beside them.
const MESSAGE: u16 = 100;
const WORD: u16 = 101;

/// Room for what the ends tell each other. A word of zeros ends a phase; no command is one.
const LONGEST_WORD: usize = 64;

pub fn part(case: &Case, place: &PartPlacement) -> Part {
    worker::part(ID, case, place, RankOrder::of)
}

/// What a rank has to know.
#[derive(Serialize, Deserialize)]
struct RankOrder {
    mode: String,
    sizes: Vec<u64>,
    region: usize,
}

impl RankOrder {
    fn of(case: &Case) -> Result<Self, Reason> {
        let mode = case.params.text("mode")?.to_owned();
        Ok(Self { mode, sizes: plan::sizes_of(case)?, region: plan::region_of(case) })
    }
}

/// The program of a rank: rank 0 leads.
pub fn start<'a>(order: &Value, job: RankJob<'a>) -> Result<Box<dyn Program + 'a>, Reason> {
    let unreadable =
        |why: String| Reason::new(Cause::Protocol, format!("cannot parse the order of a rank: {why}"));
    let order = RankOrder::deserialize(order).map_err(|error| unreadable(error.to_string()))?;
    let mode = Mode::of(&order.mode).ok_or_else(|| unreadable(format!("there is no mode {}", order.mode)))?;
    let largest = order.sizes.last().copied().unwrap_or(1) as usize;
    let buffers = Buffers::new(largest, order.region, order.region > 0)?;
    let (world, leads) = (job.world, job.world.rank() == 0);
    let transport = ByMpi { world, peer: usize::from(leads), both: Window::new(world, 2), heard: None };
    Ok(if leads {
        Box::new(LeadingRank(Leader::new(transport, buffers, mode, &order.sizes)))
    } else {
        Box::new(FollowingRank(Follower::new(transport, buffers)))
    })
}

/// Blocking messages to the other rank. The worker of the case ends a job whose ranks hang.
struct ByMpi<'a> {
    world: &'a Communicator<'a>,
    peer: usize,
    both: Window<'a>,
    /// What [`PingPongTransport::wait`] received.
    heard: Option<[u8; LONGEST_WORD]>,
}

impl ByMpi<'_> {
    /// Ends the phase at the other rank.
    fn end_phase(&self) -> Result<(), Reason> {
        self.world.send(&[0], self.peer, WORD).map_err(refused)
    }
}

impl PingPongTransport for ByMpi<'_> {
    /// The library has the connections.
    fn switch_to(&mut self, _: usize) -> Result<(), Reason> {
        Ok(())
    }

    fn wait(&mut self) -> Result<bool, Reason> {
        let mut word = [0; LONGEST_WORD];
        self.world.receive(&mut word, self.peer, WORD).map_err(refused)?;
        self.heard = Some(word).filter(|word| *word != [0; LONGEST_WORD]);
        Ok(self.heard.is_some())
    }

    fn tell(&mut self, bytes: &[u8]) -> Result<(), Reason> {
        self.world.send(bytes, self.peer, WORD).map_err(refused)
    }

    fn hear(&mut self, bytes: &mut [u8]) -> Result<(), Reason> {
        match self.heard.take() {
            Some(word) => {
                bytes.copy_from_slice(&word[..bytes.len()]);
                Ok(())
            }
            None => self.world.receive(bytes, self.peer, WORD).map_err(refused),
        }
    }

    #[inline]
    fn send(&mut self, memory: &Buffers, message: Range<usize>) -> Result<(), Reason> {
        self.world.send(memory.own(message)?, self.peer, MESSAGE).map_err(refused)
    }

    #[inline]
    fn receive(&mut self, memory: &mut Buffers, message: Range<usize>) -> Result<(), Reason> {
        let (_, into) = memory.own_both(0..0, message)?;
        self.world.receive(into, self.peer, MESSAGE).map_err(refused)
    }

    fn exchange(
        &mut self,
        memory: &mut Buffers,
        out: Range<usize>,
        into: Range<usize>,
    ) -> Result<(), Reason> {
        let (out, into) = memory.own_both(out, into)?;
        let layout = WindowLayout { first: 0, stride: 0, size: out.len(), count: 1 };
        let (out, into) = (Some((out, layout)), Some((into, layout)));
        self.both.exchange(self.peer, MESSAGE, out, into).map_err(refused)
    }
}

struct LeadingRank<'a>(Leader<ByMpi<'a>>);

/// The samples of a phase.
#[derive(Default)]
struct Samples(Vec<Sample>);

impl Sink for Samples {
    fn sample(&mut self, sample: Sample) {
        self.0.push(sample);
    }

    /// The worker records what the job is.
    fn evidence(&mut self, _: &str, _: Value) {}
}

impl Program for LeadingRank<'_> {
    fn run(&mut self, _: Phase, stop: &Stop) -> Result<Vec<Sample>, Reason> {
        let mut samples = Samples::default();
        self.0.run(stop, &mut samples)?;
        self.0.transport().end_phase()?;
        Ok(samples.0)
    }

    fn verify(&mut self) -> Result<Integrity, Reason> {
        let outcome = self.0.check();
        self.0.transport().end_phase()?;
        let (messages, bytes) = self.0.checked();
        Integrity::of_check(outcome.map(|()| Integrity::Verified { checked: bytes }), messages + 1)
    }
}

struct FollowingRank<'a>(Follower<ByMpi<'a>>);

impl Program for FollowingRank<'_> {
    fn run(&mut self, _: Phase, _: &Stop) -> Result<Vec<Sample>, Reason> {
        self.0.serve(&AtomicU64::new(0))?;
        Ok(Vec::new())
    }

    /// Rank 0 checks every byte that comes back.
    fn verify(&mut self) -> Result<Integrity, Reason> {
        self.0.serve(&AtomicU64::new(0))?;
        Ok(Integrity::Verified { checked: 0 })
    }
}
