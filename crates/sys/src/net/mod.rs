//! Stream sockets: the ways to move data through one, what the kernel tells of a connection, and what it costs.
//!
//! All of it works on a descriptor that somebody else owns and has set up: blocking, with deadlines for sending and
//! receiving (`SO_SNDTIMEO`, `SO_RCVTIMEO`), so that no call lasts longer than the caller can wait.

pub mod datagram;
mod effort;
mod option;
mod receive;
mod ring;
mod room;
mod send;
mod source;
mod tcp_info;
#[cfg(test)]
mod tests;
mod zero_copied;

pub use effort::{HostTime, ThreadTime, host_time};
pub use option::{
    available_congestion_controls, max_pacing_rate, set_max_pacing_rate, set_receive_low_water, unread,
};
pub use receive::{Pull, ReadMapped, ReadPlain, ReadRing, ReadTruncated};
pub use send::{Push, SendFile, SendPinned, SendPlain, SendRing};
pub use source::Source;
pub use tcp_info::{TcpInfo, tcp_info};
pub use zero_copied::ZeroCopied;
