//! One part: listens for those that send to it, connects to those that it sends to, and moves data both ways.

use std::net::IpAddr;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use seatrial_bench::all_to_all::{self, Exchange, LapTeam, THREADS};
use seatrial_bench::group::PARTS;
use seatrial_bench::{
    Endpoint, Listener, Offer, PeerAddress, Prepared, Running, Sink, Stop, ThreadSpec, ThreadTeam, ends,
    interface_of,
};
use seatrial_model::{Case, Cause, Integrity, PartPlacement, Phase, Reason};
use seatrial_sys::net::set_not_sent_low_water;
use seatrial_sys::process::{Resource, limit, set_soft_limit};
use serde::de::IgnoredAny;
use serde_json::json;

use super::ends::Side;
use super::flows::Flows;
use super::reduce::{ADDRESS, COUNTED};
use crate::byte_stream::pattern::{self, Check, PERIOD};

/// Size of a send call.
const MESSAGE: usize = 128 << 10;

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
            slice_ns: all_to_all::slice_ns(case),
            connect: Duration::from(case.budget.connect).saturating_sub(SPARE),
            verify: case.budget.prepare.into(),
            endpoint: Endpoint::tcp(ends::interface_for(case, 0), false),
        })
    }
}

/// A connected part.
struct Mesh {
    team: LapTeam<Side>,
    verify: Duration,
    interface: Option<String>,
    /// Where the others connect to.
    address: Option<IpAddr>,
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
            let (address, node): (PeerAddress, _) = Offer::of_part(offers, *target)?;
            let stream = address
                .connect(&config.endpoint, round)
                .map_err(|why| Reason::new(why.cause, format!("part {target} on {node}: {}", why.text)))?;
            // More waits for the end of the flow on a slow link, and is not needed: the congestion window is TCP's own.
            set_not_sent_low_water(&stream, config.message as u32)
                .map_err(|errno| seatrial_bench::setting_up(errno.into()))?;
            sends[round as usize % config.threads].add(stream, *target, node)?;
        }
        let accepted =
            accepting.join().map_err(|_| Reason::new(Cause::Crash, "the accepting thread panicked"))??;
        let interface = accepted.streams.first().and_then(interface_of);
        let address = accepted.streams.first().and_then(|stream| Some(stream.local_addr().ok()?.ip()));
        for (round, (source, stream)) in config.sources.iter().zip(accepted.streams).enumerate() {
            let (_, node): (IgnoredAny, _) = Offer::of_part(offers, *source)?;
            receives[round % config.threads].add(stream, *source, node)?;
        }
        Ok(Self {
            team: LapTeam::new(start(&config, sends, receives)?, Side::lap),
            verify: config.verify,
            interface,
            address,
            foreign: accepted.foreign,
        })
    }
}

impl Running for Mesh {
    fn run(&mut self, phase: Phase, stop: &Stop, out: &mut dyn Sink) -> Result<(), Reason> {
        if phase != Phase::Measure {
            return self.team.warm_up(stop);
        }
        all_to_all::put(COUNTED, &self.team.measure(stop)?, out);
        out.evidence("interface", json!(self.interface));
        out.evidence(ADDRESS, json!(self.address));
        out.evidence("foreign", json!(self.foreign));
        Ok(())
    }

    fn verify(&mut self) -> Result<Integrity, Reason> {
        let turn = self.verify;
        let ended = self.team.end(turn, move |side| side.end(turn))?;
        Ok(Integrity::of_all(ended.into_iter().flatten()))
    }
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
