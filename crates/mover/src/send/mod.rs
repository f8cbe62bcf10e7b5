//! The sending side: finds what to copy, asks what the target has, and sends the rest over several connections.

mod large;
mod pack;
mod plan;
mod replies;
mod session;
mod worker;

pub use session::{ControlChannel, send};
