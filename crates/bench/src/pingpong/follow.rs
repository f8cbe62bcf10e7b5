//! The end that does as it is told.

use std::sync::atomic::{AtomicU64, Ordering};

use seatrial_model::{Cause, Nanos, Reason};
use seatrial_sys::clock::now_ns;

use super::command::{Command, LENGTH, Taken, Verb};
use super::lead::around;
use super::{Buffers, PingPongTransport};

/// Carries out the leader's commands.
pub struct Follower<T> {
    transport: T,
    buffers: Buffers,
}

impl<T: PingPongTransport> Follower<T> {
    /// A follower on `transport`.
    pub fn new(transport: T, buffers: Buffers) -> Self {
        Self { transport, buffers }
    }

    /// Carries out commands until the leader closes the connection; `served` counts them.
    ///
    /// # Errors
    /// When the leader falls silent within a command, or data is not what was sent.
    pub fn serve(&mut self, served: &AtomicU64) -> Result<(), Reason> {
        loop {
            let mut bytes = [0; LENGTH];
            self.transport.switch_to(0)?;
            // However long the leader takes between two phases.
            if !self.transport.wait()? {
                return Ok(());
            }
            self.transport.hear(&mut bytes)?;
            self.carry_out(Command::from_bytes(&bytes, self.buffers.largest())?)?;
            served.fetch_add(1, Ordering::Relaxed);
        }
    }

    fn carry_out(&mut self, command: Command) -> Result<(), Reason> {
        let size = command.size as usize;
        self.transport.switch_to(command.connection as usize)?;
        match command.verb {
            Verb::Echo => (0..command.count).try_for_each(|_| {
                let (out, into) = self.buffers.next(size);
                self.transport.receive(&mut self.buffers, into)?;
                self.transport.send(&self.buffers, out)
            }),
            Verb::Exchange => (0..command.count).try_for_each(|_| {
                let (out, into) = self.buffers.next(size);
                self.transport.exchange(&mut self.buffers, out, into)
            }),
            Verb::Take => self.take(size, command.count),
            Verb::Check => self.check(size, command.count),
        }
    }

    /// The clock runs from the end of the message before the first that counts to the end of the last that counts, so that
    /// nothing of the way there is in it.
    fn take(&mut self, size: usize, count: u64) -> Result<(), Reason> {
        self.receive(size, around(count))?;
        let start = Nanos(now_ns());
        self.receive(size, count)?;
        let end = Nanos(now_ns());
        self.receive(size, around(count))?;
        self.transport.switch_to(0)?;
        let taken = Taken { took: end.since(start), since: Nanos(now_ns()).since(end) };
        self.transport.tell(&taken.to_bytes())
    }

    fn receive(&mut self, size: usize, count: u64) -> Result<(), Reason> {
        (0..count).try_for_each(|_| {
            let (_, into) = self.buffers.next(size);
            self.transport.receive(&mut self.buffers, into)
        })
    }

    fn check(&mut self, size: usize, number: u64) -> Result<(), Reason> {
        let into = self.buffers.received(size);
        self.transport.receive(&mut self.buffers, into)?;
        if let Some(at) = self.buffers.first_wrong(size, number) {
            let text = format!("byte {at} of a message of {size} bytes is not what was sent");
            return Err(Reason::new(Cause::CorruptData, text));
        }
        let out = self.buffers.fill(size, number + 1);
        self.transport.send(&self.buffers, out)
    }
}
