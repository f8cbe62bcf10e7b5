//! What the RDMA benchmarks share: parameters, the choice of ports, connections over the control channel, memory, the
//! engine that streams messages and the one that bounces them.
//!
//! A benchmark is a verb, the transports that carry it, and one of the two engines; everything else is here. Both ends
//! make their queue pairs while they prepare, tell numbers, addresses and keys in their offers, and connect when they
//! have the other's. Nothing but the measured traffic goes between them afterwards, so that neither waits for the
//! other: each wait ends with its phase or with the card's own time-out.

mod bounds;
mod config;
mod connect;
mod connection_info;
mod end;
pub mod endpoint;
mod fault;
mod group;
mod memory;
mod pair;
mod pairs;
pub mod params;
pub mod paths;
pub mod pattern;
mod port_list;
mod ports;
pub mod queue;
mod registered;
mod send_queue;
mod several;
mod system;

pub use bounds::{capacity, one_way};
pub use config::RdmaConfig;
pub use connection_info::ConnectionInfo;
pub use end::{End, partner, wanted};
pub use endpoint::RdmaEndpoint;
pub use fault::{CAUSE_AFTER, during, first_cause, is_flush, preparing, silent};
pub use memory::{Layout, Side};
pub use pair::{FarEnd, Pair};
pub use pairs::QKEY;
pub use port_list::{PEER_PORT, PLUS, PORT, joined, ports_of};
pub use ports::{first_pair, note, place_threads, plan_ports, require_room_on, time_to_fill};
pub use queue::wait;
pub use send_queue::{SIGNAL_INTERVAL, SendQueue, Silence};

pub use system::System;

use seatrial_sys::verbs::{Transport, VerbKind};

/// What a benchmark does, and over what.
#[derive(Clone, Copy, Debug)]
pub struct Method {
    pub verb: VerbKind,
    /// How the far end learns of a message.
    pub remote_completion: RemoteCompletion,
}

/// How the far end learns of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RemoteCompletion {
    /// Not at all: its card does everything.
    None,
    /// From a completion queue entry.
    Cqe,
    /// Its processor polls the memory that is written to.
    Polled,
}

/// The transport of that word.
pub fn transport(word: &str) -> Transport {
    match word {
        "uc" => Transport::Uc,
        "ud" => Transport::Ud,
        _ => Transport::Rc,
    }
}
