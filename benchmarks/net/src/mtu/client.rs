//! The searching end.

use std::io;
use std::net::TcpStream;

use seatrial_model::{Cause, Integrity, Nanos, Params, Phase, Quantity, Reason, Sample};
use seatrial_sys::clock::now_ns;
use serde_json::json;
use socket2::SockRef;

use super::control::Message;
use super::datagram::Datagrams;
use super::meet::{meet, own_mtu};
use super::search::{Fate, FoundMtu, search};
use seatrial_bench::Direction;
use seatrial_bench::{REPLY_TIMEOUT, beside, connection_evidence, setting_up};
use seatrial_bench::{Running, Sink, Stop};

/// How long the packet of each try may take after the sender has reported it sent, in milliseconds. A size counts as
/// lost after the last try. The waits grow, because a search on a path that loses packets mostly waits: with 200 ms
/// for each try a path of 1504 B between interfaces of 9000 B came close to the time limit of a phase.
pub const WAITS_MS: [u32; 3] = [20, 60, 200];

/// The largest IP packet, tried if no interface's MTU is known.
pub const MOST: u32 = 65_535;

pub struct MtuClient {
    stream: TcpStream,
    datagrams: Datagrams,
    sent: u64,
    bytes: u64,
    corrupt: Option<String>,
}

impl MtuClient {
    pub fn begin(mut streams: Vec<TcpStream>) -> Result<Self, Reason> {
        let mut stream = streams.remove(0);
        stream.set_read_timeout(Some(REPLY_TIMEOUT)).map_err(setting_up)?;
        let datagrams = meet(&mut stream)?;
        Ok(Self { stream, datagrams, sent: 0, bytes: 0, corrupt: None })
    }

    fn send(&mut self, direction: Direction, size: u32) -> Result<Fate, Reason> {
        for wait_ms in WAITS_MS {
            let fate = self
                .try_once(direction, size, wait_ms)
                .map_err(|error| beside(&format!("a packet of {size} B"), &error))?;
            if fate != Fate::Lost {
                return Ok(fate);
            }
        }
        Ok(Fate::Lost)
    }

    fn try_once(&mut self, direction: Direction, size: u32, wait_ms: u32) -> io::Result<Fate> {
        let number = self.sent;
        self.sent += 1;
        let Self { stream, datagrams, .. } = self;
        let arrived = match direction {
            Direction::Forward => {
                match datagrams.send(number, size)? {
                    Fate::Arrived => {}
                    other => return Ok(other),
                }
                Message::Expect { number, size, wait_ms }.write(stream)?;
                match Message::read(stream)? {
                    Message::Yes => Ok(true),
                    _ => Ok(false),
                }
            }
            Direction::Reverse => {
                Message::Send { number, size }.write(stream)?;
                match Message::read(stream)? {
                    Message::Yes => datagrams.arrives(number, size, wait_ms)?,
                    Message::Refused => return Ok(Fate::Refused),
                    _ => Ok(false),
                }
            }
        };
        Ok(match arrived {
            Ok(true) => {
                self.bytes += u64::from(size);
                Fate::Arrived
            }
            Ok(false) => Fate::Lost,
            Err(at) => {
                self.corrupt = Some(format!("byte {at} of a packet of {size} B is wrong"));
                Fate::Arrived
            }
        })
    }

    fn search(&mut self, direction: Direction) -> Result<FoundMtu, Reason> {
        let Self { stream, datagrams, .. } = self;
        let (least, most) = (datagrams.least(), own_mtu(stream).map_or(MOST, |mtu| mtu.min(MOST)));
        let ends = format!("{:?} and {:?}", stream.local_addr().ok(), stream.peer_addr().ok());
        // The far end's interface may have a larger MTU than this one. A size that it refuses to send costs one
        // message; a packet that it sends and this end cannot receive is a fault of the path.
        let most = if direction == Direction::Reverse { MOST } else { most };
        search(least, most, |size| self.send(direction, size))?.ok_or_else(|| {
            let text = format!(
                "no UDP packet gets through between {ends}, not even {least} B, although TCP does: check for a \
                 firewall that drops UDP"
            );
            Reason::new(Cause::IoError, text)
        })
    }
}

impl Running for MtuClient {
    /// Searches both directions until the time is over, once at least.
    fn run(&mut self, phase: Phase, stop: &Stop, out: &mut dyn Sink) -> Result<(), Reason> {
        if phase != Phase::Measure {
            stop.rest(stop.left());
            return Ok(());
        }
        loop {
            let mut found = Vec::new();
            for direction in Direction::ALL {
                let channel = direction.word();
                let start = Nanos(now_ns());
                let one = self.search(direction)?;
                let (span, largest) = ((start, Nanos(now_ns())), Quantity::bytes(one.largest.into()));
                out.sample(Sample::new(channel, Params::default(), span, largest));
                found.push(one);
            }
            if stop.is_over() {
                let Self { stream, datagrams, .. } = self;
                let mut connection = connection_evidence(stream);
                connection["interface_mtu"] = json!(own_mtu(stream));
                connection["kernel_believes"] = json!(datagrams.believed());
                connection["tcp_segment"] = json!(SockRef::from(&*stream).tcp_mss().ok());
                connection["lost_above"] =
                    json!({ "forward": found[0].lost_above, "reverse": found[1].lost_above });
                out.evidence("connection", connection);
                return Ok(());
            }
        }
    }

    fn verify(&mut self) -> Result<Integrity, Reason> {
        Ok(match &self.corrupt {
            Some(first) => Integrity::Corrupt { wrong: 1, of: self.sent, first: first.clone() },
            None => Integrity::Verified { checked: self.bytes },
        })
    }
}
