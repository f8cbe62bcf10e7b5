//! What carries messages between the two parts.

use crate::Error;

/// A connection that carries messages of a length both ends know.
///
/// Every call but [`Transport::wait`] ends in bounded time: a peer that is silent for seconds is an error, not a wait.
pub trait Transport: Send {
    /// Makes `memory` known; every message is a piece of it. For transports whose cards must know memory beforehand.
    ///
    /// # Errors
    /// When the system refuses.
    fn attach(&mut self, memory: &[u8]) -> Result<(), Error>;

    /// Makes the connection of this number the one in use, if there are several; each is fresh when it is first used.
    ///
    /// # Errors
    /// When there is none of that number.
    fn switch_to(&mut self, number: usize) -> Result<(), Error>;

    /// Waits until something arrives, however long that takes; false when the peer has closed the connection instead.
    ///
    /// # Errors
    /// When the connection broke.
    fn wait(&mut self) -> Result<bool, Error>;

    /// Sends a message; it may still be on its way when this returns.
    ///
    /// # Errors
    /// When the peer is gone or silent.
    fn send(&mut self, message: &[u8]) -> Result<(), Error>;

    /// Receives a message as long as `message`.
    ///
    /// # Errors
    /// When the peer is gone or silent.
    fn receive(&mut self, message: &mut [u8]) -> Result<(), Error>;

    /// Sends one message and receives another at the same time.
    ///
    /// # Errors
    /// When the peer is gone or silent.
    fn exchange(&mut self, out: &[u8], into: &mut [u8]) -> Result<(), Error>;
}
