//! The measured loops of a pair. The leader says how many messages or windows follow; both ends count them.

use seatrial_sys::mpi::{Communicator, MpiError, Window};

use super::config::Op;
use super::memory::Ring;
use crate::turns::RunOrder;

/// Tags of messages, of the reply to a window, as in OSU's benchmarks, and of the number that follows.
const MESSAGE: u16 = 100;
const REPLY: u16 = 101;
const COUNT: u16 = 102;

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

impl Pair<'_> {
    /// Runs `count` round trips or windows, from and to the next places of `ring`.
    pub fn run(&mut self, count: u64, ring: &mut Ring) -> Result<(), MpiError> {
        match self.op {
            Op::Latency => self.ping_pong(count, ring),
            Op::BothDirections => self.both_ways(count, ring),
            Op::Bandwidth | Op::MessageRate => self.one_way(count, ring),
        }
    }

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

    /// Tells the other end how many round trips or windows follow.
    pub fn tell(&self, order: RunOrder) -> Result<(), MpiError> {
        self.world.send(&order.to_bytes(), self.peer, COUNT)
    }

    /// What the leader tells.
    pub fn told(&self) -> Result<RunOrder, MpiError> {
        let mut bytes = [0; 8];
        self.world.receive(&mut bytes, self.peer, COUNT)?;
        Ok(RunOrder::from_bytes(bytes))
    }
}
