//! A bounded queue of messages for one connection; the sender never blocks.
//!
//! An agent always reads, so a full queue means that the agent or the network has stopped: the connection is closed.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread;
use std::time::Duration;

use crate::frame::FrameError;

/// Most queued messages for one node. A node with a few hundred workers needs some hundreds.
pub(super) const MOST: usize = 16_384;

/// Silence before a sign of life is sent. The far end waits several times as long: [`SILENCE`](super::SILENCE).
pub(super) const BEAT: Duration = Duration::from_secs(10);

pub(super) struct Queue<T> {
    messages: Sender<T>,
    state: Arc<State>,
}

pub(super) struct Outgoing<T> {
    messages: Receiver<T>,
    state: Arc<State>,
}

struct State {
    most: usize,
    waiting: AtomicUsize,
    is_stuck: AtomicBool,
    stuck: Box<dyn Fn(String) + Send + Sync>,
}

impl<T> Clone for Queue<T> {
    fn clone(&self) -> Self {
        Self { messages: self.messages.clone(), state: Arc::clone(&self.state) }
    }
}

impl<T: Send> Outgoing<T> {
    /// An empty queue of at most `most` messages. `stuck` is called once, on a thread of its own, when the queue is
    /// full.
    pub(super) fn new(most: usize, stuck: impl Fn(String) + Send + Sync + 'static) -> (Queue<T>, Self) {
        let (sender, receiver) = mpsc::channel();
        let (waiting, is_stuck) = (AtomicUsize::new(0), AtomicBool::new(false));
        let state = Arc::new(State { most, waiting, is_stuck, stuck: Box::new(stuck) });
        (Queue { messages: sender, state: Arc::clone(&state) }, Self { messages: receiver, state })
    }
}

impl<T> Queue<T> {
    /// Queues a message without blocking; dropped when the connection is gone or stuck.
    pub(super) fn put(&self, message: T) {
        if self.state.is_stuck.load(Ordering::Relaxed) {
            return;
        }
        if self.state.waiting.fetch_add(1, Ordering::Relaxed) >= self.state.most {
            self.give_up(format!("{} messages are queued for it, and it reads none", self.state.most));
        } else if self.messages.send(message).is_err() {
            self.state.waiting.fetch_sub(1, Ordering::Relaxed);
        }
    }

    /// Closes the connection; its reader gets the reason.
    pub(super) fn give_up(&self, why: String) {
        if self.state.is_stuck.swap(true, Ordering::Relaxed) {
            return;
        }
        let state = Arc::clone(&self.state);
        // The receiver may be busy, and the sender must not block.
        let told = thread::Builder::new().name("stuck".to_owned()).spawn(move || (state.stuck)(why));
        if let Err(error) = told {
            tracing::error!("cannot start a thread to report a lost connection: {error}");
        }
    }
}

/// Sends messages until the queue is closed or the stream fails; `alive` is sent after that much silence.
pub(super) fn send_all<T>(
    queue: &Outgoing<T>,
    alive: Option<(&T, Duration)>,
    mut send: impl FnMut(&T) -> Result<(), FrameError>,
) {
    loop {
        let next = match alive {
            Some((_, beat)) => queue.messages.recv_timeout(beat),
            None => queue.messages.recv().map_err(RecvTimeoutError::from),
        };
        let sent = match (&next, alive) {
            (Ok(message), _) => {
                queue.state.waiting.fetch_sub(1, Ordering::Relaxed);
                send(message)
            }
            (Err(RecvTimeoutError::Timeout), Some((alive, _))) => send(alive),
            (Err(_), _) => return,
        };
        if let Err(error) = sent {
            // The read side reports the loss.
            tracing::debug!("cannot send a message to an agent: {error}");
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOON: Duration = Duration::from_secs(60);

    #[test]
    fn messages_come_out_in_order() {
        let (queue, outgoing) = Outgoing::new(MOST, |_| ());
        (0..100).for_each(|number| queue.put(number));
        drop(queue);
        let mut sent = Vec::new();
        send_all(&outgoing, None, |number| {
            sent.push(*number);
            Ok(())
        });
        assert_eq!(sent, (0..100).collect::<Vec<_>>());
        assert_eq!(outgoing.state.waiting.load(Ordering::Relaxed), 0);
    }

    #[test]
    fn who_takes_nothing_is_given_up_once_and_nobody_waits_for_it() {
        let (told, tells) = mpsc::channel();
        let (queue, outgoing) = Outgoing::new(9, move |why| told.send(why).expect("heard"));
        (0..100).for_each(|number| queue.put(number));
        let why = tells.recv_timeout(SOON).expect("told");
        assert!(why.contains("it reads none"), "{why}");
        queue.give_up("again".to_owned());
        assert!(tells.recv_timeout(Duration::from_millis(50)).is_err(), "told twice");
        assert_eq!(outgoing.messages.try_iter().count(), 9, "what waits is bounded");
    }

    #[test]
    fn while_there_is_nothing_to_say_signs_of_life_are_sent() {
        let (queue, outgoing) = Outgoing::new(MOST, |_| ());
        queue.put("command");
        let mut sent = Vec::new();
        send_all(&outgoing, Some((&"alive", Duration::from_millis(1))), |message| {
            sent.push(*message);
            if sent.len() < 3 { Ok(()) } else { Err(FrameError::TooLarge { bytes: 1 }) }
        });
        assert_eq!(sent, ["command", "alive", "alive"]);
    }

    #[test]
    fn a_stream_that_fails_ends_the_sending() {
        let (queue, outgoing) = Outgoing::new(MOST, |_| ());
        (0..3).for_each(|number| queue.put(number));
        let mut tries = 0;
        send_all(&outgoing, None, |_| {
            tries += 1;
            Err(FrameError::TooLarge { bytes: 1 })
        });
        assert_eq!(tries, 1);
    }
}
