//! The two ends over verbs: the same method, other messengers.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use seatrial_model::{Case, Cause, Integrity, PartPlacement, Phase};
use seatrial_sys::verbs::ReceiveList;
use serde_json::json;

use super::config::PingPongConfig;
use super::outcome::{followed, led};
use super::verbs::{ByVerbs, open};
use seatrial_bench::pingpong::{Buffers, Follower, Leader};
use seatrial_bench::verbs::{ConnectionInfo, RdmaEndpoint};
use seatrial_bench::{Endpoint, Listener, PeerAddress, ServerThread, pin};
use seatrial_bench::{Error, Offer, Part, Sink, Stop};

/// What an end has made before it is connected.
struct Ready {
    endpoint: RdmaEndpoint,
    receives: ReceiveList,
    buffers: Buffers,
}

/// One of the two ends.
pub struct Common {
    config: PingPongConfig,
    place: PartPlacement,
    case: Case,
    ready: Option<Ready>,
}

impl Common {
    pub fn new(config: PingPongConfig, case: &Case, place: &PartPlacement) -> Self {
        Self { config, place: place.clone(), case: case.clone(), ready: None }
    }

    /// Makes everything up to the connection; the offer.
    fn prepare(&mut self) -> Result<serde_json::Value, Error> {
        let (endpoint, buffers) = open(&self.case, &self.place, self.config.largest(), self.config.region)?;
        let receives = ByVerbs::listen(&endpoint)?;
        let info = json!(endpoint.connection_info());
        self.ready = Some(Ready { endpoint, receives, buffers });
        Ok(info)
    }

    fn ready(&mut self) -> Result<Ready, Error> {
        self.ready.take().ok_or_else(|| Error::new(Cause::Protocol, "told to connect before it was prepared"))
    }

    /// The connection beside the queue pair only tells when an end is gone; it takes the way of the run's own.
    fn endpoint(&self) -> Endpoint<'_> {
        Endpoint::tcp(None, self.config.alone)
    }
}

/// The end that holds the clock.
pub struct Leading {
    common: Common,
    leader: Option<Leader<ByVerbs>>,
}

impl Leading {
    pub fn new(common: Common) -> Self {
        Self { common, leader: None }
    }

    fn leader(&mut self) -> Result<&mut Leader<ByVerbs>, Error> {
        self.leader.as_mut().ok_or_else(|| Error::new(Cause::Protocol, "told to run before it was connected"))
    }
}

impl Part for Leading {
    fn prepare(&mut self) -> Result<Offer, Error> {
        if let Some(binding) = self.common.place.seats.first() {
            pin(binding.cpu)?;
        }
        let info = self.common.prepare()?;
        Ok(Offer::new(&self.common.place, info))
    }

    fn connect(&mut self, peers: &[Offer]) -> Result<(), Error> {
        let theirs = ConnectionInfo::read(peers, 1)?;
        let offer = peers.iter().find(|offer| offer.part == "follower");
        let offer = offer.ok_or_else(|| Error::new(Cause::Protocol, "no follower among the peers"))?;
        let control = PeerAddress::read(&offer.data["reach"])?.connect(&self.common.endpoint(), 0)?;
        let Ready { endpoint, receives, buffers } = self.common.ready()?;
        let transport = ByVerbs::connect(endpoint, receives, &theirs, control, &buffers)?;
        self.leader =
            Some(Leader::new(transport, buffers, self.common.config.mode, &self.common.config.sizes));
        Ok(())
    }

    fn run(&mut self, phase: Phase, stop: &Stop, out: &mut dyn Sink) -> Result<(), Error> {
        let leader = self.leader()?;
        leader.run(stop, out)?;
        if phase == Phase::Measure {
            out.evidence("device", leader.transport().facts());
        }
        Ok(())
    }

    fn verify(&mut self) -> Result<Integrity, Error> {
        led(self.leader()?)
    }
}

/// The end that does as it is told.
pub struct Following {
    common: Common,
    listener: Option<Listener>,
    server: Option<ServerThread>,
    served: Arc<AtomicU64>,
}

impl Following {
    pub fn new(common: Common) -> Self {
        Self { common, listener: None, server: None, served: Arc::default() }
    }
}

impl Part for Following {
    fn prepare(&mut self) -> Result<Offer, Error> {
        let listener = Listener::open(&self.common.endpoint())?;
        let mut info = self.common.prepare()?;
        info["reach"] = json!(listener.address()?);
        self.listener = Some(listener);
        Ok(Offer::new(&self.common.place, info))
    }

    fn connect(&mut self, peers: &[Offer]) -> Result<(), Error> {
        let theirs = ConnectionInfo::read(peers, 0)?;
        let listener = self.listener.take();
        let listener =
            listener.ok_or_else(|| Error::new(Cause::Protocol, "told to connect before it listened"))?;
        let control = listener.accept(1)?.only()?;
        let own = control.try_clone().map_err(|error| Error::new(Cause::IoError, error.to_string()))?;
        let Ready { endpoint, receives, buffers } = self.common.ready()?;
        // Before the thread: when this returns, the leader may write.
        let transport = ByVerbs::connect(endpoint, receives, &theirs, control, &buffers)?;
        let (cpu, counter) =
            (self.common.place.seats.first().map(|binding| binding.cpu), Arc::clone(&self.served));
        let follow = move |_: &AtomicBool| Follower::new(transport, buffers).serve(&counter);
        self.server = Some(ServerThread::start(vec![own], cpu, follow)?);
        Ok(())
    }

    fn run(&mut self, _: Phase, stop: &Stop, out: &mut dyn Sink) -> Result<(), Error> {
        let server = self.server.as_mut();
        let server =
            server.ok_or_else(|| Error::new(Cause::Protocol, "told to run before it was connected"))?;
        server.wait(stop, false)?;
        out.evidence("served", json!(self.served.load(Ordering::Relaxed)));
        Ok(())
    }

    fn verify(&mut self) -> Result<Integrity, Error> {
        followed(self.server.as_mut(), &self.served)
    }
}
