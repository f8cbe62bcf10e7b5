//! Options of the data connections, and when one is given up.

use std::io::{self, Read};
use std::net::TcpStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use seatrial_bench::Endpoint;
use seatrial_sys::net::tcp_info;
use socket2::{SockRef, TcpKeepalive};

/// Silence after which a connection asks whether the other side is there, and between two such questions.
const KEEPALIVE: (Duration, Duration) = (Duration::from_secs(10), Duration::from_secs(5));

/// Such questions without an answer after which the kernel ends the connection: as many as fill [`LOST_AFTER`].
const UNANSWERED: u32 = 28;

/// How long the other side may answer nothing that was sent. Not TCP_USER_TIMEOUT: with it the kernel ends a connection whose
/// window stays closed although the other side answers every probe (tcp_probe_timer), as that of a target that stands still.
const LOST_AFTER: Duration = Duration::from_secs(150);

/// So many times as long while the window is closed: probes come every 120 s at the latest (TCP_RTO_MAX), and one may be lost.
const CLOSED: u32 = 2;

/// How often a read that waits looks for answers.
const LOOK_EVERY: Duration = Duration::from_secs(10);

/// Has a connection end whose other side is gone without a word: by the kernel while nothing is under way, else by [`Watched`].
pub fn keep_alive(stream: &TcpStream) -> io::Result<()> {
    let (after, between) = KEEPALIVE;
    let asks = TcpKeepalive::new().with_time(after).with_interval(between).with_retries(UNANSWERED);
    SockRef::from(stream).set_tcp_keepalive(&asks)?;
    stream.set_read_timeout(Some(LOOK_EVERY))
}

/// The reading half of a connection. A target that stands still closes its window, and its kernel answers the probes for as long
/// as that takes; a read ends with [`io::ErrorKind::TimedOut`] when nothing is answered any more.
#[derive(Debug)]
pub struct Watched<'a> {
    stream: &'a TcpStream,
    lost_after: Duration,
}

impl<'a> Watched<'a> {
    pub fn new(stream: &'a TcpStream) -> Self {
        Self { stream, lost_after: LOST_AFTER }
    }

    /// Where the kernel does not tell, it has to end the connection itself (net.ipv4.tcp_retries2).
    fn is_lost(&self) -> bool {
        let Ok(info) = tcp_info(self.stream) else { return false };
        let is_asking = info.unacked > Some(0) || info.probes > Some(0);
        let silent = info.last_ack_recv_ms.min(info.last_data_recv_ms);
        let is_closed = info.probes > Some(0) || info.snd_wnd == Some(0);
        let patience = self.lost_after * if is_closed { CLOSED } else { 1 };
        is_asking && silent.is_some_and(|ms| Duration::from_millis(ms.into()) > patience)
    }
}

impl Read for Watched<'_> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        loop {
            match self.stream.read(into) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                read => return read,
            }
            if self.is_lost() {
                let text = "the other host answers nothing any more";
                return Err(io::Error::new(io::ErrorKind::TimedOut, text));
            }
        }
    }
}

/// An endpoint whose sockets have buffers of `window` bytes, and where the size stands that the kernel made of it, by `told`: 0
/// until there is a socket, and without a window.
pub fn endpoint(
    alone: bool,
    window: Option<u64>,
    told: fn(&SockRef<'_>) -> io::Result<usize>,
) -> (Endpoint, Arc<AtomicU64>) {
    let (mut endpoint, buffer) = (Endpoint::tcp(None, alone), Arc::<AtomicU64>::default());
    if let Some(window) = window {
        let buffer = Arc::clone(&buffer);
        endpoint.options = Arc::new(move |socket| {
            socket.set_send_buffer_size(window as usize)?;
            socket.set_recv_buffer_size(window as usize)?;
            buffer.store(told(&socket)? as u64, Ordering::Relaxed);
            Ok(())
        });
    }
    (endpoint, buffer)
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::net::{Ipv4Addr, TcpListener};
    use std::thread;
    use std::time::Instant;

    use socket2::SockFilter;

    use super::*;

    /// A connection, ours first, where a read that waits looks often.
    fn connected() -> (TcpStream, TcpStream) {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a port");
        let ours = TcpStream::connect(listener.local_addr().expect("bound")).expect("called");
        keep_alive(&ours).expect("set");
        ours.set_read_timeout(Some(Duration::from_millis(20))).expect("set");
        (ours, listener.accept().expect("accepted").0)
    }

    /// Whatever comes to this end is dropped, as by a link that is cut: a program of packets that returns 0 (BPF_RET).
    fn cut(stream: &TcpStream) {
        SockRef::from(stream).attach_filter(&[SockFilter::new(6, 0, 0, 0)]).expect("set");
    }

    /// Reads until an answer comes, or the connection is given up after this long without one.
    fn read(stream: &TcpStream, lost_after: Duration) -> io::Result<usize> {
        Watched { stream, lost_after }.read(&mut [0; 16])
    }

    const SHORT: Duration = Duration::from_millis(300);

    /// Longer than the first pauses between probes of a closed window, each twice the last: 0.2, 0.4 and 0.8 s. The second may
    /// have no answer: the kernel sends one in 0.5 s (net.ipv4.tcp_invalid_ratelimit).
    const BEYOND_PROBES: Duration = Duration::from_millis(1200);

    /// A deadline, which the machine may take its time to come to.
    const LONG: Duration = Duration::from_secs(60);

    #[test]
    fn a_target_that_stands_still_is_waited_for_and_one_that_is_gone_is_not() {
        let (mut ours, mut theirs) = connected();
        ours.set_nonblocking(true).expect("set");
        while ours.write(&[7; 64 << 10]).is_ok() {}
        ours.set_nonblocking(false).expect("set");
        thread::scope(|scope| {
            scope.spawn(|| {
                // It takes nothing, for as long as an answer may take, and then writes.
                thread::sleep(CLOSED * BEYOND_PROBES);
                theirs.write_all(b"done").expect("written");
            });
            assert_eq!(read(&ours, BEYOND_PROBES).expect("not given up"), 4);
        });
        cut(&theirs);
        let begin = Instant::now();
        let error = read(&ours, BEYOND_PROBES).expect_err("given up");
        assert_eq!(error.kind(), io::ErrorKind::TimedOut);
        assert!(begin.elapsed() < LONG, "{:?}", begin.elapsed());
    }

    #[test]
    fn data_that_nobody_acknowledges_ends_the_connection() {
        let (mut ours, theirs) = connected();
        cut(&theirs);
        let begin = Instant::now();
        ours.write_all(b"a question").expect("written");
        assert_eq!(read(&ours, SHORT).expect_err("given up").kind(), io::ErrorKind::TimedOut);
        assert!(begin.elapsed() < LONG, "{:?}", begin.elapsed());
    }

    #[test]
    fn the_kernel_does_not_end_a_connection_that_answers() {
        let (ours, _theirs) = connected();
        let socket = SockRef::from(&ours);
        assert_eq!(socket.tcp_user_timeout().expect("told"), None);
        let asked = KEEPALIVE.0 + KEEPALIVE.1 * socket.tcp_keepalive_retries().expect("told");
        assert_eq!(asked, LOST_AFTER);
    }
}
