//! One part: listens for those that send to it, connects to those that it sends to, and moves data both ways.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;
use std::time::Duration;

use seatrial_bench::group::PARTS;
use seatrial_bench::{
    Answers, Endpoint, Listener, Offer, PeerAddress, Prepared, Running, Sink, Stop, ThreadSpec, ThreadTeam,
    ends, interface_of,
};
use seatrial_model::{Case, Cause, Integrity, Nanos, Params, PartPlacement, Phase, Quantity, Reason, Sample};
use seatrial_sys::net::set_not_sent_low_water;
use seatrial_sys::process::{Resource, limit, set_soft_limit};
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::ends::{Side, Transfer};
use super::exchange::Exchange;
use super::flows::Flows;
use super::plan::THREADS;
use crate::byte_stream::pattern::{self, Check, PERIOD};

/// Size of a send call.
const MESSAGE: usize = 128 << 10;

/// Slices of a trial.
const SLICES: u64 = 40;

/// Shortest slice in nanoseconds.
const SLICE_NS: u64 = 10_000_000;

/// How often a phase checks whether a thread has failed.
const POLL_INTERVAL: Duration = Duration::from_millis(20);

/// Longest time for a thread to obey an order on a busy machine: its calls last 10 ms at most.
const OBEYED_WITHIN: Duration = Duration::from_secs(8);

/// Time of the connect phase that is left to the start of the threads.
const SPARE: Duration = Duration::from_secs(3);

/// Files of a process beside its connections.
const OTHER_FILES: usize = 128;

pub fn prepare(case: &Case, place: &PartPlacement) -> Result<Prepared, Reason> {
    prepare_with(Config::of(case, place)?)
}

pub(super) fn prepare_with(config: Config) -> Result<Prepared, Reason> {
    allow_files(config.sources.len() + config.targets.len() + OTHER_FILES)?;
    let listener = Listener::open(&config.endpoint)?;
    let address = listener.address()?;
    let peers = [config.targets.clone(), config.sources.clone()].concat();
    let place = config.place.clone();
    Ok(Prepared::new(&place, address, move |offers| Mesh::connect(config, listener, offers))?
        .with_peers(peers))
}

/// Raises the limit of open files as far as the connections need.
fn allow_files(wanted: usize) -> Result<(), Reason> {
    let soft = limit(Resource::OpenFiles).soft;
    if soft.is_none_or(|soft| soft >= wanted as u64) {
        return Ok(());
    }
    set_soft_limit(Resource::OpenFiles, Some(wanted as u64)).map_err(|error| {
        let text = format!(
            "{wanted} connections and files are needed, and `ulimit -n` cannot be raised to that: {error}"
        );
        Reason::new(Cause::Denied, text)
    })
}

pub(super) struct Config {
    place: PartPlacement,
    /// By round.
    sources: Vec<u32>,
    targets: Vec<u32>,
    /// In each direction.
    threads: usize,
    message: usize,
    slice_ns: u64,
    connect: Duration,
    verify: Duration,
    pub(super) endpoint: Endpoint,
}

impl Config {
    pub(super) fn of(case: &Case, place: &PartPlacement) -> Result<Self, Reason> {
        let parts = case.planned.count(PARTS)? as u32;
        let exchange = Exchange::of(&case.params, parts)?;
        Ok(Self {
            place: place.clone(),
            sources: exchange.sources(place.index),
            targets: exchange.targets(place.index),
            threads: case.planned.count(THREADS)? as usize,
            message: case.params.bytes("message")?.map_or(MESSAGE, |bytes| bytes.get() as usize),
            slice_ns: (case.budget.measure.get() / SLICES).max(SLICE_NS),
            connect: Duration::from(case.budget.connect).saturating_sub(SPARE),
            verify: case.budget.prepare.into(),
            endpoint: Endpoint::tcp(ends::interface_for(case, 0), false),
        })
    }
}

/// A connected part.
struct Mesh {
    team: ThreadTeam<'static, Side>,
    /// Number of orders so far, which the loops read.
    orders: Arc<AtomicU32>,
    /// Laps of the present order, which arrive when it is over.
    laps: Option<Answers<Transfer>>,
    verify: Duration,
    interface: Option<String>,
    foreign: usize,
}

impl Mesh {
    fn connect(config: Config, listener: Listener, offers: &[Offer]) -> Result<Self, Reason> {
        let (count, within) = (config.sources.len(), config.connect);
        // All parts connect at the same time, so each also has to answer while it connects.
        let accepting = thread::Builder::new()
            .name("accept".to_owned())
            .spawn(move || listener.accept_within(count, within));
        let accepting = accepting
            .map_err(|error| Reason::new(Cause::Denied, format!("cannot start a thread: {error}")))?;
        let shares = || (0..config.threads).map(|_| Flows::default()).collect::<Vec<_>>();
        let (mut sends, mut receives) = (shares(), shares());
        for (round, target) in (0..).zip(&config.targets) {
            let offer = offer_of(offers, *target)?;
            let address = PeerAddress::deserialize(&offer.data).map_err(|error| {
                Reason::new(Cause::Protocol, format!("cannot parse the offer of part {target}: {error}"))
            })?;
            let stream = address.connect(&config.endpoint, round).map_err(|why| {
                Reason::new(why.cause, format!("part {target} on {}: {}", offer.node, why.text))
            })?;
            // More waits for the end of the flow on a slow link, and is not needed: the congestion window is TCP's own.
            set_not_sent_low_water(&stream, config.message as u32)
                .map_err(|errno| seatrial_bench::setting_up(errno.into()))?;
            sends[round as usize % config.threads].add(stream, *target, &offer.node)?;
        }
        let accepted =
            accepting.join().map_err(|_| Reason::new(Cause::Crash, "the accepting thread panicked"))??;
        let interface = accepted.streams.first().and_then(interface_of);
        for (round, (source, stream)) in config.sources.iter().zip(accepted.streams).enumerate() {
            receives[round % config.threads].add(stream, *source, &offer_of(offers, *source)?.node)?;
        }
        let orders = Arc::new(AtomicU32::new(0));
        Ok(Self {
            team: start(&config, sends, receives)?,
            orders,
            laps: None,
            verify: config.verify,
            interface,
            foreign: accepted.foreign,
        })
    }

    /// Lets all threads move data, and returns the laps of the previous order; empty the first time.
    fn turn(&mut self) -> Result<Vec<Transfer>, Reason> {
        let orders = Arc::clone(&self.orders);
        let laps = self.order(move |side, order| side.lap(&orders, order));
        self.laps.replace(laps).map_or(Ok(Vec::new()), |before| before.collect(OBEYED_WITHIN))
    }

    /// Ends the previous order and gives all threads a task with its number.
    fn order<T: Send + 'static>(
        &self,
        task: impl Fn(&mut Side, u32) -> Result<T, Reason> + Send + Sync + 'static,
    ) -> Answers<T> {
        let order = self.orders.load(Ordering::Relaxed) + 1;
        let answers = self.team.begin(0..self.team.len(), move |_, side| task(side, order));
        self.orders.store(order, Ordering::Release);
        answers
    }

    fn wait(&self, stop: &Stop) -> Result<(), Reason> {
        while !stop.is_over() {
            match &self.laps {
                Some(laps) => laps.check(stop.left().min(POLL_INTERVAL))?,
                None => stop.rest(POLL_INTERVAL),
            }
        }
        Ok(())
    }
}

impl Running for Mesh {
    fn run(&mut self, phase: Phase, stop: &Stop, out: &mut dyn Sink) -> Result<(), Reason> {
        self.turn()?;
        self.wait(stop)?;
        if phase != Phase::Measure {
            return Ok(());
        }
        // Data keeps moving until all parts have measured: parts that still measure would see the end of a flow.
        let laps = self.turn()?;
        let mut received = Vec::new();
        for (thread, lap) in (0_u64..).zip(&laps) {
            for (start, end, bytes) in &lap.slices {
                let (at, span) = (Params::from([("thread", thread.into())]), (Nanos(*start), Nanos(*end)));
                out.sample(Sample::new(RECEIVED, at, span, Quantity::bytes(*bytes)));
            }
            if !lap.received.is_empty() {
                received.push(ReceivedBytes { window_ns: lap.window_ns, bytes: lap.received.clone() });
            }
        }
        out.evidence(RECEIVED, json!(received));
        out.evidence("interface", json!(self.interface));
        out.evidence("foreign", json!(self.foreign));
        Ok(())
    }

    fn verify(&mut self) -> Result<Integrity, Reason> {
        let turn = self.verify;
        let ended = self.order(move |side, _| side.end(turn));
        // Laps of the previous order, which only matter if one failed.
        self.laps.take().map_or(Ok(Vec::new()), |laps| laps.collect(OBEYED_WITHIN))?;
        Ok(Integrity::of_all(ended.collect(self.verify)?.into_iter().flatten()))
    }
}

impl Drop for Mesh {
    fn drop(&mut self) {
        self.orders.store(u32::MAX, Ordering::Release);
    }
}

/// The channel of the bytes of all flows of a thread, and the evidence of those of each flow, by thread.
pub const RECEIVED: &str = "received";

/// What a thread received in the measuring time.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ReceivedBytes {
    pub window_ns: u64,
    /// Of each flow of the thread: with n threads those of every nth round. As one text: a thousand parts have a million
    /// numbers, of which JSON in memory is three times as large.
    #[serde(with = "spaced")]
    pub bytes: Vec<u64>,
}

/// Numbers with spaces between them.
mod spaced {
    use serde::{Deserialize, Deserializer, Serializer, de};

    pub fn serialize<S: Serializer>(numbers: &[u64], serializer: S) -> Result<S::Ok, S::Error> {
        let texts: Vec<String> = numbers.iter().map(u64::to_string).collect();
        serializer.serialize_str(&texts.join(" "))
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<u64>, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.split_whitespace().map(|number| number.parse().map_err(de::Error::custom)).collect()
    }
}

fn offer_of(offers: &[Offer], part: u32) -> Result<&Offer, Reason> {
    let missing = || Reason::new(Cause::Protocol, format!("part {part} is not among the peers"));
    offers.iter().find(|offer| offer.index == part).ok_or_else(missing)
}

/// Starts the threads: those that send, then those that receive. A round has the same thread at both ends of its flow.
fn start(
    config: &Config,
    sends: Vec<Flows>,
    receives: Vec<Flows>,
) -> Result<ThreadTeam<'static, Side>, Reason> {
    let (source, message) = (Arc::new(pattern::bytes(PERIOD + config.message)), config.message);
    let sends = sends.into_iter().map(|flows| Side::Sends { flows, source: Arc::clone(&source), message });
    let slice_ns = config.slice_ns;
    let receives = receives.into_iter().map(|flows| Side::Receives { flows, check: Check::new(), slice_ns });
    let threads = sends.chain(receives).enumerate().map(|(number, side)| {
        let kind = if matches!(side, Side::Sends { .. }) { "send" } else { "receive" };
        let spec = ThreadSpec::new(format!("{kind} {}", number % config.threads), config.place.cpu(number));
        (spec, move || Ok(side))
    });
    ThreadTeam::start(threads.collect::<Vec<_>>(), "-p threads=")
}
