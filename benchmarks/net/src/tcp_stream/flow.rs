//! The thread of one end of one flow: moves data as it is ordered to, and reports of each order when the next one
//! comes.

use std::net::TcpStream;
use std::sync::Arc;
use std::sync::mpsc::Sender;
use std::time::Duration;

use seatrial_model::{Binding, Cause, Integrity};
use seatrial_sys::Errno;
use seatrial_sys::clock::now_ns;
use seatrial_sys::net::{Pull, Push, Source, ThreadTime, tcp_info};

use super::closing;
use super::config::{Name, TcpStreamConfig};
use super::kernel::{self, Left};
use super::meter::{Meter, Slice};
use super::method::{Method, Receiving, Sending};
use super::moderation::Moderation;
use super::orders::{Order, Orders};
use super::pattern::Check;
use super::record::{End, Socket, Tcp};
use super::rest::Resting;
use seatrial_bench::Error;
use seatrial_bench::pin;

/// What a thread reports of.
#[derive(Debug)]
pub enum Report {
    Lap(Box<Lap>),
    /// Of the end of the stream.
    Ended(Integrity),
}

/// Data moved from one order to the next.
#[derive(Debug)]
pub struct Lap {
    /// What the record says of it.
    pub end: End,
    /// Why the ordered way could not be taken, so that it went on with the one before.
    pub refused: Option<Errno>,
    /// What a receiver recorded.
    pub slices: Vec<Slice>,
}

/// One end of one flow.
pub struct Flow {
    pub name: Name,
    pub stream: TcpStream,
    pub binding: Option<Binding>,
    pub orders: Arc<Orders>,
    /// Reports go here, with the thread's number.
    pub reports: Sender<(usize, Result<Report, Error>)>,
    pub number: usize,
}

/// The side it is on.
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
    /// The thread's whole life. `source` is what senders send.
    pub fn run(self, config: &TcpStreamConfig, source: Arc<Source>) {
        let number = self.number;
        let reports = self.reports.clone();
        if let Err(error) = self.serve(config, source) {
            // Nobody listens any more when the part is gone.
            let _ = reports.send((number, Err(error)));
        }
    }

    fn serve(self, config: &TcpStreamConfig, source: Arc<Source>) -> Result<(), Error> {
        if let Some(binding) = self.binding {
            pin(binding.cpu)?;
        }
        let mut side = if config.sends(self.name) {
            Side::Sender { source, push: None, total: 0 }
        } else {
            let meter = Meter::new(config.slice_ns, config.slices);
            Side::Receiver { room: config.room, rest: config.rest, pull: None, meter, check: Check::new() }
        };
        let mut seen = 0;
        let mut moderation = Moderation::default();
        loop {
            let order = self.orders.after(seen);
            seen += 1;
            match order {
                Order::Leave => return Ok(()),
                Order::Run { send, receive, record } => {
                    let mut lap = self.lap(&mut side, (send, receive), record, seen)?;
                    if let (Side::Receiver { room, .. }, "tcp") = (&side, config.protocol.as_str()) {
                        lap.end.wake_bytes = moderation.bytes();
                        moderation.adapt(&self.stream, lap.end.bytes, lap.end.window_ns, *room);
                    }
                    self.report(Report::Lap(Box::new(lap)));
                }
                Order::End => {
                    moderation.end(&self.stream);
                    let integrity = self.end(side, config.protocol != "sctp")?;
                    self.report(Report::Ended(integrity));
                    return Ok(());
                }
            }
        }
    }

    /// Nobody listens any more when the part is gone; then an order to leave comes too.
    fn report(&self, report: Report) {
        let _ = self.reports.send((self.number, Ok(report)));
    }

    /// Moves data until the next order.
    fn lap(
        &self,
        side: &mut Side,
        methods: (Sending, Receiving),
        record: bool,
        seen: u32,
    ) -> Result<Lap, Error> {
        let refused = side.take_up(&self.stream, methods).map_err(|error| self.failed(error))?;
        let bytes = side.total();
        let tcp = tcp_info(&self.stream).ok();
        let took = ThreadTime::now();
        let start_ns = now_ns();
        if let (Side::Receiver { meter, .. }, true) = (&mut *side, record) {
            meter.open(start_ns);
        }
        let left = side.go(self.orders.count(), seen);
        let end_ns = now_ns();
        let took = ThreadTime::now().and_then(|now| took.map(|then| now.since(&then)));
        let tcp = Tcp::between(tcp, tcp_info(&self.stream).ok());
        match left {
            Left::Ordered => {}
            Left::Ended => {
                let text = format!("{}: the peer closed the connection", self.name);
                return Err(Error::new(Cause::PartnerLost, text));
            }
            Left::Failed(error) => return Err(self.failed(error)),
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

    fn end(&self, mut side: Side, half_close: bool) -> Result<Integrity, Error> {
        side.settle().map_err(|error| self.failed(error))?;
        match side {
            Side::Sender { total, .. } => closing::send_end(self.name, &self.stream, total, half_close),
            Side::Receiver { meter, mut check, .. } => {
                closing::receive_end(self.name, &self.stream, meter.total, &mut check, half_close)?;
                Ok(check.integrity())
            }
        }
    }

    fn failed(&self, error: Errno) -> Error {
        Error::new(Cause::IoError, format!("{}: {error}", self.name))
    }
}

impl Side {
    /// Takes up the ordered way; what the kernel said if it cannot be had, while there is another.
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

    /// Ends what is under way.
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

    /// Until the next order. Without any way to move data there is nothing to do but to wait.
    fn go(&mut self, orders: &std::sync::atomic::AtomicU32, seen: u32) -> Left {
        match self {
            Self::Sender { source, push: Some((_, push)), total } => {
                let message = source.len() - super::pattern::PERIOD;
                kernel::send(&mut **push, message, total, orders, seen)
            }
            Self::Receiver { pull: Some((_, pull)), meter, .. } => {
                kernel::receive(&mut **pull, meter, orders, seen)
            }
            _ => {
                while orders.load(std::sync::atomic::Ordering::Relaxed) == seen {
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

/// Puts a new way in the place of the old one, which stays when the new one cannot be had.
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
