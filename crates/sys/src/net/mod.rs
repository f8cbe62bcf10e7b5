//! Stream sockets: ways to send and receive, kernel counters of a connection, CPU cost.
//!
//! The caller owns the socket: blocking, with `SO_SNDTIMEO` and `SO_RCVTIMEO`, so that no call waits longer.

pub(crate) mod connections;
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
    available_congestion_controls, max_pacing_rate, set_max_pacing_rate, set_not_sent_low_water,
    set_receive_low_water, set_sctp_nodelay, unread,
};
pub use receive::{Pull, ReadMapped, ReadPlain, ReadRing, ReadTruncated};
pub use send::{Push, SendFile, SendPinned, SendPlain, SendRing};
pub use source::Source;
pub use tcp_info::{TcpInfo, tcp_info};
pub use zero_copied::ZeroCopied;
