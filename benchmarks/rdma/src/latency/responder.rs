//! The end that answers, from a thread of its own from the connection to the end of the trial, so that no message finds
//! it between two phases.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

use seatrial_model::Cause;

use super::ping_pong_qp::PingPongQp;
use seatrial_bench::Error;
use seatrial_bench::verbs::endpoint::pin;
use seatrial_bench::verbs::pattern::POISON;
use seatrial_bench::verbs::{RdmaConfig, RemoteCompletion};

/// The thread that answers.
pub struct Responder {
    over: Arc<AtomicBool>,
    served: Arc<AtomicU64>,
    failed: Arc<Mutex<Option<Error>>>,
    thread: Option<JoinHandle<()>>,
}

impl Responder {
    /// Starts it.
    ///
    /// # Errors
    /// When the system gives no thread.
    pub fn start(qp: PingPongQp, config: &RdmaConfig) -> Result<Self, Error> {
        let (over, served, failed) =
            (Arc::new(AtomicBool::new(false)), Arc::new(AtomicU64::new(0)), Arc::default());
        let own = (Arc::clone(&over), Arc::clone(&served), Arc::clone(&failed));
        let config = config.clone();
        let thread = std::thread::Builder::new().name("answer".to_owned()).spawn(move || {
            let (over, served, failed): (_, _, Arc<Mutex<Option<Error>>>) = own;
            let answered = pin(&config, 0).and_then(|()| match config.remote_completion() {
                RemoteCompletion::Polled => by_memory(qp, config.largest(), &over, &served),
                _ => by_completion(qp, config.largest(), &over, &served),
            });
            if let Err(error) = answered {
                *failed.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
            }
        });
        let thread = thread.map_err(|error| {
            Error::new(Cause::Denied, format!("cannot make a thread that answers: {error}"))
        })?;
        Ok(Self { over, served, failed, thread: Some(thread) })
    }

    pub fn served(&self) -> u64 {
        self.served.load(Ordering::Relaxed)
    }

    /// Its failure, once.
    ///
    /// # Errors
    /// That failure.
    pub fn check(&self) -> Result<(), Error> {
        match self.failed.lock().unwrap_or_else(PoisonError::into_inner).take() {
            Some(error) => Err(error),
            None => Ok(()),
        }
    }
}

impl Drop for Responder {
    fn drop(&mut self) {
        self.over.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn by_completion(
    mut qp: PingPongQp,
    largest: u64,
    over: &AtomicBool,
    served: &AtomicU64,
) -> Result<(), Error> {
    while !over.load(Ordering::Relaxed) {
        let Some(received) = qp.poll_recv()? else { continue };
        if received.bytes == 0 || received.bytes > largest {
            let text = format!("a message of {} B came, which nobody sent", received.bytes);
            return Err(Error::new(Cause::CorruptData, text));
        }
        qp.post_send(received.bytes, received.number.unwrap_or(0))?;
        served.fetch_add(1, Ordering::Relaxed);
    }
    Ok(())
}

fn by_memory(mut qp: PingPongQp, largest: u64, over: &AtomicBool, served: &AtomicU64) -> Result<(), Error> {
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
            let text = format!("a message of {bytes} B was announced, which nobody sends");
            return Err(Error::new(Cause::CorruptData, text));
        }
        qp.mark(mark);
        qp.post_send(bytes, 0)?;
        served.fetch_add(1, Ordering::Relaxed);
    }
}
