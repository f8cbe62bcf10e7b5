//! The answering end. Its thread runs from the connection to the end of the trial, so that no message arrives between
//! two phases.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use seatrial_model::{Cause, Reason};

use super::ping_pong_qp::PingPongQp;
use super::requester::announced_size;
use seatrial_bench::ServerThread;
use seatrial_bench::verbs::pattern::POISON;
use seatrial_bench::verbs::{RdmaConfig, RemoteCompletion};

pub struct Responder {
    served: Arc<AtomicU64>,
    thread: ServerThread,
}

impl Responder {
    pub fn start(mut qp: PingPongQp, config: &RdmaConfig) -> Result<Self, Reason> {
        let served = Arc::<AtomicU64>::default();
        let (own, completion, largest) = (Arc::clone(&served), config.remote_completion(), config.largest());
        let answer = move |over: &AtomicBool| match completion {
            RemoteCompletion::Polled => by_memory(&mut qp, largest, over, &own),
            _ => by_completion(&mut qp, largest, over, &own),
        };
        Ok(Self { served, thread: ServerThread::start(Vec::new(), config.cpu(0), answer)? })
    }

    pub fn served(&self) -> u64 {
        self.served.load(Ordering::Relaxed)
    }

    pub fn check(&mut self) -> Result<(), Reason> {
        if self.thread.is_finished() { self.thread.end() } else { Ok(()) }
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
            let text = format!("a message of {} B arrived, a size that was not sent", received.bytes);
            return Err(Reason::new(Cause::CorruptData, text));
        }
        qp.post_send(received.bytes, received.number.unwrap_or(0))?;
        served.fetch_add(1, Ordering::Relaxed);
    }
    Ok(())
}

fn by_memory(qp: &mut PingPongQp, largest: u64, over: &AtomicBool, served: &AtomicU64) -> Result<(), Reason> {
    // The initial value of the memory; the first message may have arrived before this thread starts.
    let mut last = POISON;
    let mut confirmed = None;
    loop {
        let Some(mark) = qp.poll_once(|mark| mark != last) else {
            if over.load(Ordering::Relaxed) {
                return Ok(());
            }
            std::thread::yield_now();
            continue;
        };
        last = mark;
        let word = qp.announced();
        let bytes = announced_size(word);
        if bytes == 0 || bytes > largest {
            if qp.is_unreliable() {
                // The announcement was lost; the requester sends it again.
                continue;
            }
            let text = format!("a message of {bytes} B was announced, a size that is not part of the case");
            return Err(Reason::new(Cause::CorruptData, text));
        }
        if qp.is_unreliable() && confirmed != Some(word) {
            qp.announce(word)?;
            confirmed = Some(word);
        }
        qp.mark(mark);
        qp.post_send(bytes, 0)?;
        served.fetch_add(1, Ordering::Relaxed);
    }
}
