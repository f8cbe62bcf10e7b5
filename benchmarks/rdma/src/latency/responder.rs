//! The end that answers, from a thread of its own from the connection to the end of the trial, so that no message finds
//! it between two phases.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use seatrial_model::{Cause, Reason};

use super::ping_pong_qp::PingPongQp;
use seatrial_bench::verbs::pattern::POISON;
use seatrial_bench::verbs::{RdmaConfig, RemoteCompletion};
use seatrial_bench::{Answers, ThreadSpec, ThreadTeam};

/// The thread that answers.
pub struct Responder {
    over: Arc<AtomicBool>,
    served: Arc<AtomicU64>,
    ended: Answers<()>,
    _thread: ThreadTeam<'static, PingPongQp>,
}

impl Responder {
    pub fn start(qp: PingPongQp, config: &RdmaConfig) -> Result<Self, Reason> {
        let (over, served) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicU64::new(0)));
        let own = (Arc::clone(&over), Arc::clone(&served));
        let (completion, largest) = (config.remote_completion(), config.largest());
        let spec = ThreadSpec::new("answer", config.cpu(0));
        let thread = ThreadTeam::start([(spec, move || Ok(qp))], "fewer ports")?;
        let ended = thread.begin([0], move |_, qp| match completion {
            RemoteCompletion::Polled => by_memory(qp, largest, &own.0, &own.1),
            _ => by_completion(qp, largest, &own.0, &own.1),
        });
        Ok(Self { over, served, ended, _thread: thread })
    }

    pub fn served(&self) -> u64 {
        self.served.load(Ordering::Relaxed)
    }

    /// Its failure, once.
    pub fn check(&self) -> Result<(), Reason> {
        self.ended.check(Duration::ZERO)
    }
}

impl Drop for Responder {
    fn drop(&mut self) {
        self.over.store(true, Ordering::Relaxed);
    }
}

fn by_completion(
    qp: &mut PingPongQp,
    largest: u64,
    over: &AtomicBool,
    served: &AtomicU64,
) -> Result<(), Reason> {
    while !over.load(Ordering::Relaxed) {
        let Some(received) = qp.poll_recv()? else { continue };
        if received.bytes == 0 || received.bytes > largest {
            let text = format!("a message of {} B was received that was not sent", received.bytes);
            return Err(Reason::new(Cause::CorruptData, text));
        }
        qp.post_send(received.bytes, received.number.unwrap_or(0))?;
        served.fetch_add(1, Ordering::Relaxed);
    }
    Ok(())
}

fn by_memory(qp: &mut PingPongQp, largest: u64, over: &AtomicBool, served: &AtomicU64) -> Result<(), Reason> {
    // What was there before anything came; it may be there already when this thread begins.
    let mut last = POISON;
    loop {
        let Some(mark) = qp.poll_once(|mark| mark != last) else {
            // The orders are looked at where nothing else was for long.
            if over.load(Ordering::Relaxed) {
                return Ok(());
            }
            std::thread::yield_now();
            continue;
        };
        last = mark;
        let bytes = qp.received_size();
        if bytes == 0 || bytes > largest {
            let text = format!("a message of {bytes} B was announced, a size that is not in the case");
            return Err(Reason::new(Cause::CorruptData, text));
        }
        qp.mark(mark);
        qp.post_send(bytes, 0)?;
        served.fetch_add(1, Ordering::Relaxed);
    }
}
