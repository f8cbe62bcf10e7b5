//! The threads of a part, one per flow.

use std::net::{Shutdown, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use seatrial_model::{Cause, Integrity, Reason};
use seatrial_sys::net::Source;

use super::config::{Name, TcpStreamConfig};
use super::flow::{Flow, Lap};
use super::method::{Receiving, Sending};
use crate::byte_stream::pattern::{self, PERIOD};
use seatrial_bench::{Answers, Stop, ThreadSpec, ThreadTeam};

/// Longest time for a thread to obey an order on a busy machine: its calls last 10 ms at most.
const OBEYED_WITHIN: Duration = Duration::from_secs(8);

const ENDED_WITHIN: Duration = Duration::from_secs(28);

/// How often the end of the phase is checked; failures arrive at once. Each check takes CPU time from a flow if all
/// CPUs have one.
const POLL_INTERVAL: Duration = Duration::from_millis(10);

pub struct FlowTeam {
    threads: ThreadTeam<'static, Flow>,
    /// Number of orders so far, which the loops read.
    orders: Arc<AtomicU32>,
    /// Laps of the present order, which arrive when it is over.
    laps: Option<Answers<Lap>>,
    flows: Vec<(Name, TcpStream)>,
}

impl FlowTeam {
    /// Starts a thread for each connection; `streams` are in the order of the configuration's flows.
    pub fn start(config: &TcpStreamConfig, streams: Vec<TcpStream>) -> Result<Self, Reason> {
        let failed = |what: &str, error: std::io::Error| {
            Reason::new(Cause::Denied, format!("cannot make {what}: {error}"))
        };
        let source = Source::new(&pattern::bytes(PERIOD + config.message));
        let source = Arc::new(source.map_err(|error| failed("the data to send", error))?);
        let (orders, mut flows) = (Arc::new(AtomicU32::new(0)), Vec::new());
        let mut threads = Vec::new();
        for (number, (name, stream)) in config.flows.iter().zip(streams).enumerate() {
            let copy =
                stream.try_clone().map_err(|error| failed("a second handle to a connection", error))?;
            flows.push((*name, copy));
            let binding = config.bindings.get(number % config.bindings.len().max(1)).copied();
            let spec = ThreadSpec::new(name.to_string(), binding.map(|binding| binding.cpu));
            let (config, own, name) = (config.clone(), (Arc::clone(&orders), Arc::clone(&source)), *name);
            let make = move || Ok(Flow::new(&config, (name, stream), binding, own.0, own.1));
            threads.push((spec, make));
        }
        Ok(Self { threads: ThreadTeam::start(threads, "-p flows=")?, orders, laps: None, flows })
    }

    pub fn flows(&self) -> &[(Name, TcpStream)] {
        &self.flows
    }

    /// Lets all threads move data with these methods, and returns the laps of the previous order; empty the first
    /// time.
    pub fn turn(&mut self, send: Sending, receive: Receiving, record: bool) -> Result<Vec<Lap>, Reason> {
        let laps = self.order(move |flow, order| flow.lap((send, receive), record, order));
        self.laps.replace(laps).map_or(Ok(Vec::new()), |before| before.collect(OBEYED_WITHIN))
    }

    /// Waits until `until` or `stop`, and calls `meanwhile` now and then.
    pub fn wait(&self, until: Instant, stop: &Stop, mut meanwhile: impl FnMut(&Self)) -> Result<(), Reason> {
        loop {
            let left = until.saturating_duration_since(Instant::now()).min(stop.left());
            if left.is_zero() {
                return Ok(());
            }
            match &self.laps {
                // Before the order is over, only failures arrive.
                Some(laps) => laps.check(left.min(POLL_INTERVAL))?,
                None => stop.rest(left.min(POLL_INTERVAL)),
            }
            meanwhile(self);
        }
    }

    pub fn end(&mut self) -> Result<Vec<Integrity>, Reason> {
        let ended = self.order(|flow, _| flow.end());
        // Laps of the previous order, which only matter if one failed.
        self.laps.take().map_or(Ok(Vec::new()), |laps| laps.collect(OBEYED_WITHIN))?;
        ended.collect(ENDED_WITHIN)
    }

    /// Ends the previous order and gives all threads a task with its number.
    fn order<T: Send + 'static>(
        &self,
        task: impl Fn(&mut Flow, u32) -> Result<T, Reason> + Send + Sync + 'static,
    ) -> Answers<T> {
        let order = self.orders.load(Ordering::Relaxed) + 1;
        let answers = self.threads.begin(0..self.threads.len(), move |_, flow| task(flow, order));
        self.orders.store(order, Ordering::Release);
        answers
    }
}

impl Drop for FlowTeam {
    fn drop(&mut self) {
        self.orders.store(u32::MAX, Ordering::Release);
        for (_, stream) in &self.flows {
            let _ = stream.shutdown(Shutdown::Both);
        }
    }
}
