//! The kit that benchmarks are made with: the traits, parameters and budgets, bindings and teams of threads, memory at a
//! place, payload and its verification, listeners and connections, queue pairs, samples by coordinates, evidence.
//!
//! The benchmarks themselves are in `benchmarks/<family>/`, one crate a family.

pub mod affinity;
pub mod all_to_all;
#[warn(missing_docs)]
mod benchmark;
mod bindings;
mod budget;
mod by_coords;
mod client_server;
mod clock;
mod common_time;
mod curve;
mod direction;
pub mod directory;
mod each_node;
pub mod ends;
mod fairness;
mod gate;
pub mod goodput;
pub mod group;
mod held;
#[cfg(test)]
mod hot_loops;
pub mod interfaces;
mod latencies;
pub mod link_limits;
mod loss;
mod no_limit;
mod numa_check;
mod over_time;
#[warn(missing_docs)]
mod part;
pub mod payload;
mod pin;
pub mod pingpong;
#[warn(missing_docs)]
mod registry;
mod round_trips;
pub mod sched;
pub mod search;
mod sequence;
mod server_thread;
mod sliced;
pub mod space;
pub mod stale_dirs;
mod stop;
mod stream;
mod team;
pub mod testing;
#[cfg(test)]
mod toy;
mod transferred;
pub mod turns;
pub mod verbs;
mod verification;

pub use benchmark::{Benchmark, DISTINCT_CARDS, Sink, WITHIN_NODE};
pub use bindings::{core_bindings, matrix_nodes, memory_for, memory_nodes, own_memory, remote_memory, room};
pub use budget::{MAX_TRIALS, PAGES, PRECISION, TIME, TRIALS, WARM_UP, budget, pages};
pub use by_coords::{AtCoords, Trials, by_coords, by_key, by_part, median, slices};
pub use client_server::{ServerEnd, Serving, call, call_over, serve, serve_over};
pub use clock::evidence_of_clock;
pub use common_time::{agreed_starts, tell_spread};
pub use curve::{Curve, common_window};
pub use direction::Direction;
pub use each_node::{each_node, one_of_all, worker_case};
pub use ends::Ends;
pub use fairness::fairness;
pub use gate::Gate;
pub use held::{Held, evidence_of_pages, evidence_of_place, no_memory, refused_here, require_room};
pub use latencies::Latencies;
pub use loss::is_lossy;
pub use no_limit::{no_limit, no_limits};
pub use numa_check::numa_check;
pub use over_time::{BY_TIME, by_time, still_rising};
pub use part::{Offer, Part, Prepared, Running};
pub use pin::{pin, pin_to};
pub use registry::{Registry, find};
pub use round_trips::{RoundTrips, add_loss};
pub use sched::SCHED;
pub use sequence::Sequence;
pub use server_thread::ServerThread;
pub use sliced::Sliced;
pub use stop::Stop;
pub use stream::{
    Accepted, Endpoint, Listener, Listeners, PeerAddress, REPLY_TIMEOUT, beside, connect_over,
    connection_evidence, interface_of, is_timeout, second_handles, setting_up,
};
pub use team::{Answers, ThreadSpec, ThreadTeam, panic_text};
pub use transferred::Transferred;
pub use verification::{VERIFY, VERIFY_BLOCKS};
