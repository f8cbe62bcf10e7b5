//! What the two ends say of the messages after they ran.

use seatrial_bench::ServerThread;
use seatrial_bench::pingpong::{Leader, PingPongTransport};
use seatrial_model::{Cause, Integrity, Reason};
use std::sync::atomic::{AtomicU64, Ordering};

/// The leader's check of the data, which goes both ways.
pub fn led<T: PingPongTransport>(leader: &mut Leader<T>) -> Result<Integrity, Reason> {
    match leader.check() {
        Ok(()) => Ok(Integrity::Verified { checked: leader.checked().1 }),
        Err(error) if error.cause == Cause::CorruptData => {
            Ok(Integrity::Corrupt { wrong: 1, of: leader.checked().0 + 1, first: error.text })
        }
        Err(error) => Err(error),
    }
}

/// The leader's check goes both ways; here it is only asked whether one failed.
pub fn followed(server: &mut ServerThread, served: &AtomicU64) -> Result<Integrity, Reason> {
    let served = served.load(Ordering::Relaxed);
    if server.is_finished() {
        match server.end() {
            Err(error) if error.cause == Cause::CorruptData => {
                return Ok(Integrity::Corrupt { wrong: 1, of: served + 1, first: error.text });
            }
            other => other?,
        }
    }
    Ok(Integrity::Unverified { why: "the leader looks at every byte that comes back".to_owned() })
}
