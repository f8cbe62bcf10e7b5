//! Datagram sockets: batched send and receive, options, and drop counters.
//!
//! [`Outgoing`] and [`Incoming`] allocate at the start only, never in the measured loop.

mod counters;
mod incoming;
mod option;
mod outgoing;
pub(crate) mod qdisc;
mod readable;
#[cfg(test)]
mod tests;

pub use counters::{Counted, DatagramCounters, Interface};
pub use incoming::{Datagram, Incoming};
pub use option::{
    ReceiveBuffer, drops, fine_timers, grant_receive_buffer, path_mtu, receive_coalesced, refuse_fragments,
    report_local_drops, segment,
};
pub use outgoing::{Layout, MOST_SEGMENTS, Outgoing, most_segments};
pub use qdisc::{Qdisc, Rate, all_qdiscs, qdiscs};
pub use readable::Readable;
