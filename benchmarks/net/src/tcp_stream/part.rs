//! One end of all flows. The server listens, the client connects; the direction of a flow decides which end sends.

use std::net::TcpStream;
use std::time::{Duration, Instant};

use seatrial_model::{Case, Cause, Integrity, Nanos, PartPlacement, Phase, Quantity, Reason, Sample, Unit};
use seatrial_stats::median;
use seatrial_sys::clock::now_ns;
use seatrial_sys::net::{HostTime, host_time, tcp_info};
use seatrial_sys::root::SysRoot;
use serde_json::json;

use super::config::{Name, TcpStreamConfig};
use super::flow::Lap;
use super::method::{Method, Receiving, Sending};
use super::method_probe;
use super::queued::Queue;
use super::record::ENDS;
use super::team::FlowTeam;
use super::unsent::QueueReadings;
use crate::protocol;
use seatrial_bench::{Listeners, PeerAddress, connect_over, interface_of};
use seatrial_bench::{Offer, Prepared, Running, Sink, Stop};

/// Readings of the round trip times in a phase.
const LOOKS: u32 = 50;

const POLL_INTERVAL: Duration = Duration::from_millis(20);

pub fn prepare(case: &Case, place: &PartPlacement) -> Result<Prepared, Reason> {
    prepare_with(TcpStreamConfig::of(case, place)?, place)
}

pub(super) fn prepare_with(config: TcpStreamConfig, place: &PartPlacement) -> Result<Prepared, Reason> {
    config.require_congestion_control()?;
    let listeners = match config.client {
        true => None,
        false => Some(
            Listeners::open(&config.paths()).map_err(|error| protocol::refused(&config.protocol, error))?,
        ),
    };
    let addresses = listeners.as_ref().map(Listeners::addresses).transpose()?.unwrap_or_default();
    Prepared::new(place, addresses, move |peers| {
        let accepted = listeners.map(Listeners::accept).transpose()?;
        let foreign = accepted.iter().flatten().map(|path| path.foreign).sum();
        let streams = match accepted {
            Some(accepted) => accepted.into_iter().map(|path| path.streams).collect(),
            None => connect_over(&config.paths(), &Offer::of_other::<Vec<PeerAddress>>(peers, 0)?)
                .map_err(|error| protocol::refused(&config.protocol, error))?,
        };
        let streams = config.in_order(streams);
        for (name, stream) in config.flows.iter().zip(&streams) {
            config.set_up(*name, stream)?;
        }
        let team = FlowTeam::start(&config, streams)?;
        let methods = (config.send.unwrap_or(Sending::ALL[0]), config.receive.unwrap_or(Receiving::ALL[0]));
        Ok(TcpEnd { config, foreign, team, methods })
    })
}

struct TcpEnd {
    config: TcpStreamConfig,
    foreign: usize,
    team: FlowTeam,
    methods: (Sending, Receiving),
}

impl TcpEnd {
    fn measure(&mut self, stop: &Stop, out: &mut dyn Sink) -> Result<(), Reason> {
        let (send, receive) = self.methods;
        let mut times: Vec<(Name, u64, u32)> = Vec::new();
        let mut looks = QueueReadings::default();
        let Self { config, team, .. } = self;
        let span = (stop.left() / LOOKS).max(POLL_INTERVAL);
        let mut next = Instant::now() + span;
        let sends = team.flows().iter().filter(|(name, _)| config.sends(*name));
        // The first flow of each rail gives its interface.
        let firsts = sends.take(config.rails.len().max(1));
        let queues: Vec<Queue> = firsts.filter_map(|(_, stream)| Queue::of(stream)).collect();
        let before = host_time(&SysRoot::live());
        let start_ns = now_ns();
        team.turn(send, receive, true)?;
        let far = Instant::now() + stop.left() + Duration::from_secs(1);
        team.wait(far, stop, |team| {
            if Instant::now() >= next {
                next = Instant::now() + span;
                times.extend(round_trips(team, &mut looks));
            }
        })?;
        // Data keeps moving until all parts have measured: parts that still measure would see the end of a flow.
        let mut laps = team.turn(send, receive, false)?;
        let window_ns = now_ns() - start_ns;
        let queues: Vec<serde_json::Value> =
            queues.iter().filter_map(|before| Some(before.again()?.since(before))).collect();
        let host = before.and_then(|before| Ok(host_time(&SysRoot::live())?.since(&before)));
        let mut interfaces: Vec<String> = team
            .flows()
            .iter()
            .take(config.rails.len().max(1))
            .filter_map(|(_, stream)| interface_of(stream))
            .collect();
        interfaces.dedup();
        method_probe::require(config, &laps)?;
        for lap in laps.iter_mut().filter(|lap| lap.end.sends) {
            lap.end.drained = looks.drained(lap.end.name());
            lap.end.tcp.rtt_us = usual(&times, lap.end.name()).or(lap.end.tcp.rtt_us);
        }
        for lap in &laps {
            tell_slices(lap, out);
        }
        for (name, at, rtt_us) in times {
            let amount = Quantity::new(f64::from(rtt_us), Unit::Microsecond)
                .map_err(|error| Reason::new(Cause::Protocol, error.to_string()))?;
            out.sample(sample("rtt", name, (at, at), amount));
        }
        out.evidence(ENDS, json!(laps.iter().map(|lap| &lap.end).collect::<Vec<_>>()));
        out.evidence("host", tell_host(host.as_ref().ok(), window_ns));
        out.evidence("interface", json!(interfaces.join("+")));
        out.evidence("queues", json!(queues));
        out.evidence("foreign", json!(self.foreign));
        Ok(())
    }
}

impl Running for TcpEnd {
    fn run(&mut self, phase: Phase, stop: &Stop, out: &mut dyn Sink) -> Result<(), Reason> {
        match phase {
            Phase::Measure => self.measure(stop, out),
            _ => {
                let found = method_probe::run(&mut self.team, &self.config, stop)?;
                self.methods = (found.send, found.receive);
                out.evidence("methods", found.shown);
                Ok(())
            }
        }
    }

    fn verify(&mut self) -> Result<Integrity, Reason> {
        Ok(Integrity::of_all(self.team.end()?))
    }
}

/// The smoothed round trip times of the flows that send from here; also reads their send queues.
fn round_trips(team: &FlowTeam, looks: &mut QueueReadings) -> Vec<(Name, u64, u32)> {
    let at = now_ns();
    let ask = |(name, stream): &(Name, TcpStream)| {
        let info = tcp_info(stream).ok()?;
        if let Some(mss) = info.snd_mss {
            looks.read_queue(*name, stream, mss);
        }
        // An end that only acknowledges has no useful round trip time.
        let sends = info.data_segs_out.is_some_and(|count| count > 100);
        info.rtt_us.filter(|us| *us > 0 && sends).map(|us| (*name, at, us))
    };
    team.flows().iter().filter_map(ask).collect()
}

/// Median of a flow's smoothed round trip times, in microseconds. The last reading alone may fall into a moment at
/// which an end waited for its CPU, and would look like a queue in the path.
fn usual(times: &[(Name, u64, u32)], flow: Name) -> Option<u32> {
    let own = times.iter().filter(|(name, ..)| *name == flow);
    let times: Vec<f64> = own.map(|(.., us)| f64::from(*us)).collect();
    Some(median(&times)? as u32)
}

fn tell_slices(lap: &Lap, out: &mut dyn Sink) {
    for slice in &lap.slices {
        let span = (slice.start_ns, slice.end_ns);
        out.sample(sample("received", lap.end.name(), span, Quantity::bytes(slice.bytes)));
    }
}

fn sample(channel: &str, name: Name, (start, end): (u64, u64), amount: Quantity) -> Sample {
    let at = [("direction", name.direction.word().into()), ("flow", u64::from(name.flow).into())];
    Sample::new(channel, at.into(), (Nanos(start), Nanos(end)), amount)
}

fn tell_host(host: Option<&HostTime>, window_ns: u64) -> serde_json::Value {
    match host {
        Some(host) => json!({
            "window_ns": window_ns, "busy_ns": host.busy_ns(), "user_ns": host.user_ns, "system_ns": host.system_ns,
            "irq_ns": host.irq_ns, "softirq_ns": host.softirq_ns, "idle_ns": host.idle_ns, "steal_ns": host.steal_ns,
        }),
        None => json!({ "window_ns": window_ns, "unknown": "/proc/stat cannot be read" }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use seatrial_bench::Direction;

    #[test]
    fn the_usual_round_trip_is_not_that_of_a_moment() {
        let flow = |flow| Name { direction: Direction::Forward, flow };
        let looks = [(0, 90), (0, 110), (1, 7), (0, 3_819)].map(|(number, us)| (flow(number), 0, us));
        assert_eq!(usual(&looks, flow(0)), Some(110));
        assert_eq!(usual(&looks, flow(2)), None);
    }
}
