//! A thread that serves the peer for the whole connection, so that no request arrives between two phases.

use std::net::{Shutdown, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use seatrial_model::{Cause, Integrity, Reason};

use crate::{Answers, Stop, ThreadSpec, ThreadTeam};

/// How often a phase checks whether the peer is gone; the measurement does not wait for it. The serving thread may
/// share this CPU.
const POLL_INTERVAL: Duration = Duration::from_millis(100);

type Serve = Box<dyn FnOnce(&AtomicBool) -> Result<(), Reason> + Send>;

/// Drop closes the connections and waits until the thread has ended.
pub struct ServerThread {
    /// Closing these wakes the thread.
    streams: Vec<TcpStream>,
    over: Arc<AtomicBool>,
    /// `None` once the thread's result was taken.
    ended: Option<Answers<()>>,
    thread: ThreadTeam<'static, Option<Serve>>,
}

impl ServerThread {
    /// Starts `serve` on this CPU, or unpinned. The thread ends when one of `streams` is closed, or when its flag is
    /// set.
    pub fn start(
        streams: Vec<TcpStream>,
        cpu: Option<u32>,
        serve: impl FnOnce(&AtomicBool) -> Result<(), Reason> + Send + 'static,
    ) -> Result<Self, Reason> {
        let over = Arc::new(AtomicBool::new(false));
        let (told, serve): (_, Serve) = (Arc::clone(&over), Box::new(serve));
        let spec = ThreadSpec::new("serve", cpu);
        let thread = ThreadTeam::start([(spec, move || Ok(Some(serve)))], "fewer programs beside it")?;
        let ended = thread.begin([0], move |_, serve| serve.take().map_or(Ok(()), |serve| serve(&told)));
        Ok(Self { streams, over, ended: Some(ended), thread })
    }

    /// Waits for the end of the phase. `told_by_control`: whether closing the connection ends it too, for a thread
    /// that would not notice.
    ///
    /// # Errors
    /// When the thread has ended or the peer is gone.
    pub fn wait(&mut self, stop: &Stop, told_by_control: bool) -> Result<(), Reason> {
        while !stop.is_over() {
            if self.is_finished() || told_by_control && self.is_hung_up() {
                let lost = Reason::new(Cause::PartnerLost, "the other end closed the connection");
                return self.end().and(Err(lost));
            }
            stop.rest(POLL_INTERVAL);
        }
        Ok(())
    }

    pub fn is_finished(&self) -> bool {
        self.thread.owed() == 0
    }

    /// The control connection.
    pub fn control(&self) -> Option<&TcpStream> {
        self.streams.first()
    }

    fn is_hung_up(&self) -> bool {
        let mut byte = [0];
        let closed = |stream: &TcpStream| {
            stream.set_nonblocking(true).is_ok() && matches!(stream.peek(&mut byte), Ok(0))
        };
        self.control().is_some_and(closed)
    }

    /// Waits for the end of the thread; returns its result, the first time.
    pub fn end(&mut self) -> Result<(), Reason> {
        self.over.store(true, Ordering::Relaxed);
        self.ended.take().map_or(Ok(()), |ended| ended.collect(Duration::MAX).map(drop))
    }

    /// What it found of the data: `otherwise`, unless the thread ended because one of `of` units was corrupt.
    pub fn verify(&mut self, of: u64, otherwise: Integrity) -> Result<Integrity, Reason> {
        let outcome = if self.is_finished() { self.end() } else { Ok(()) };
        Integrity::of_check(outcome.map(|()| otherwise), of)
    }
}

impl Drop for ServerThread {
    fn drop(&mut self) {
        for stream in &self.streams {
            let _ = stream.shutdown(Shutdown::Both);
        }
        self.over.store(true, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Read;
    use std::net::TcpListener;

    fn ends() -> (TcpStream, TcpStream) {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let ours = TcpStream::connect(listener.local_addr().expect("told")).expect("connected");
        (ours, listener.accept().expect("accepted").0)
    }

    fn reading(mut stream: TcpStream) -> impl FnOnce(&AtomicBool) -> Result<(), Reason> + Send {
        move |_| {
            let _ = stream.read(&mut [0]);
            Ok(())
        }
    }

    #[test]
    fn a_thread_that_is_dropped_is_woken_and_leaves() {
        let (ours, theirs) = ends();
        let copy = ours.try_clone().expect("a copy");
        drop(ServerThread::start(vec![copy], None, reading(ours)).expect("a thread"));
        drop(theirs);
    }

    #[test]
    fn a_phase_ends_by_itself_and_soon_when_the_other_end_goes() {
        let (ours, theirs) = ends();
        let copy = ours.try_clone().expect("a copy");
        let mut server = ServerThread::start(vec![copy], None, reading(ours)).expect("a thread");
        server.wait(&Stop::after(Duration::from_millis(20)), false).expect("nothing happened");
        drop(theirs);
        let lost = server.wait(&Stop::after(Duration::from_secs(600)), false).expect_err("gone");
        assert_eq!(lost.cause, Cause::PartnerLost);
    }

    #[test]
    fn one_that_looks_only_at_its_orders_is_told_by_the_connection_beside_it() {
        let (ours, theirs) = ends();
        let wait = |over: &AtomicBool| {
            while !over.load(Ordering::Relaxed) {
                std::thread::sleep(Duration::from_millis(1));
            }
            Err(Reason::new(Cause::CorruptData, "what it found"))
        };
        let mut server = ServerThread::start(vec![ours], None, wait).expect("a thread");
        drop(theirs);
        let found = server.wait(&Stop::after(Duration::from_secs(600)), true).expect_err("gone");
        assert_eq!(found.cause, Cause::CorruptData, "the thread's own word goes first");
        assert!(server.end().is_ok(), "and is told once");
    }
}
