//! Messages over TCP connections.

use std::io::{self, ErrorKind, Read, Write};
use std::net::TcpStream;
use std::ops::Range;
use std::time::Instant;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use seatrial_model::{Cause, Reason};

use seatrial_bench::pingpong::{Buffers, PingPongTransport};
use seatrial_bench::{REPLY_TIMEOUT, setting_up};

/// The connections of a trial: one for the commands, and one for all sizes or one for each.
pub struct TcpTransport {
    streams: Vec<TcpStream>,
    current: usize,
}

impl TcpTransport {
    pub fn new(streams: Vec<TcpStream>) -> Result<Self, Reason> {
        if streams.is_empty() {
            return Err(Reason::new(Cause::Protocol, "no connection was made"));
        }
        for stream in &streams {
            let limits = stream
                .set_read_timeout(Some(REPLY_TIMEOUT))
                .and_then(|()| stream.set_write_timeout(Some(REPLY_TIMEOUT)));
            limits.map_err(setting_up)?;
        }
        Ok(Self { streams, current: 0 })
    }

    fn write(&mut self, message: &[u8]) -> Result<(), Reason> {
        let stream = &mut self.streams[self.current];
        stream.write_all(message).map_err(|error| told("sending a message", &error))
    }

    fn read(&mut self, message: &mut [u8]) -> Result<(), Reason> {
        let stream = &mut self.streams[self.current];
        stream.read_exact(message).map_err(|error| told("receiving a message", &error))
    }

    pub fn both(&mut self, out: &[u8], into: &mut [u8]) -> Result<(), Reason> {
        let stream = &mut self.streams[self.current];
        stream.set_nonblocking(true).map_err(|error| told("exchanging messages", &error))?;
        let exchanged = both_ways(stream, out, into);
        stream.set_nonblocking(false).map_err(|error| told("exchanging messages", &error))?;
        exchanged.map_err(|error| told("exchanging messages", &error))
    }

    pub fn stream(&self) -> &TcpStream {
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
            match self.stream().peek(&mut byte) {
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

/// Sends and receives, and sleeps when the socket allows neither.
fn both_ways(stream: &mut TcpStream, out: &[u8], into: &mut [u8]) -> io::Result<()> {
    let (mut sent, mut received) = (0, 0);
    let mut last = Instant::now();
    while sent < out.len() || received < into.len() {
        let before = sent + received;
        if sent < out.len() {
            sent += if_ready(stream.write(&out[sent..]))?;
        }
        if received < into.len() {
            match stream.read(&mut into[received..]) {
                Ok(0) => return Err(ErrorKind::UnexpectedEof.into()),
                other => received += if_ready(other)?,
            }
        }
        if sent + received > before {
            last = Instant::now();
            continue;
        }
        if last.elapsed() > REPLY_TIMEOUT {
            return Err(ErrorKind::TimedOut.into());
        }
        let mut wanted = PollFlags::empty();
        wanted.set(PollFlags::OUT, sent < out.len());
        wanted.set(PollFlags::IN, received < into.len());
        let at_most = Timespec { tv_sec: 0, tv_nsec: 100_000_000 };
        match poll(&mut [PollFd::new(&*stream, wanted)], Some(&at_most)) {
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}

fn if_ready(moved: io::Result<usize>) -> io::Result<usize> {
    match moved {
        Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted) => Ok(0),
        other => other,
    }
}
