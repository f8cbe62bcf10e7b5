//! The control messages of the two ends: lines of JSON on an authenticated connection.

use std::io::{Read, Write};
use std::net::{IpAddr, TcpStream};
use std::time::{Duration, Instant};

use seatrial_model::{Cause, Reason};
use serde::{Deserialize, Serialize};

use seatrial_bench::{REPLY_TIMEOUT, is_timeout};

/// Bytes of the longest line: the counts of every flow.
const LONGEST: usize = 1 << 16;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Said {
    /// A sending end, before the first phase.
    Offered {
        /// The secret at the start of its datagrams.
        cookie: u64,
        message: usize,
    },
    Ready(u16),
    /// An end has sent these numbers of datagrams in this phase, by flow, and sends no more.
    Ended(u16, Vec<u64>),
    /// The searching end continues with a step, which is the phase of this number.
    Step(u16),
    /// The other end received this many different datagrams of the step, and lost this many.
    Counted(u16, u64, u64),
    Searched,
}

#[derive(Debug)]
pub struct Control {
    stream: TcpStream,
    heard: Vec<u8>,
}

impl Control {
    pub fn new(stream: TcpStream) -> Result<Self, Reason> {
        stream.set_write_timeout(Some(REPLY_TIMEOUT)).map_err(|error| broken(&error))?;
        Ok(Self { stream, heard: Vec::new() })
    }

    pub fn peer(&self) -> Result<IpAddr, Reason> {
        self.stream.peer_addr().map(|at| at.ip().to_canonical()).map_err(|error| broken(&error))
    }

    pub fn own(&self) -> Result<IpAddr, Reason> {
        self.stream.local_addr().map(|at| at.ip().to_canonical()).map_err(|error| broken(&error))
    }

    pub fn stream(&self) -> &TcpStream {
        &self.stream
    }

    pub fn say(&mut self, said: &Said) -> Result<(), Reason> {
        let mut line = serde_json::to_vec(said).map_err(|error| garbled(&error.to_string()))?;
        line.push(b'\n');
        self.stream.write_all(&line).map_err(|error| broken(&error))
    }

    /// The next line, if one arrives within the time.
    pub fn hear(&mut self, within: Duration) -> Result<Option<Said>, Reason> {
        let until = Instant::now() + within;
        loop {
            if let Some(end) = self.heard.iter().position(|byte| *byte == b'\n') {
                let line: Vec<u8> = self.heard.drain(..=end).collect();
                return serde_json::from_slice(&line).map(Some).map_err(|error| garbled(&error.to_string()));
            }
            if self.heard.len() > LONGEST {
                return Err(garbled("a line that is too long"));
            }
            let left = until.saturating_duration_since(Instant::now()).max(Duration::from_micros(1));
            self.stream.set_read_timeout(Some(left)).map_err(|error| broken(&error))?;
            let mut more = [0; 4096];
            match self.stream.read(&mut more) {
                Ok(0) => {
                    return Err(Reason::new(
                        Cause::PartnerLost,
                        "the other end closed the control connection",
                    ));
                }
                Ok(read) => self.heard.extend_from_slice(&more[..read]),
                Err(error) if is_timeout(&error) => {}
                Err(error) => return Err(broken(&error)),
            }
            // A complete line is returned even if it took all the time.
            if Instant::now() >= until && !self.heard.contains(&b'\n') {
                return Ok(None);
            }
        }
    }
}

fn broken(error: &std::io::Error) -> Reason {
    Reason::new(Cause::PartnerLost, format!("the control connection to the other end: {error}"))
}

fn garbled(why: &str) -> Reason {
    Reason::new(Cause::Protocol, format!("the other end sent an invalid control message: {why}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::TcpListener;

    fn ends() -> (Control, TcpStream) {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let ours = TcpStream::connect(listener.local_addr().expect("told")).expect("connected");
        (Control::new(ours).expect("set up"), listener.accept().expect("accepted").0)
    }

    #[test]
    fn lines_are_heard_whole_however_they_come() {
        let (mut ours, theirs) = ends();
        assert_eq!(ours.hear(Duration::from_millis(1)), Ok(None));
        let mut other = Control::new(theirs.try_clone().expect("a second one")).expect("set up");
        other.say(&Said::Ready(1)).and_then(|()| other.say(&Said::Ended(1, vec![7, 8]))).expect("said");
        let (first, second) = b"{\"ready\":2}\n".split_at(5);
        (&theirs).write_all(first).expect("written");
        let wait = Duration::from_secs(30);
        assert_eq!(ours.hear(wait), Ok(Some(Said::Ready(1))));
        assert_eq!(ours.hear(wait), Ok(Some(Said::Ended(1, vec![7, 8]))));
        assert_eq!(ours.hear(Duration::from_millis(1)), Ok(None), "half a line is none");
        (&theirs).write_all(second).expect("written");
        assert_eq!(ours.hear(wait), Ok(Some(Said::Ready(2))));
    }

    #[test]
    fn an_end_that_goes_or_raves_is_told_from_one_that_is_silent() {
        let (mut ours, theirs) = ends();
        (&theirs).write_all(b"hello\n").expect("written");
        assert_eq!(ours.hear(Duration::from_secs(30)).expect_err("no message").cause, Cause::Protocol);
        drop(theirs);
        assert_eq!(ours.hear(Duration::from_secs(30)).expect_err("gone").cause, Cause::PartnerLost);
    }
}
