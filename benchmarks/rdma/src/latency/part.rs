//! The two ends of a ping-pong, or of one over each of several ports.

use std::time::Duration;

use seatrial_model::{Case, Cause, Integrity, PartPlacement, Phase, Reason, Sample};
use seatrial_sys::memory::Pages;
use seatrial_sys::verbs::{GRH_BYTES, ReceiveList, Transport, VerbKind};
use serde_json::{Value, json};

use super::ping_pong_qp::PingPongQp;
use super::requester::Requester;
use super::responder::Responder;
use seatrial_bench::verbs::endpoint::{connect_all, connection_infos, facts, pages_of, pin};
use seatrial_bench::verbs::pattern::POISON;
use seatrial_bench::verbs::{Method, RdmaConfig, RdmaEndpoint, RemoteCompletion};
use seatrial_bench::{Prepared, Running, Sink, Stop, ThreadSpec, ThreadTeam};

/// How often the answering end looks whether its threads have failed. They may have this processor too, and what wakes beside
/// them costs them more than its own time: under emulation perftest's round trips are 8 % longer beside 200 wakings a second.
const POLL_INTERVAL: Duration = Duration::from_millis(100);

/// Written before the trial, and after its clock stopped.
const FIRST: u64 = 0;
const LAST: u64 = 1;

/// What names the port of a sample and of a histogram, by its number, where it is one of several.
pub const PORT: &str = "port";

/// The part of `case` at `place`.
pub fn prepare(method: Method, case: &Case, place: &PartPlacement) -> Result<Prepared, Reason> {
    let config = RdmaConfig::all(method, case, place)?;
    let pages = pages_of(&case.params)?;
    pin(&config[0], 0)?;
    let open = |config| LatencyPort::open(config, &pages);
    let mut ports = config.iter().map(open).collect::<Result<Vec<_>, _>>()?;
    let index = place.index;
    Prepared::new(place, connection_infos(ports.iter().map(|port_end| &port_end.endpoint)), move |peers| {
        connect_all(ports.iter_mut().map(|port_end| &mut port_end.endpoint), index, peers)?;
        ports.iter_mut().try_for_each(LatencyPort::begin)?;
        Ok(LatencyPart { ports })
    })
}

struct LatencyPart {
    /// By port; at least one.
    ports: Vec<LatencyPort>,
}

/// One port of this end. Where its card does everything, it neither asks nor answers.
struct LatencyPort {
    // Before the endpoint, so that their threads are gone when the queue pair is.
    requester: Option<Requester>,
    responder: Option<Responder>,
    receives: Option<ReceiveList>,
    endpoint: RdmaEndpoint,
}

impl LatencyPort {
    fn open(config: &RdmaConfig, pages: &[Pages]) -> Result<Self, Reason> {
        let endpoint = RdmaEndpoint::open(config, pages)?;
        endpoint.poison_in()?;
        endpoint.fill_out(FIRST, endpoint.layout.slots, |slot| slot)?;
        let hears = config.remote_completion() == RemoteCompletion::Cqe;
        let receives = hears.then(|| PingPongQp::post_receives(&endpoint)).transpose()?;
        Ok(Self { requester: None, responder: None, receives, endpoint })
    }

    /// Begins to answer, or is ready to ask.
    fn begin(&mut self) -> Result<(), Reason> {
        let config = &self.endpoint.config;
        let mut qp = PingPongQp::new(&self.endpoint)?;
        if let Some(receives) = self.receives.take() {
            qp.receive_with(receives);
        }
        if config.initiates() {
            self.requester = Some(Requester::new(qp, config.remote_completion(), &config.sizes));
        } else if config.remote_completion() != RemoteCompletion::None {
            self.responder = Some(Responder::start(qp, config)?);
        }
        Ok(())
    }

    fn requester(&mut self) -> Result<&mut Requester, Reason> {
        let other = || Reason::new(Cause::Protocol, "this end does not ask");
        self.requester.as_mut().ok_or_else(other)
    }

    /// Asks until `stop`; the histograms of all sizes.
    fn ask(&mut self, stop: &Stop, out: &mut dyn Sink) -> Result<Vec<Value>, Reason> {
        self.requester()?.run(stop, out)
    }

    /// Sends what is looked at after the clock.
    fn last(&mut self) -> Result<(), Reason> {
        let endpoint = &self.endpoint;
        endpoint.poison_in()?;
        if endpoint.config.method.verb != VerbKind::Read {
            endpoint.fill_out(LAST, endpoint.layout.slots, |slot| slot)?;
        }
        self.requester()?.last()
    }

    fn verify(&self) -> Result<Integrity, Reason> {
        if let Some(responder) = &self.responder {
            match responder.check() {
                Err(error) if error.cause == Cause::CorruptData => {
                    return Ok(Integrity::Corrupt {
                        wrong: 1,
                        of: responder.served() + 1,
                        first: error.text,
                    });
                }
                other => other?,
            }
        } else if self.requester.is_none() {
            return Ok(Integrity::Unverified {
                why: "what this end holds is looked at where it came to".to_owned(),
            });
        }
        // The answers are as they were from the beginning; what asks was written anew for the last message.
        let pass = if self.requester.is_some() { FIRST } else { LAST };
        received(&self.endpoint, pass)
    }
}

impl Running for LatencyPart {
    fn run(&mut self, phase: Phase, stop: &Stop, out: &mut dyn Sink) -> Result<(), Reason> {
        if self.ports[0].endpoint.config.initiates() {
            let before = counts(&self.ports);
            let histograms = match self.ports.as_mut_slice() {
                [port_end] => port_end.ask(stop, out)?,
                ports => at_once(ports, stop, out)?,
            };
            if phase == Phase::Measure {
                let after = counts(&self.ports);
                out.evidence("by_size", json!(histograms));
                out.evidence("asked", json!(after.0 - before.0));
                out.evidence("lost", json!(after.1 - before.1));
                self.ports.iter_mut().try_for_each(LatencyPort::last)?;
            }
        } else {
            let responder = || self.ports.iter().filter_map(|port_end| port_end.responder.as_ref());
            while !stop.is_over() {
                responder().try_for_each(Responder::check)?;
                stop.rest(POLL_INTERVAL);
            }
            if responder().next().is_some() {
                out.evidence("served", json!(responder().map(Responder::served).sum::<u64>()));
            }
        }
        if phase == Phase::Measure {
            out.evidence("device", facts(self.ports.iter().map(|port_end| &port_end.endpoint)));
        }
        Ok(())
    }

    fn verify(&mut self) -> Result<Integrity, Reason> {
        Ok(Integrity::of_all(self.ports.iter().map(LatencyPort::verify).collect::<Result<Vec<_>, _>>()?))
    }
}

/// Messages sent and messages lost so far, over all ports.
fn counts(ports: &[LatencyPort]) -> (u64, u64) {
    let all = ports.iter().filter_map(|port_end| port_end.requester.as_ref()).map(Requester::counts);
    all.fold((0, 0), |sum, own| (sum.0 + own.0, sum.1 + own.1))
}

/// Asks over all ports at the same time, over each from a thread of its own beside its card; the histograms of all.
fn at_once(ports: &mut [LatencyPort], stop: &Stop, out: &mut dyn Sink) -> Result<Vec<Value>, Reason> {
    let asked: Vec<Asked> = std::thread::scope(|scope| {
        let threads = (0..).zip(ports).map(|(port, port_end)| {
            let spec = ThreadSpec::new(format!("ask-{port}"), port_end.endpoint.config.cpu(0));
            (spec, move || Ok((port, port_end)))
        });
        let team = ThreadTeam::start_in(scope, threads, "fewer ports")?;
        team.all(|_, (port, port_end)| ask_over(*port, port_end, stop))
    })?;
    let (mut histograms, mut samples) = (Vec::new(), Vec::new());
    for (told, own) in asked {
        histograms.extend(told);
        samples.extend(own);
    }
    // As they came, whichever port they are of.
    samples.sort_by_key(|sample| sample.start);
    samples.into_iter().for_each(|sample| out.sample(sample));
    Ok(histograms)
}

/// The histograms of a port, and its samples.
type Asked = (Vec<Value>, Vec<Sample>);

fn ask_over(port: u64, port_end: &mut LatencyPort, stop: &Stop) -> Result<Asked, Reason> {
    let mut kept = OfPort { port, samples: Vec::new() };
    let told = port_end.ask(stop, &mut kept);
    if told.is_err() {
        stop.raise();
    }
    let mut told = told?;
    told.iter_mut().for_each(|told| told[PORT] = json!(port));
    Ok((told, kept.samples))
}

/// Keeps the samples of one of several ports, and puts its number on each.
struct OfPort {
    port: u64,
    samples: Vec<Sample>,
}

impl Sink for OfPort {
    fn sample(&mut self, mut sample: Sample) {
        sample.at.set(PORT, self.port);
        self.samples.push(sample);
    }

    fn evidence(&mut self, _: &str, _: Value) {}
}

/// Looks at the last message, which was one of the largest size.
fn received(endpoint: &RdmaEndpoint, pass: u64) -> Result<Integrity, Reason> {
    let (config, largest, stride) =
        (&endpoint.config, endpoint.config.largest() as usize, endpoint.layout.stride as usize);
    // Where the far end looks at memory, the content ends with a mark, which was looked at in every round.
    let (skip, from, bytes) = match (config.remote_completion(), config.transport) {
        (RemoteCompletion::Polled, _) => (0, stride - largest, stride - 1),
        (_, Transport::Ud) => (GRH_BYTES, 0, largest),
        _ => (0, 0, largest),
    };
    let found = endpoint.came(0, 0, skip, bytes)?;
    let stamp = endpoint.stamp(false, 0, 0, pass);
    let mut wanted = vec![0; bytes];
    stamp.fill(&mut wanted);
    if found[from..] == wanted[from..] {
        return Ok(Integrity::Verified { checked: (largest as u64).max(1) });
    }
    if config.transport != Transport::Rc && found[from..].iter().all(|byte| *byte == POISON) {
        return Ok(Integrity::Unverified { why: "the last message was lost".to_owned() });
    }
    let wrong = |(found, wanted): (&u8, &u8)| found != wanted;
    let at = found[from..].iter().zip(&wanted[from..]).position(wrong).unwrap_or(0);
    let text = format!("byte {at} of the last message of {largest} B is not what was sent");
    Ok(Integrity::Corrupt { wrong: 1, of: 1, first: text })
}
