//! NetPIPE's method over any transport: messages of many sizes back and forth, so that the cost of one layer falls out
//! when the same method is run over another.
//!
//! One end leads: it holds the clock and tells the other what comes next. The other follows until the connection ends.
//! All sizes are visited in turn, again and again, a short slice each time, so that what changes while a trial runs
//! touches all of them alike, and every size has as many samples as the others.
//!
//! Source of the method: Snell, Mikler, Gustafson, NetPIPE: A Network Protocol Independent Performance Evaluator (1996);
//! the sizes beside the powers of two, the streaming and the two-way mode are those of Turner and Chen, Protocol-Dependent
//! Message-Passing Performance on Linux Clusters (2002).

mod command;
mod curve;
mod follow;
mod lead;
mod memory;
mod sizes;
#[cfg(test)]
mod tests;
mod transport;

pub use curve::{Drop, PingPongCurve, Point};
pub use follow::Follower;
pub use lead::{CHANNEL, Leader, messages_per_sample, sent};
pub use memory::Buffers;
pub use sizes::sizes;
pub use transport::PingPongTransport;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// One message there, one back.
    PingPong,
    /// Messages one way; the receiver holds the clock.
    Stream,
    /// A message each way at the same time.
    Both,
}

impl Mode {
    /// The words for them, as a parameter's choices.
    pub const WORDS: &'static [&'static str] = &["pingpong", "stream", "both"];

    /// The mode of that word.
    pub fn of(word: &str) -> Option<Self> {
        match word {
            "pingpong" => Some(Self::PingPong),
            "stream" => Some(Self::Stream),
            "both" => Some(Self::Both),
            _ => None,
        }
    }
}
