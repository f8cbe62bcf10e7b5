//! One end of one flow: moves data until the next order, and reports what it moved.

use std::net::TcpStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use seatrial_model::{Binding, Cause, Integrity, Reason};
use seatrial_sys::Errno;
use seatrial_sys::clock::now_ns;
use seatrial_sys::net::{Pull, Push, Source, ThreadTime, tcp_info};

use super::config::{Name, TcpStreamConfig};
use super::kernel::{self, Left};
use super::meter::{Meter, Slice};
use super::method::{Method, Receiving, Sending};
use super::moderation::Moderation;
use super::record::{End, Socket, TcpCounts};
use super::rest::Resting;
use crate::byte_stream::closing::{self, PATIENCE};
use crate::byte_stream::pattern::{Check, PERIOD};

#[derive(Debug)]
pub struct Lap {
    pub end: End,
    /// Why the ordered method could not be used; the previous method continued.
    pub refused: Option<Errno>,
    pub slices: Vec<Slice>,
}

pub struct Flow {
    name: Name,
    stream: TcpStream,
    binding: Option<Binding>,
    /// Number of orders so far; a lap ends when it exceeds the lap's own order.
    orders: Arc<AtomicU32>,
    protocol: String,
    side: Side,
    moderation: Moderation,
}

enum Side {
    Sender {
        source: Arc<Source>,
        push: Option<(Sending, Box<dyn Push>)>,
        total: u64,
    },
    Receiver {
        room: usize,
        rest: Duration,
        pull: Option<(Receiving, Box<dyn Pull>)>,
        meter: Meter,
        check: Check,
    },
}

impl Flow {
    pub fn new(
        config: &TcpStreamConfig,
        (name, stream): (Name, TcpStream),
        binding: Option<Binding>,
        orders: Arc<AtomicU32>,
        source: Arc<Source>,
    ) -> Self {
        let side = if config.sends(name) {
            Side::Sender { source, push: None, total: 0 }
        } else {
            let meter = Meter::new(config.slice_ns, config.slices);
            Side::Receiver { room: config.room, rest: config.rest, pull: None, meter, check: Check::new() }
        };
        let protocol = config.protocol.clone();
        Self { name, stream, binding, orders, protocol, side, moderation: Moderation::default() }
    }

    pub fn lap(&mut self, methods: (Sending, Receiving), record: bool, order: u32) -> Result<Lap, Reason> {
        let mut lap = self.moved(methods, record, order)?;
        if let (Side::Receiver { room, .. }, "tcp") = (&self.side, self.protocol.as_str()) {
            lap.end.wake_bytes = self.moderation.bytes();
            self.moderation.adapt(&self.stream, lap.end.bytes, lap.end.window_ns, *room);
        }
        Ok(lap)
    }

    fn moved(&mut self, methods: (Sending, Receiving), record: bool, order: u32) -> Result<Lap, Reason> {
        let side = &mut self.side;
        let refused = side.take_up(&self.stream, methods).map_err(|error| failed(self.name, error))?;
        let bytes = side.total();
        let tcp = tcp_info(&self.stream).ok();
        let took = ThreadTime::now();
        let start_ns = now_ns();
        if let (Side::Receiver { meter, .. }, true) = (&mut *side, record) {
            meter.open(start_ns);
        }
        let left = side.go(&self.orders, order);
        let end_ns = now_ns();
        let took = ThreadTime::now().and_then(|now| took.map(|then| now.since(&then)));
        let tcp = TcpCounts::between(tcp, tcp_info(&self.stream).ok());
        match left {
            Left::Ordered => {}
            Left::Ended => {
                let text = format!("{}: the peer closed the connection", self.name);
                return Err(Reason::new(Cause::PartnerLost, text));
            }
            Left::Failed(error) => return Err(failed(self.name, error)),
        }
        let mut end = End {
            way: self.name.direction,
            flow: self.name.flow,
            sends: matches!(side, Side::Sender { .. }),
            method: side.method().to_owned(),
            cpu: self.binding.map(|binding| binding.cpu),
            window_ns: end_ns - start_ns,
            bytes: side.total() - bytes,
            user_ns: 0,
            system_ns: 0,
            waited_ns: None,
            rested_ns: 0,
            socket: Socket::of(&self.stream),
            tcp,
            zero_copied: None,
            mapped_bytes: None,
            wake_bytes: None,
            drained: None,
        };
        if let Ok(took) = took {
            end.took(took);
        }
        let mut slices = Vec::new();
        match side {
            Side::Sender { push, .. } => end.lent(push.as_ref().and_then(|(_, push)| push.zero_copied())),
            Side::Receiver { pull, meter, check, rest, .. } => {
                slices = meter.close(end_ns).to_vec();
                if let Some((_, pull)) = pull {
                    end.mapped_bytes = pull.mapped();
                    let last = pull.last();
                    check.check_bytes(last, meter.total - last.len() as u64);
                }
                if !rest.is_zero() {
                    end.rested_ns = end.window_ns.saturating_sub(end.cpu_ns() + end.waited_ns.unwrap_or(0));
                }
            }
        }
        Ok(Lap { end, refused, slices })
    }

    pub fn end(&mut self) -> Result<Integrity, Reason> {
        self.moderation.end(&self.stream);
        self.side.settle().map_err(|error| failed(self.name, error))?;
        let half_close = self.protocol != "sctp";
        match &mut self.side {
            Side::Sender { total, .. } => {
                closing::send_end(&self.name, &self.stream, *total, half_close, PATIENCE)
            }
            Side::Receiver { meter, check, .. } => {
                closing::receive_end(&self.name, &self.stream, meter.total, check, half_close)?;
                Ok(check.integrity())
            }
        }
    }
}

fn failed(name: Name, error: Errno) -> Reason {
    Reason::new(Cause::IoError, format!("{name}: {error}"))
}

impl Side {
    /// Starts to use the ordered method. Returns the kernel's error if that fails and the previous method stays.
    fn take_up(&mut self, stream: &TcpStream, methods: (Sending, Receiving)) -> Result<Option<Errno>, Errno> {
        match self {
            Self::Sender { push: Some((method, _)), .. } if *method == methods.0 => Ok(None),
            Self::Receiver { pull: Some((method, _)), .. } if *method == methods.1 => Ok(None),
            _ => {
                self.settle()?;
                match self {
                    Self::Sender { source, push, .. } => {
                        Ok(replace(push, methods.0, |method| method.make(stream, source)))
                    }
                    Self::Receiver { room, rest, pull, meter, .. } => {
                        let make = |method: Receiving| {
                            let pull = method.make(stream, *room, meter.total)?;
                            Ok(if rest.is_zero() { pull } else { Box::new(Resting::new(pull, *rest)) })
                        };
                        Ok(replace(pull, methods.1, make))
                    }
                }
            }
        }
    }

    fn settle(&mut self) -> Result<(), Errno> {
        match self {
            Self::Sender { push: Some((_, push)), total, .. } => *total += push.settle()? as u64,
            Self::Receiver { pull: Some((_, pull)), meter, check, .. } => {
                let bytes = pull.settle()? as u64;
                if bytes > 0 {
                    check.check_bytes(pull.last(), meter.total);
                    meter.add(bytes, now_ns());
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// Moves data until an order follows the one of number `order`. Without any method there is nothing to do but to
    /// wait.
    fn go(&mut self, orders: &AtomicU32, order: u32) -> Left {
        match self {
            Self::Sender { source, push: Some((_, push)), total } => {
                let message = source.len() - PERIOD;
                kernel::send(&mut **push, message, total, orders, order)
            }
            Self::Receiver { pull: Some((_, pull)), meter, .. } => {
                kernel::receive(&mut **pull, meter, orders, order)
            }
            _ => {
                while orders.load(Ordering::Relaxed) <= order {
                    std::thread::sleep(Duration::from_millis(1));
                }
                Left::Ordered
            }
        }
    }

    fn total(&self) -> u64 {
        match self {
            Self::Sender { total, .. } => *total,
            Self::Receiver { meter, .. } => meter.total,
        }
    }

    fn method(&self) -> &'static str {
        match self {
            Self::Sender { push, .. } => push.as_ref().map_or("none", |(method, _)| method.word()),
            Self::Receiver { pull, .. } => pull.as_ref().map_or("none", |(method, _)| method.word()),
        }
    }
}

/// Replaces the old method; the old one stays if the new one is not available.
fn replace<M: Copy, T: ?Sized>(
    old: &mut Option<(M, Box<T>)>,
    method: M,
    make: impl FnOnce(M) -> Result<Box<T>, Errno>,
) -> Option<Errno> {
    match make(method) {
        Ok(new) => {
            *old = Some((method, new));
            None
        }
        Err(error) => Some(error),
    }
}
