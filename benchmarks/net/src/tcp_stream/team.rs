//! The threads of a part, one for each of its flows.

use std::net::{Shutdown, TcpStream};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use seatrial_model::{Cause, Integrity};
use seatrial_sys::net::Source;

use super::config::{Name, TcpStreamConfig};
use super::flow::{Flow, Lap, Report};
use super::method::{Receiving, Sending};
use super::orders::{Order, Orders};
use super::pattern::{self, PERIOD};
use seatrial_bench::{Error, Stop};

/// How long a thread may take to obey, on a machine whose CPUs do other things: its calls last 10 ms at most.
const OBEYED_WITHIN: Duration = Duration::from_secs(8);

/// How long the end of a stream may take.
const ENDED_WITHIN: Duration = Duration::from_secs(28);

/// How often somebody looks whether the phase was ended; failures are heard of at once. Each look takes the CPU from a
/// flow where all have one.
const POLL_INTERVAL: Duration = Duration::from_millis(10);

/// The threads, with a second handle to each of their connections.
pub struct FlowTeam {
    orders: Arc<Orders>,
    reports: Receiver<(usize, Result<Report, Error>)>,
    threads: Vec<JoinHandle<()>>,
    flows: Vec<(Name, TcpStream)>,
    /// Whether a report of the order before the present one is still to come.
    running: bool,
}

impl FlowTeam {
    /// Starts a thread for each connection; `streams` are in the order of the configuration's flows.
    ///
    /// # Errors
    /// When the system gives no memory, descriptors or threads.
    pub fn start(config: &TcpStreamConfig, streams: Vec<TcpStream>) -> Result<Self, Error> {
        let failed = |what: &str, error: std::io::Error| {
            Error::new(Cause::Denied, format!("cannot make {what}: {error}"))
        };
        let source = Source::new(&pattern::bytes(PERIOD + config.message));
        let source = Arc::new(source.map_err(|error| failed("the data to send", error))?);
        let (report, reports) = channel();
        let mut team =
            Self { orders: Arc::default(), reports, threads: Vec::new(), flows: Vec::new(), running: false };
        for (number, (name, stream)) in config.flows.iter().zip(streams).enumerate() {
            let copy =
                stream.try_clone().map_err(|error| failed("a second handle to a connection", error))?;
            team.flows.push((*name, copy));
            let binding =
                (!config.bindings.is_empty()).then(|| config.bindings[number % config.bindings.len()]);
            let (orders, reports) = (Arc::clone(&team.orders), report.clone());
            let flow = Flow { name: *name, stream, binding, orders, reports, number };
            let (config, source) = (config.clone(), Arc::clone(&source));
            let thread = std::thread::Builder::new()
                .name(format!("flow-{number}"))
                .spawn(move || flow.run(&config, source))
                .map_err(|error| failed("a thread for a flow", error))?;
            team.threads.push(thread);
        }
        Ok(team)
    }

    /// The flows with their connections.
    pub fn flows(&self) -> &[(Name, TcpStream)] {
        &self.flows
    }

    /// Lets all threads move data this way from now on, and gives what they report of the time before; nothing the
    /// first time.
    ///
    /// # Errors
    /// Of the first flow that failed, or did not obey.
    pub fn turn(&mut self, send: Sending, receive: Receiving, record: bool) -> Result<Vec<Lap>, Error> {
        self.orders.give(Order::Run { send, receive, record });
        if !std::mem::replace(&mut self.running, true) {
            return Ok(Vec::new());
        }
        self.collect(OBEYED_WITHIN, |report| match report {
            Report::Lap(lap) => Some(*lap),
            Report::Ended(_) => None,
        })
    }

    /// Waits until `until`, or until `stop`, calling `meanwhile` now and then.
    ///
    /// # Errors
    /// Of a flow that fails meanwhile.
    pub fn wait(&self, until: Instant, stop: &Stop, mut meanwhile: impl FnMut(&Self)) -> Result<(), Error> {
        loop {
            let left = until.saturating_duration_since(Instant::now()).min(stop.left());
            if left.is_zero() {
                return Ok(());
            }
            match self.reports.recv_timeout(left.min(POLL_INTERVAL)) {
                // Only failures come unasked.
                Ok((_, Err(error))) => return Err(error),
                Ok((_, Ok(_))) | Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return Err(gone()),
            }
            meanwhile(self);
        }
    }

    /// Brings all streams to their end; what the checks found.
    ///
    /// # Errors
    /// Of the first flow that could not.
    pub fn end(&mut self) -> Result<Vec<Integrity>, Error> {
        self.orders.give(Order::End);
        self.running = false;
        self.collect(ENDED_WITHIN, |report| match report {
            Report::Ended(integrity) => Some(integrity),
            // Of the time before, which nobody wants any more.
            Report::Lap(_) => None,
        })
    }

    /// One wanted report of each thread, in the order of the flows.
    fn collect<T>(&self, within: Duration, wanted: impl Fn(Report) -> Option<T>) -> Result<Vec<T>, Error> {
        let deadline = Instant::now() + within;
        let mut reports: Vec<Option<T>> = self.flows.iter().map(|_| None).collect();
        while let Some(missing) = reports.iter().position(Option::is_none) {
            match self.reports.recv_timeout(deadline.saturating_duration_since(Instant::now())) {
                Ok((number, Ok(report))) => reports[number] = wanted(report).or(reports[number].take()),
                Ok((_, Err(error))) => return Err(error),
                Err(RecvTimeoutError::Timeout) => {
                    let name = self.flows[missing].0;
                    let text = format!("{name}: its thread did not answer within {} s", within.as_secs());
                    return Err(Error::new(Cause::Hang, text));
                }
                Err(RecvTimeoutError::Disconnected) => return Err(gone()),
            }
        }
        Ok(reports.into_iter().flatten().collect())
    }
}

fn gone() -> Error {
    Error::new(Cause::Crash, "a thread of a flow ended without a word")
}

impl Drop for FlowTeam {
    fn drop(&mut self) {
        self.orders.give(Order::Leave);
        for (_, stream) in &self.flows {
            // Ends what a thread waits for.
            let _ = stream.shutdown(Shutdown::Both);
        }
        for thread in self.threads.drain(..) {
            let _ = thread.join();
        }
    }
}
