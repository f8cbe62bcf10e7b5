//! The two ends over verbs: the same method, other messengers.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use seatrial_model::{Case, Cause, Integrity, PartPlacement, Phase, Reason};
use serde_json::json;

use super::config::PingPongConfig;
use super::outcome::{followed, led};
use super::verbs::{ByVerbs, open};
use seatrial_bench::pingpong::{Follower, Leader};
use seatrial_bench::verbs::ConnectionInfo;
use seatrial_bench::{Endpoint, Listener, PeerAddress, ServerThread, pin};
use seatrial_bench::{Prepared, Running, Sink, Stop};

/// The connection beside the queue pair only tells when an end is gone; it takes the way of the run's own.
fn control_endpoint(config: &PingPongConfig) -> Endpoint<'static> {
    Endpoint::tcp(None, config.alone)
}

/// The end that holds the clock.
pub fn lead(config: PingPongConfig, case: &Case, place: &PartPlacement) -> Result<Prepared, Reason> {
    if let Some(binding) = place.bindings.first() {
        pin(binding.cpu)?;
    }
    let (endpoint, buffers) = open(case, place, config.largest(), config.region)?;
    let receives = ByVerbs::listen(&endpoint)?;
    Prepared::new(place, endpoint.connection_info(), move |peers| {
        let theirs = ConnectionInfo::read(peers, 1)?;
        let offer = peers.iter().find(|offer| offer.part == "follower");
        let offer = offer.ok_or_else(|| Reason::new(Cause::Protocol, "no follower among the peers"))?;
        let control = PeerAddress::read(&offer.data["reach"])?.connect(&control_endpoint(&config), 0)?;
        let transport = ByVerbs::connect(endpoint, receives, &theirs, control, &buffers)?;
        Ok(Leading(Leader::new(transport, buffers, config.mode, &config.sizes)))
    })
}

struct Leading(Leader<ByVerbs>);

impl Running for Leading {
    fn run(&mut self, phase: Phase, stop: &Stop, out: &mut dyn Sink) -> Result<(), Reason> {
        self.0.run(stop, out)?;
        if phase == Phase::Measure {
            out.evidence("device", self.0.transport().facts());
        }
        Ok(())
    }

    fn verify(&mut self) -> Result<Integrity, Reason> {
        led(&mut self.0)
    }
}

/// The end that does as it is told.
pub fn follow(config: &PingPongConfig, case: &Case, place: &PartPlacement) -> Result<Prepared, Reason> {
    let listener = Listener::open(&control_endpoint(config))?;
    let (endpoint, buffers) = open(case, place, config.largest(), config.region)?;
    let receives = ByVerbs::listen(&endpoint)?;
    let mut info = json!(endpoint.connection_info());
    info["reach"] = json!(listener.address()?);
    let cpu = place.bindings.first().map(|binding| binding.cpu);
    Prepared::new(place, info, move |peers| {
        let theirs = ConnectionInfo::read(peers, 0)?;
        let control = listener.accept(1)?.only()?;
        let own = control.try_clone().map_err(|error| Reason::new(Cause::IoError, error.to_string()))?;
        // Before the thread: when this returns, the leader may write.
        let transport = ByVerbs::connect(endpoint, receives, &theirs, control, &buffers)?;
        let served = Arc::<AtomicU64>::default();
        let counter = Arc::clone(&served);
        let follow = move |_: &AtomicBool| Follower::new(transport, buffers).serve(&counter);
        Ok(Following { server: ServerThread::start(vec![own], cpu, follow)?, served })
    })
}

struct Following {
    server: ServerThread,
    served: Arc<AtomicU64>,
}

impl Running for Following {
    fn run(&mut self, _: Phase, stop: &Stop, out: &mut dyn Sink) -> Result<(), Reason> {
        self.server.wait(stop, false)?;
        out.evidence("served", json!(self.served.load(Ordering::Relaxed)));
        Ok(())
    }

    fn verify(&mut self) -> Result<Integrity, Reason> {
        followed(&mut self.server, &self.served)
    }
}
