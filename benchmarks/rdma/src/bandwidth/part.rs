//! One end of a stream of messages.

use std::sync::Arc;
use std::time::Duration;

use seatrial_model::{Case, Integrity, PartPlacement, Phase, Reason};
use seatrial_sys::clock::now_ns;
use seatrial_sys::memory::Pages;
use seatrial_sys::verbs::VerbKind;
use serde_json::json;

use super::check;
use super::counts::{Sampler, Tally, between_looks, moved, samplers};
use super::passes;
use super::receiver::ReceiverThreads;
use super::send_loop::{Orders, SendLoop};
use seatrial_bench::verbs::endpoint::{connect_all, connection_infos, facts, pages_of, pin};
use seatrial_bench::verbs::{Method, RdmaConfig, RdmaEndpoint, first_cause};
use seatrial_bench::{Prepared, Running, Sink, Stop, ThreadSpec, ThreadTeam};

/// Time without any message that counts as the end.
const QUIET: Duration = Duration::from_millis(25);

/// Most checks for the end: 1 s.
const QUIET_LOOKS: u32 = 40;

pub fn prepare(method: Method, case: &Case, place: &PartPlacement) -> Result<Prepared, Reason> {
    let config = RdmaConfig::all(method, case, place)?;
    let pages = pages_of(&case.params)?;
    pin(&config[0], 0)?;
    let open = |config| BandwidthPort::open(config, &pages);
    let mut ports = config.iter().map(open).collect::<Result<Vec<_>, _>>()?;
    let index = place.index;
    Prepared::new(place, connection_infos(ports.iter().map(|port| &port.endpoint)), move |peers| {
        connect_all(ports.iter_mut().map(|port| &mut port.endpoint), index, peers)?;
        ports.iter_mut().filter_map(|port| port.receivers.as_mut()).try_for_each(ReceiverThreads::start)?;
        Ok(BandwidthPart { ports, sent: 0 })
    })
}

struct BandwidthPart {
    ports: Vec<BandwidthPort>,
    sent: u64,
}

struct BandwidthPort {
    // Dropped before the endpoint, so that its threads end before the queue pairs.
    receivers: Option<ReceiverThreads>,
    endpoint: RdmaEndpoint,
}

impl BandwidthPort {
    fn open(config: &RdmaConfig, pages: &[Pages]) -> Result<Self, Reason> {
        let endpoint = RdmaEndpoint::open(config, pages)?;
        endpoint.poison_in()?;
        passes::fill(&endpoint, passes::FIRST, endpoint.layout.slots)?;
        let takes = config.answers() && config.is_counted_there();
        let receivers = takes.then(|| ReceiverThreads::prepare(&endpoint)).transpose()?;
        Ok(Self { receivers, endpoint })
    }

    fn verify(&self) -> Result<Integrity, Reason> {
        let receivers = self.receivers.as_ref();
        let outcome = receivers.map_or(Ok(()), ReceiverThreads::check).and_then(|()| self.verify_memory());
        Integrity::of_check(outcome, receivers.map_or(0, ReceiverThreads::total) + 1)
    }

    fn verify_memory(&self) -> Result<Integrity, Reason> {
        let config = &self.endpoint.config;
        let comes = if config.method.verb == VerbKind::Read { config.initiates() } else { config.answers() };
        if comes {
            return check::came(&self.endpoint);
        }
        Ok(Integrity::Unverified { why: "the receiving end checks what this end sent".to_owned() })
    }
}

impl Running for BandwidthPart {
    fn run(&mut self, phase: Phase, stop: &Stop, out: &mut dyn Sink) -> Result<(), Reason> {
        let ports = &self.ports;
        let config = &ports[0].endpoint.config;
        let sizes = config.sizes.len();
        let tally = |_| Arc::new(Tally::new(sizes));
        let pumped: Vec<Vec<Arc<Tally>>> =
            ports.iter().map(|_| (0..config.threads).map(tally).collect()).collect();
        let mut all = Vec::new();
        let (own, far) = (config.own_direction(), config.own_direction().opposite());
        if config.initiates() && !config.is_counted_there() {
            let grouped: Vec<u64> = config.sizes.iter().map(|size| config.moderation(*size) as u64).collect();
            all.extend(samplers(own, &config.sizes, &grouped, &pumped));
        }
        let taken: Vec<Vec<Arc<Tally>>> =
            ports.iter().filter_map(|port| Some(port.receivers.as_ref()?.tallies().to_vec())).collect();
        if !taken.is_empty() {
            all.extend(samplers(far, &config.sizes, &vec![1; sizes], &taken));
        }
        self.sent += move_messages(ports, &pumped, &mut all, stop, out)?;
        all.iter_mut().for_each(|sampler| sampler.end(out));
        if phase == Phase::Measure {
            if config.initiates() {
                self.sent +=
                    ports.iter().map(|port| last_pass(&port.endpoint)).sum::<Result<u64, Reason>>()?;
            }
            if !taken.is_empty() {
                until_quiet(ports)?;
                out.evidence("received", json!(received(ports)));
            }
            out.evidence("sent", json!(self.sent));
            for direction in [own, far] {
                out.evidence(
                    &format!("moved_{}", direction.word()),
                    json!(moved(&all, direction, ports.len())),
                );
            }
            let took = ports.iter().flat_map(|port| &port.endpoint.registrations);
            let micros: Vec<f64> = took.map(|took| took.as_secs_f64() * 1e6).collect();
            out.evidence("registration_us", json!(micros));
            out.evidence("device", facts(ports.iter().map(|port| &port.endpoint)));
        }
        Ok(())
    }

    fn verify(&mut self) -> Result<Integrity, Reason> {
        Ok(Integrity::of_all(self.ports.iter().map(BandwidthPort::verify).collect::<Result<Vec<_>, _>>()?))
    }
}

fn move_messages(
    ports: &[BandwidthPort],
    tallies: &[Vec<Arc<Tally>>],
    samplers: &mut [Sampler],
    stop: &Stop,
    out: &mut dyn Sink,
) -> Result<u64, Reason> {
    let orders = &Orders::default();
    let span = stop.left().max(Duration::from_nanos(1));
    let end = now_ns() + span.as_nanos() as u64;
    let sizes = ports[0].endpoint.config.sizes.len();
    std::thread::scope(|scope| {
        let initiating = ports.iter().zip(tallies).filter(|(port, _)| port.endpoint.config.initiates());
        let threads = initiating.flat_map(|(port, tallies)| {
            let endpoint = &port.endpoint;
            tallies.iter().enumerate().map(move |(thread, tally)| {
                let spec = ThreadSpec::new(format!("send-{thread}"), endpoint.config.cpu(thread));
                (spec, move || Ok((thread, endpoint, tally)))
            })
        });
        let team = ThreadTeam::start_in(scope, threads, "-p threads=")?;
        let sent = team.begin(0..team.len(), move |_, (thread, endpoint, tally)| {
            let sent = SendLoop::new(*endpoint, *thread).run(orders, stop, tally);
            if sent.is_err() {
                stop.raise();
            }
            sent
        });
        let mut seen = Ok(());
        let is_idle = team.is_empty() && ports.iter().all(|port| port.receivers.is_none());
        let look = if is_idle { span } else { between_looks(span / sizes as u32) };
        while !stop.is_over() && seen.is_ok() {
            let gone = 1.0 - stop.left().as_secs_f64() / span.as_secs_f64();
            orders.send(((gone * sizes as f64) as usize).min(sizes - 1));
            stop.rest(look);
            // A look that comes late must not make a stall of the time after the end.
            let now = now_ns().min(end);
            samplers.iter_mut().for_each(|sampler| sampler.read_counts(now, out));
            seen = checked(ports);
        }
        if seen.is_err() {
            stop.raise();
        }
        let mut errors: Vec<Reason> = seen.err().into_iter().collect();
        while let Err(error) = sent.check(Duration::MAX) {
            errors.push(error);
        }
        match first_cause(errors, || checked(ports).err()) {
            Some(error) => Err(error),
            None => Ok(sent.collect(Duration::MAX)?.into_iter().sum()),
        }
    })
}

fn checked(ports: &[BandwidthPort]) -> Result<(), Reason> {
    ports.iter().filter_map(|port| port.receivers.as_ref()).try_for_each(ReceiverThreads::check)
}

fn received(ports: &[BandwidthPort]) -> u64 {
    ports.iter().filter_map(|port| port.receivers.as_ref()).map(ReceiverThreads::total).sum()
}

/// Sends new content over all memory, or a bounded part of it: data that arrives now cannot be older. Memory that is
/// read keeps its content; there the destination is marked first.
fn last_pass(endpoint: &RdmaEndpoint) -> Result<u64, Reason> {
    if endpoint.config.method.verb == VerbKind::Read {
        endpoint.poison_in()?;
    } else {
        passes::fill(endpoint, passes::LAST, endpoint.layout.last_slots())?;
    }
    (0..endpoint.config.threads).map(|thread| SendLoop::new(endpoint, thread).once()).sum()
}

/// Waits until no more messages arrive, so that received and sent messages can be compared.
fn until_quiet(ports: &[BandwidthPort]) -> Result<(), Reason> {
    let mut before = received(ports);
    for _ in 0..QUIET_LOOKS {
        std::thread::sleep(QUIET);
        checked(ports)?;
        let now = received(ports);
        if now == before {
            return Ok(());
        }
        before = now;
    }
    Ok(())
}
