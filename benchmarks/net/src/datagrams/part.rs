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
use seatrial_bench::{Listener, PeerAddress, interface_of};
use seatrial_bench::{Offer, Prepared, Running, Sink, Stop};

/// How long the other end may take to say what it will send, beside the connecting.
const OFFER_WITHIN: std::time::Duration = std::time::Duration::from_secs(5);

/// What the other end must know.
#[derive(Serialize, Deserialize)]
struct Invitation {
    /// The control connection; of the end that listens.
    control: Option<PeerAddress>,
    /// Where datagrams are received, by flow.
    ports: Vec<u16>,
}

struct End {
    config: UdpStreamConfig,
    stage: Stage,
    /// Of the phase that was measured.
    integrity: Option<Integrity>,
}

/// The part of `case` at `place`. The second end listens for the control connection; whoever receives opens its ports.
pub fn prepare(case: &Case, place: &PartPlacement) -> Result<Prepared, Reason> {
    let config = UdpStreamConfig::of(case, place)?;
    let time = case.budget.measure.max(case.budget.warm_up);
    let listener = if config.index == 1 { Some(Listener::open(&config.endpoint())?) } else { None };
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
    let other = peers.iter().find(|offer| offer.index != config.index);
    let other = other.ok_or_else(|| Reason::new(Cause::Protocol, "no other end among the peers"))?;
    let invitation = Invitation::deserialize(&other.data)
        .map_err(|error| Reason::new(Cause::Protocol, format!("cannot parse the peer's offer: {error}")))?;
    let stream = match (listener, invitation.control) {
        (Some(listener), _) => listener.accept(1)?.only()?,
        (None, Some(address)) => address.connect(&config.endpoint(), 0)?,
        (None, None) => return Err(Reason::new(Cause::Protocol, "the peer does not listen")),
    };
    let mut control = Control::new(stream)?;
    let interface = interface_of(control.stream()).or_else(|| config.interface.clone());
    let (own, peer) = (control.own()?, control.peer()?);
    let mut sending = None;
    if config.sends() {
        let (common, threads) = outbound::open(config, interface.as_deref(), own, peer, &invitation.ports)?;
        control.say(&Said::Offered { cookie: common.cookie, message: common.message })?;
        sending = Some((common, threads));
    }
    let mut receiving = None;
    if let Some(ports) = ports {
        let Some(Said::Offered { cookie, message }) = control.hear(OFFER_WITHIN)? else {
            return Err(Reason::new(Cause::PartnerLost, "the other end did not say what it will send"));
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

    /// The last datagram of each read was compared as it came.
    fn verify(&mut self) -> Result<Integrity, Reason> {
        let why =
            if self.config.receives() { "nothing was received" } else { "the end that receives checks" };
        Ok(self.integrity.take().unwrap_or_else(|| Integrity::Unverified { why: why.to_owned() }))
    }
}
