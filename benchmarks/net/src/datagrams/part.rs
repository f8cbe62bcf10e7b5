//! An end of the stream: sends, receives, or both, and agrees with the other end on what was sent.

use seatrial_model::{Case, Cause, Integrity, Nanos, PartPlacement, Phase};
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::config::{HEADER, MOST_MESSAGE, UdpStreamConfig};
use super::control::{Control, Said};
use super::header::Pattern;
use super::inbound::{Ports, ReceiveThread};
use super::outbound::{self, Sending};
use super::phase::{Ran, Stage, WARM_UP};
use super::record::integrity;
use super::record::{RECEIVED, Received, SENT, STEPS};
use seatrial_bench::{Error, Offer, Part, Sink, Stop};
use seatrial_bench::{Listener, PeerAddress, interface_of};

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

pub struct End {
    config: UdpStreamConfig,
    place: PartPlacement,
    time: Nanos,
    /// Between prepare and connect.
    listener: Option<Listener>,
    ports: Option<Ports>,
    stage: Option<Stage>,
    /// Of the phase that was measured.
    integrity: Option<Integrity>,
}

/// The part of `case` at `place`.
///
/// # Errors
/// When the case cannot be read.
pub fn part(case: &Case, place: &PartPlacement) -> Result<Box<dyn Part>, Error> {
    Ok(Box::new(End {
        config: UdpStreamConfig::of(case, place)?,
        place: place.clone(),
        time: case.budget.measure.max(case.budget.warm_up),
        listener: None,
        ports: None,
        stage: None,
        integrity: None,
    }))
}

fn told_too_early(what: &str) -> Error {
    Error::new(Cause::Protocol, format!("told to {what} too early"))
}

impl Part for End {
    /// The second end listens for the control connection; whoever receives opens its ports.
    fn prepare(&mut self) -> Result<Offer, Error> {
        let mut invitation = Invitation { control: None, ports: Vec::new() };
        if self.config.index == 1 {
            let listener = Listener::open(&self.config.endpoint())?;
            invitation.control = Some(listener.address()?);
            self.listener = Some(listener);
        }
        if self.config.receives() {
            let ports = Ports::open(&self.config)?;
            invitation.ports = ports.numbers()?;
            self.ports = Some(ports);
        }
        Ok(Offer::new(&self.place, json!(invitation)))
    }

    fn connect(&mut self, peers: &[Offer]) -> Result<(), Error> {
        let other = peers.iter().find(|offer| offer.index != self.config.index);
        let other = other.ok_or_else(|| Error::new(Cause::Protocol, "no other end among the peers"))?;
        let invitation = Invitation::deserialize(&other.data).map_err(|error| {
            Error::new(Cause::Protocol, format!("the peer's offer cannot be read: {error}"))
        })?;
        let stream = match (self.listener.take(), invitation.control) {
            (Some(listener), _) => listener.accept(1)?.only()?,
            (None, Some(address)) => address.connect(&self.config.endpoint(), 0)?,
            (None, None) => return Err(told_too_early("connect")),
        };
        let mut control = Control::new(stream)?;
        let interface = interface_of(control.stream()).or_else(|| self.config.interface.clone());
        let (own, peer) = (control.own()?, control.peer()?);
        let mut sending = None;
        if self.config.sends() {
            let (common, threads) =
                outbound::open(&self.config, interface.as_deref(), own, peer, &invitation.ports)?;
            control.say(&Said::Offered { cookie: common.cookie, message: common.message })?;
            sending = Some((common, threads));
        }
        let mut receiving = None;
        if let Some(ports) = self.ports.take() {
            let Some(Said::Offered { cookie, message }) = control.hear(OFFER_WITHIN)? else {
                return Err(Error::new(Cause::PartnerLost, "the other end did not say what it will send"));
            };
            if !(HEADER..=MOST_MESSAGE).contains(&message) {
                return Err(Error::new(
                    Cause::Protocol,
                    format!("the other end offers messages of {message} B"),
                ));
            }
            let pattern = Pattern::new(cookie, message, self.config.batch);
            let about = Received {
                message,
                buffer: ports.buffer.bytes,
                forced: ports.buffer.forced,
                coalesced: ports.coalesced,
                interface: interface.clone(),
                ..Received::default()
            };
            let threads = ReceiveThread::of(ports, &self.config, message, self.time)?;
            let common = Sending {
                cookie,
                message,
                headers: 8 + if peer.is_ipv4() { 20 } else { 40 },
                path_mtu: None,
                pattern,
            };
            receiving = Some((common, about, threads));
        }
        self.stage = Some(Stage { control, peer, interface, sending, receiving, silent: None });
        Ok(())
    }

    fn run(&mut self, phase: Phase, stop: &Stop, out: &mut dyn Sink) -> Result<(), Error> {
        let stage = self.stage.as_mut().ok_or_else(|| told_too_early("run"))?;
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
    fn verify(&mut self) -> Result<Integrity, Error> {
        let why =
            if self.config.receives() { "nothing was received" } else { "the end that receives checks" };
        Ok(self.integrity.take().unwrap_or_else(|| Integrity::Unverified { why: why.to_owned() }))
    }
}
