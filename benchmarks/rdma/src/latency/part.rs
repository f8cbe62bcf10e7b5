//! The two ends of a ping-pong, or of one for each of several ports.

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
use seatrial_bench::verbs::{Method, RdmaConfig, RdmaEndpoint, RemoteCompletion, Side};
use seatrial_bench::{Prepared, Running, Sink, Stop, ThreadSpec, ThreadTeam};

/// How often the answering end checks its threads for errors. They may share its CPU, where each wake-up costs them
/// more than its own time: under emulation perftest's round trips are 8 % longer beside 200 wake-ups per second.
const POLL_INTERVAL: Duration = Duration::from_millis(100);

const FIRST: u64 = 0;
const LAST: u64 = 1;

/// Coordinate of samples and histograms: the port's number, if there are several ports.
pub const PORT: &str = "port";

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
    ports: Vec<LatencyPort>,
}

/// One port of this end. If its card does everything, it has neither requester nor responder.
struct LatencyPort {
    // Dropped before the endpoint, so that their threads end before the queue pair.
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
        let (at, bytes) = (endpoint.layout.at(0, Side::In, 0) as usize, endpoint.layout.stride as u32);
        let receives = hears.then(|| endpoint.post_receives(at, bytes)).transpose()?;
        Ok(Self { requester: None, responder: None, receives, endpoint })
    }

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
        let other = || Reason::new(Cause::Protocol, "this end sends no requests");
        self.requester.as_mut().ok_or_else(other)
    }

    fn ask(&mut self, stop: &Stop, out: &mut dyn Sink) -> Result<Vec<Value>, Reason> {
        self.requester()?.run(stop, out)
    }

    /// Sends the message that is checked after the clock has stopped. If it was lost, nothing is left of earlier ones.
    fn last(&mut self) -> Result<(), Reason> {
        let endpoint = &self.endpoint;
        endpoint.poison_in()?;
        if endpoint.config.method.verb != VerbKind::Read {
            endpoint.fill_out(LAST, endpoint.layout.slots, |slot| slot)?;
        }
        if !self.requester()?.last()? {
            self.endpoint.poison_in()?;
        }
        Ok(())
    }

    fn verify(&mut self) -> Result<Integrity, Reason> {
        let responder = self.responder.as_mut();
        if responder.is_none() && self.requester.is_none() {
            return Ok(Integrity::Unverified { why: "the other end checks what this end sent".to_owned() });
        }
        // The responder's content never changes; the requester's was written anew for the last message.
        let pass = if self.requester.is_some() { FIRST } else { LAST };
        let outcome = responder.map_or(Ok(()), Responder::check);
        let outcome = outcome.and_then(|()| received(&self.endpoint, pass));
        Integrity::of_check(outcome, self.responder.as_ref().map_or(0, Responder::served) + 1)
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
            while !stop.is_over() {
                let mut responders = self.ports.iter_mut().filter_map(|port_end| port_end.responder.as_mut());
                responders.try_for_each(Responder::check)?;
                stop.rest(POLL_INTERVAL);
            }
            let responders: Vec<_> =
                self.ports.iter().filter_map(|port_end| port_end.responder.as_ref()).collect();
            if !responders.is_empty() {
                out.evidence("served", json!(responders.into_iter().map(Responder::served).sum::<u64>()));
            }
        }
        if phase == Phase::Measure {
            out.evidence("device", facts(self.ports.iter().map(|port_end| &port_end.endpoint)));
        }
        Ok(())
    }

    fn verify(&mut self) -> Result<Integrity, Reason> {
        Ok(Integrity::of_all(self.ports.iter_mut().map(LatencyPort::verify).collect::<Result<Vec<_>, _>>()?))
    }
}

fn counts(ports: &[LatencyPort]) -> (u64, u64) {
    let all = ports.iter().filter_map(|port_end| port_end.requester.as_ref()).map(Requester::counts);
    all.fold((0, 0), |sum, own| (sum.0 + own.0, sum.1 + own.1))
}

/// Runs all ports at the same time, each in a thread next to its card; returns the histograms of all.
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
    samples.sort_by_key(|sample| sample.start);
    samples.into_iter().for_each(|sample| out.sample(sample));
    Ok(histograms)
}

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

fn received(endpoint: &RdmaEndpoint, pass: u64) -> Result<Integrity, Reason> {
    let (config, largest, stride) =
        (&endpoint.config, endpoint.config.largest() as usize, endpoint.layout.stride as usize);
    // With polled memory the content ends with a mark, which every round checked.
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
    let text = format!("byte {at} of the last message of {largest} B differs from what was sent");
    Ok(Integrity::Corrupt { wrong: 1, of: 1, first: text })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::rack::{Rack, case};
    use seatrial_bench::Offer;

    /// Both ends of a ping-pong by memory over an unreliable connection.
    fn ends(cards: &Rack) -> [LatencyPort; 2] {
        let changed = [("transport", "uc"), ("size", "16 B"), ("up_to", "64 B")];
        let case = case("rdma.write_poll_lat", &changed);
        let method = Method { verb: VerbKind::Write, remote_completion: RemoteCompletion::Polled };
        let mut ends = [0, 1].map(|end| {
            let mut config = RdmaConfig::of(method, &case, &case.places[end]).expect("config");
            config.system = cards.system(end);
            LatencyPort::open(&config, &[Pages::Base]).expect("opened")
        });
        let offer = |(index, end): (u32, &LatencyPort)| Offer {
            part: "end".to_owned(),
            index,
            node: "n1".to_owned(),
            data: json!(connection_infos(std::iter::once(&end.endpoint))),
            peers: None,
        };
        let offers: Vec<Offer> = (0..).zip(&ends).map(offer).collect();
        for (index, end) in (0..).zip(&mut ends) {
            connect_all(std::iter::once(&mut end.endpoint), index, &offers).expect("connected");
            end.begin().expect("begun");
        }
        ends
    }

    #[test]
    fn a_size_whose_announcement_was_lost_is_not_measured() {
        let cards = Rack::new("");
        let [mut client, mut server] = ends(&cards);
        let requester = client.requester().expect("it asks");
        let is_announced =
            |requester: &mut Requester, size| (0..100).any(|_| requester.announce(size).expect("asked"));
        assert_eq!(requester.once(16).expect("asked"), None, "what was never announced is not answered");
        server.responder.as_mut().expect("it answers").check().expect("no wrong data");
        assert!(is_announced(requester, 16));
        let announcing = requester.qp.sizes.take();
        assert!((0..3).all(|_| !requester.announce(64).expect("asked")), "answers of 16 B are none of 64 B");
        requester.qp.sizes = announcing;
        assert!(is_announced(requester, 64));
        assert!(client.last().is_ok());
    }
}
