//! Messages over TCP connections, cut into a piece for each of several interfaces.

use std::io::{self, ErrorKind, Read, Write};
use std::mem;
use std::net::TcpStream;
use std::ops::Range;
use std::time::Instant;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::net::{self, RecvFlags, SendFlags};
use seatrial_model::{Cause, Reason};

use seatrial_bench::pingpong::{Buffers, PingPongTransport};
use seatrial_bench::{REPLY_TIMEOUT, setting_up};

/// Pieces of a message are no smaller, so that each fills packets of its own: smaller messages use fewer interfaces.
const LEAST_PIECE: usize = 4096;

/// Bytes of the piece of a message of `bytes` that each of `rails` interfaces carries; the last may have fewer.
pub fn piece(bytes: usize, rails: usize) -> usize {
    bytes.div_ceil(rails).max(LEAST_PIECE)
}

/// The connections of a trial: one for the commands, and one for all sizes or one for each, over every interface.
pub struct TcpTransport {
    /// By connection, then by interface.
    streams: Vec<Vec<TcpStream>>,
    current: usize,
}

impl TcpTransport {
    /// Of the connections over each interface.
    pub fn new(by_rail: Vec<Vec<TcpStream>>) -> Result<Self, Reason> {
        for stream in by_rail.iter().flatten() {
            let limits = stream
                .set_read_timeout(Some(REPLY_TIMEOUT))
                .and_then(|()| stream.set_write_timeout(Some(REPLY_TIMEOUT)));
            limits.map_err(setting_up)?;
        }
        let mut rails: Vec<_> = by_rail.into_iter().map(Vec::into_iter).collect();
        let mut streams = Vec::new();
        while let Some(over_all) = rails.iter_mut().map(Iterator::next).collect::<Option<Vec<_>>>() {
            if over_all.is_empty() {
                break;
            }
            streams.push(over_all);
        }
        if streams.is_empty() {
            return Err(Reason::new(Cause::Protocol, "no connection was made"));
        }
        Ok(Self { streams, current: 0 })
    }

    fn write(&mut self, message: &[u8]) -> Result<(), Reason> {
        if self.is_split(message.len()) {
            return self.both(message, &mut []);
        }
        let stream = &mut self.streams[self.current][0];
        stream.write_all(message).map_err(|error| told("sending a message", &error))
    }

    fn read(&mut self, message: &mut [u8]) -> Result<(), Reason> {
        if self.is_split(message.len()) {
            return self.both(&[], message);
        }
        let stream = &mut self.streams[self.current][0];
        stream.read_exact(message).map_err(|error| told("receiving a message", &error))
    }

    fn is_split(&self, bytes: usize) -> bool {
        bytes > piece(bytes, self.streams[self.current].len())
    }

    pub fn both(&mut self, out: &[u8], into: &mut [u8]) -> Result<(), Reason> {
        let streams = &self.streams[self.current];
        let rails = streams.len();
        let mut outs = out.chunks(piece(out.len(), rails));
        let mut intos = into.chunks_mut(piece(into.len(), rails));
        let lane = |stream| Lane {
            stream,
            out: outs.next().unwrap_or_default(),
            into: intos.next().unwrap_or_default(),
        };
        let mut lanes: Vec<Lane<'_>> = streams.iter().map(lane).collect();
        both_ways(&mut lanes).map_err(|error| told("exchanging messages", &error))
    }

    /// The connections in use, one over each interface.
    pub fn over_each(&self) -> &[TcpStream] {
        &self.streams[self.current]
    }
}

fn told(doing: &str, error: &io::Error) -> Reason {
    match error.kind() {
        ErrorKind::UnexpectedEof => {
            Reason::new(Cause::PartnerLost, format!("{doing}: the peer closed the connection"))
        }
        ErrorKind::WouldBlock | ErrorKind::TimedOut => {
            let text = format!("{doing}: no data moved for {} s", REPLY_TIMEOUT.as_secs());
            Reason::new(Cause::IoError, text)
        }
        _ => Reason::new(Cause::IoError, format!("{doing}: {error}")),
    }
}

impl PingPongTransport for TcpTransport {
    fn switch_to(&mut self, number: usize) -> Result<(), Reason> {
        self.current = if self.streams.len() == 1 { 0 } else { number };
        if self.current < self.streams.len() {
            return Ok(());
        }
        self.current = 0;
        Err(Reason::new(Cause::Protocol, format!("there is no connection {number}")))
    }

    fn wait(&mut self) -> Result<bool, Reason> {
        let mut byte = [0];
        loop {
            match self.over_each()[0].peek(&mut byte) {
                Ok(count) => return Ok(count > 0),
                Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted) => {}
                Err(error) if error.kind() == ErrorKind::ConnectionReset => return Ok(false),
                Err(error) => return Err(told("waiting for a command", &error)),
            }
        }
    }

    fn tell(&mut self, bytes: &[u8]) -> Result<(), Reason> {
        self.write(bytes)
    }

    fn hear(&mut self, bytes: &mut [u8]) -> Result<(), Reason> {
        self.read(bytes)
    }

    fn send(&mut self, memory: &Buffers, message: Range<usize>) -> Result<(), Reason> {
        self.write(memory.own(message)?)
    }

    fn receive(&mut self, memory: &mut Buffers, message: Range<usize>) -> Result<(), Reason> {
        self.read(memory.own_both(0..0, message)?.1)
    }

    fn exchange(
        &mut self,
        memory: &mut Buffers,
        out: Range<usize>,
        into: Range<usize>,
    ) -> Result<(), Reason> {
        let (out, into) = memory.own_both(out, into)?;
        self.both(out, into)
    }
}

/// What is left to send and to receive over one connection.
struct Lane<'a> {
    stream: &'a TcpStream,
    out: &'a [u8],
    into: &'a mut [u8],
}

impl Lane<'_> {
    /// Bytes that the socket takes and has at once.
    fn turn(&mut self) -> io::Result<usize> {
        let mut moved = 0;
        if !self.out.is_empty() {
            let flags = SendFlags::DONTWAIT | SendFlags::NOSIGNAL;
            let sent = if_ready(net::send(self.stream, self.out, flags))?.unwrap_or(0);
            self.out = &self.out[sent..];
            moved += sent;
        }
        if !self.into.is_empty() {
            match if_ready(net::recv(self.stream, &mut *self.into, RecvFlags::DONTWAIT))? {
                Some((_, 0)) => return Err(ErrorKind::UnexpectedEof.into()),
                Some((_, received)) => {
                    self.into = &mut mem::take(&mut self.into)[received..];
                    moved += received;
                }
                None => {}
            }
        }
        Ok(moved)
    }

    fn is_done(&self) -> bool {
        self.out.is_empty() && self.into.is_empty()
    }

    fn awaited(&self) -> PollFd<'_> {
        let mut flags = PollFlags::empty();
        flags.set(PollFlags::OUT, !self.out.is_empty());
        flags.set(PollFlags::IN, !self.into.is_empty());
        PollFd::new(self.stream, flags)
    }
}

/// Sends and receives over all connections, and sleeps when none of the sockets allows either.
fn both_ways(lanes: &mut [Lane<'_>]) -> io::Result<()> {
    let mut last = Instant::now();
    loop {
        let mut moved = 0;
        for lane in lanes.iter_mut() {
            moved += lane.turn()?;
        }
        if lanes.iter().all(Lane::is_done) {
            return Ok(());
        }
        if moved > 0 {
            last = Instant::now();
            continue;
        }
        if last.elapsed() > REPLY_TIMEOUT {
            return Err(ErrorKind::TimedOut.into());
        }
        let mut awaited: Vec<PollFd<'_>> =
            lanes.iter().filter(|lane| !lane.is_done()).map(Lane::awaited).collect();
        let at_most = Timespec { tv_sec: 0, tv_nsec: 100_000_000 };
        match poll(&mut awaited, Some(&at_most)) {
            Ok(_) | Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
}

fn if_ready<T>(moved: Result<T, Errno>) -> io::Result<Option<T>> {
    match moved {
        Ok(moved) => Ok(Some(moved)),
        Err(Errno::AGAIN | Errno::INTR) => Ok(None),
        Err(error) => Err(error.into()),
    }
}
