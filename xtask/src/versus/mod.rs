//! `cargo xtask versus AREA`: Seatrial and its peers in turn, doing the same work on the same cores.

mod area;
pub mod bare;
mod cluster;
mod cobalt2;
mod cores;
mod gpu;
pub mod kept;
mod latency;
mod memory;
mod mpi;
mod network;
pub(crate) mod ours;
mod paired;
pub mod peer;
mod quiet;
mod rdma;
mod rounds;
mod run;
mod storage;
mod table;
mod transfer;
mod truth;

pub use area::{AREAS, Alone, Area, Figure, Hindrance, Row, Taking, Work};
pub use kept::Hardware;
pub use paired::{Lead, Paired, Side, Standing};
pub use rounds::{Companion, Dropped, Rounds, Taken, Who};
pub use run::{Args, run};
pub use table::{Line, Outcome, table};
pub use truth::TRUTH;
