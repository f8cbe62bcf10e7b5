//! The end that asks.

use std::io;
use std::net::TcpStream;
use std::time::Duration;

use seatrial_model::{Cause, Integrity, Nanos, Params, PartPlacement, Phase, Quantity, Reason, Sample};
use seatrial_sys::clock::now_ns;
use serde_json::json;
use socket2::SockRef;

use super::config::MtuConfig;
use super::control::Message;
use super::datagram::Datagrams;
use super::meet::{meet, own_mtu};
use super::search::{Fate, FoundMtu, search};
use seatrial_bench::Direction;
use seatrial_bench::{PeerAddress, beside, interface_of};
use seatrial_bench::{Prepared, Running, Sink, Stop};

/// How long the packet of each try may take after the sender has said that it is on its way, in milliseconds. A size
/// counts as lost after the last try. The waits grow, because most of a search on a path that loses packets is waiting: with
/// 200 ms for each try a path of 1504 B between interfaces of 9000 B came close to the time limit of a phase.
pub const WAITS_MS: [u32; 3] = [20, 60, 200];

/// The largest IP packet, tried where no interface tells its MTU.
pub const MOST: u32 = 65_535;

/// An answer over the connection comes within this, or the peer is dead.
const PATIENCE: Duration = Duration::from_secs(5);

pub struct MtuClient {
    stream: TcpStream,
    datagrams: Datagrams,
    sent: u64,
    bytes: u64,
    corrupt: Option<String>,
}

impl MtuClient {
    pub fn prepare(config: MtuConfig, place: &PartPlacement) -> Result<Prepared, Reason> {
        Prepared::new(place, (), move |peers| {
            let mut stream = PeerAddress::of(peers, "server")?.connect(&config.endpoint(), 0)?;
            stream.set_read_timeout(Some(PATIENCE)).map_err(|error| {
                Reason::new(Cause::IoError, format!("setting up the connection: {error}"))
            })?;
            let datagrams = meet(&mut stream)?;
            Ok(Self { stream, datagrams, sent: 0, bytes: 0, corrupt: None })
        })
    }

    /// One size, as often as it takes.
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
                self.corrupt = Some(format!("byte {at} of a packet of {size} B"));
                Fate::Arrived
            }
        })
    }

    fn search(&mut self, direction: Direction) -> Result<FoundMtu, Reason> {
        let Self { stream, datagrams, .. } = self;
        let (least, most) = (datagrams.least(), own_mtu(stream).map_or(MOST, |mtu| mtu.min(MOST)));
        let ends = format!("{:?} and {:?}", stream.local_addr().ok(), stream.peer_addr().ok());
        // The far end's interface may take more than ours: what it refuses to send costs a question only, and what it sends
        // and we do not take is a fault of the way that would else go unseen.
        let most = if direction == Direction::Reverse { MOST } else { most };
        search(least, most, |size| self.send(direction, size))?.ok_or_else(|| {
            let text = format!(
                "no packet of UDP gets through between {ends}, not even {least} B, while TCP does: look for a \
                 firewall"
            );
            Reason::new(Cause::IoError, text)
        })
    }
}

impl Running for MtuClient {
    /// Searches both ways until the time is over, once at least.
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
                let connection = json!({
                    "interface": interface_of(stream),
                    "ends": (stream.local_addr().ok(), stream.peer_addr().ok()),
                    "interface_mtu": own_mtu(stream),
                    "kernel_believes": datagrams.believed(),
                    "tcp_segment": SockRef::from(&*stream).tcp_mss().ok(),
                    "lost_above": { "forward": found[0].lost_above, "reverse": found[1].lost_above },
                });
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
