//! An end of the stream: sends, receives, or both, and agrees with the other end on what was sent.

use seatrial_model::{Case, Cause, Integrity, Nanos, PartPlacement, Phase, Reason};
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::config::{HEADER, MOST_MESSAGE, UdpStreamConfig};
use super::control::{Control, Said};
use super::header::Pattern;
use super::inbound::{Ports, ReceiveThread};
use super::outbound::{self, SenderSpec};
use super::phase::{Ran, Stage, WARM_UP};
use super::record::integrity;
use super::record::{RECEIVED, Received, SENT, STEPS};
use seatrial_bench::{
    Listener, Offer, PeerAddress, Prepared, REPLY_TIMEOUT, Running, Sink, Stop, interface_of,
};

#[derive(Serialize, Deserialize)]
struct Invitation {
    /// The address of the control connection, if this end listens.
    control: Option<PeerAddress>,
    ports: Vec<u16>,
}

struct End {
    config: UdpStreamConfig,
    stage: Stage,
    integrity: Option<Integrity>,
}

/// The part of `case` at `place`. The second end listens for the control connection; a receiving end opens its ports.
pub fn prepare(case: &Case, place: &PartPlacement) -> Result<Prepared, Reason> {
    let config = UdpStreamConfig::of(case, place)?;
    let time = case.budget.measure.max(case.budget.warm_up);
    let listener = if config.index == 1 { Some(Listener::open(&config.endpoint)?) } else { None };
    let ports = if config.receives() { Some(Ports::open(&config)?) } else { None };
    let invitation = Invitation {
        control: listener.as_ref().map(Listener::address).transpose()?,
        ports: ports.as_ref().map_or(Ok(Vec::new()), Ports::numbers)?,
    };
    Prepared::new(place, invitation, move |peers| {
        let stage = connect(&config, time, listener, ports, peers)?;
        Ok(End { config, stage, integrity: None })
    })
}

fn connect(
    config: &UdpStreamConfig,
    time: Nanos,
    listener: Option<Listener>,
    ports: Option<Ports>,
    peers: &[Offer],
) -> Result<Stage, Reason> {
    let invitation: Invitation = Offer::of_other(peers, config.index)?;
    let stream = match (listener, invitation.control) {
        (Some(listener), _) => listener.accept(1)?.only()?,
        (None, Some(address)) => address.connect(&config.endpoint, 0)?,
        (None, None) => {
            return Err(Reason::new(Cause::Protocol, "neither end listens for the control connection"));
        }
    };
    let mut control = Control::new(stream)?;
    let interface = interface_of(control.stream()).or_else(|| config.endpoint.interface.clone());
    let (own, peer) = (control.own()?, control.peer()?);
    let mut sending = None;
    if config.sends() {
        let (common, threads) = outbound::open(config, interface.as_deref(), own, peer, &invitation.ports)?;
        control.say(&Said::Offered { cookie: common.cookie, message: common.message })?;
        sending = Some((common, threads));
    }
    let mut receiving = None;
    if let Some(ports) = ports {
        let Some(Said::Offered { cookie, message }) = control.hear(REPLY_TIMEOUT)? else {
            return Err(Reason::new(Cause::PartnerLost, "the other end did not send its offer"));
        };
        if !(HEADER..=MOST_MESSAGE).contains(&message) {
            return Err(Reason::new(
                Cause::Protocol,
                format!("the other end offers messages of {message} B"),
            ));
        }
        let pattern = Pattern::new(cookie, message, config.batch);
        let about = Received {
            message,
            buffer: ports.buffer.bytes,
            forced: ports.buffer.forced,
            coalesced: ports.coalesced,
            interface: interface.clone(),
            ..Received::default()
        };
        let threads = ReceiveThread::of(ports, config, message, time)?;
        let common = SenderSpec {
            cookie,
            message,
            headers: 8 + if peer.is_ipv4() { 20 } else { 40 },
            path_mtu: None,
            pattern,
        };
        receiving = Some((common, about, threads));
    }
    Ok(Stage { control, peer, interface, sending, receiving, silent: None })
}

impl Running for End {
    fn run(&mut self, phase: Phase, stop: &Stop, out: &mut dyn Sink) -> Result<(), Reason> {
        let stage = &mut self.stage;
        if let (Phase::Measure, Some(step)) = (phase, self.config.step) {
            if self.config.sends() {
                out.evidence(STEPS, json!(stage.search(&self.config, step, stop)?));
            } else {
                let (last, integrity) = stage.follow(&self.config, step, stop)?;
                self.integrity = Some(integrity);
                out.evidence("last_step", json!(last));
            }
            return Ok(());
        }
        let number = if phase == Phase::Measure { WARM_UP + 1 } else { WARM_UP };
        let Ran { sent, received, samples } = stage.run(&self.config, number, stop)?;
        samples.into_iter().for_each(|sample| out.sample(sample));
        if let Some(sent) = sent {
            out.evidence(SENT, json!(sent));
        }
        if let Some(received) = received {
            self.integrity = Some(integrity(&received));
            out.evidence(RECEIVED, json!(received));
        }
        Ok(())
    }

    /// The last datagram of each read was compared on arrival.
    fn verify(&mut self) -> Result<Integrity, Reason> {
        let why =
            if self.config.receives() { "nothing was received" } else { "the end that receives checks" };
        Ok(self.integrity.take().unwrap_or_else(|| Integrity::Unverified { why: why.to_owned() }))
    }
}
