//! The measured loops of a pair. The leader says how many messages or windows follow.

use seatrial_sys::mpi::{Communicator, MpiError, Window};

use super::config::Op;
use crate::memory::Ring;
use crate::slices::PairEnd;

/// Tags of messages and of the reply to a window, as in OSU's benchmarks.
const MESSAGE: u16 = 100;
const REPLY: u16 = 101;

/// One end of a pair, with its memory.
pub struct Pair<'a> {
    pub world: &'a Communicator<'a>,
    pub peer: usize,
    pub leads: bool,
    pub op: Op,
    pub window: usize,
    pub requests: Window<'a>,
    /// What this rank sends, and where it receives; one of them is empty where messages go one way.
    pub out: Vec<u8>,
    pub into: Vec<u8>,
}

impl PairEnd for Pair<'_> {
    fn peer(&self) -> (&Communicator<'_>, usize) {
        (self.world, self.peer)
    }

    fn messages(&self) -> u64 {
        self.window as u64
    }

    fn meets_like_osu(&self) -> bool {
        self.op == Op::MessageRate
    }

    /// Runs `count` round trips or windows.
    fn run(&mut self, count: u64, ring: &mut Ring) -> Result<(), MpiError> {
        match self.op {
            Op::Latency => self.ping_pong(count, ring),
            Op::BothDirections => self.both_ways(count, ring),
            Op::Bandwidth | Op::MessageRate => self.one_way(count, ring),
        }
    }
}

impl Pair<'_> {
    fn ping_pong(&mut self, count: u64, ring: &mut Ring) -> Result<(), MpiError> {
        for _ in 0..count {
            let layout = ring.take(1);
            let place = layout.first..layout.end();
            if self.leads {
                self.world.send(&self.out[place.clone()], self.peer, MESSAGE)?;
                self.world.receive(&mut self.into[place], self.peer, MESSAGE)?;
            } else {
                self.world.receive(&mut self.into[place.clone()], self.peer, MESSAGE)?;
                self.world.send(&self.out[place], self.peer, MESSAGE)?;
            }
        }
        Ok(())
    }

    /// The leader sends; a reply of one byte tells it that all messages of the window have come.
    fn one_way(&mut self, count: u64, ring: &mut Ring) -> Result<(), MpiError> {
        let mut reply = [0];
        for _ in 0..count {
            let layout = ring.take(self.window);
            if self.leads {
                self.requests.exchange(self.peer, MESSAGE, Some((&self.out, layout)), None)?;
                self.world.receive(&mut reply, self.peer, REPLY)?;
            } else {
                self.requests.exchange(self.peer, MESSAGE, None, Some((&mut self.into, layout)))?;
                self.world.send(&reply, self.peer, REPLY)?;
            }
        }
        Ok(())
    }

    fn both_ways(&mut self, count: u64, ring: &mut Ring) -> Result<(), MpiError> {
        for _ in 0..count {
            let layout = ring.take(self.window);
            let (out, into) = (Some((&self.out[..], layout)), Some((&mut self.into[..], layout)));
            self.requests.exchange(self.peer, MESSAGE, out, into)?;
        }
        Ok(())
    }
}
