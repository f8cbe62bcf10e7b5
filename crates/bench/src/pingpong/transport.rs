//! What carries messages between the two parts.

use seatrial_model::Reason;
use std::ops::Range;

use super::Buffers;

/// A connection that carries messages of a length both ends know.
///
/// Messages are ranges of the memory that both ends have, in places that are the same at both; what the ends tell each
/// other beside them are a few bytes.
///
/// Every call but [`PingPongTransport::wait`] ends in bounded time: a peer that is silent for seconds is an error, not a wait.
pub trait PingPongTransport {
    /// Makes the connection of this number the one in use, if there are several; each is fresh when it is first used.
    fn switch_to(&mut self, number: usize) -> Result<(), Reason>;

    /// Waits until something arrives, however long that takes; false when the peer has closed the connection instead.
    fn wait(&mut self) -> Result<bool, Reason>;

    /// Sends a few bytes.
    fn tell(&mut self, bytes: &[u8]) -> Result<(), Reason>;

    /// Receives a few bytes.
    fn hear(&mut self, bytes: &mut [u8]) -> Result<(), Reason>;

    /// Sends a message; it may still be on its way when this returns.
    fn send(&mut self, memory: &Buffers, message: Range<usize>) -> Result<(), Reason>;

    /// Receives a message.
    fn receive(&mut self, memory: &mut Buffers, message: Range<usize>) -> Result<(), Reason>;

    /// Sends one message and receives another at the same time.
    fn exchange(&mut self, memory: &mut Buffers, out: Range<usize>, into: Range<usize>)
    -> Result<(), Reason>;
}
