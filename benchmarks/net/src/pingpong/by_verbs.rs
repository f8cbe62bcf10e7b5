//! The two ends over verbs: the same method with another transport.

use std::slice;

use seatrial_model::{Case, PartPlacement, Reason};
use serde::{Deserialize, Serialize};

use super::config::PingPongConfig;
use super::ends::{Following, Leading};
use super::verbs::{ByVerbs, open, operation};
use seatrial_bench::pingpong::{Follower, Leader};
use seatrial_bench::verbs::ConnectionInfo;
use seatrial_bench::{Endpoint, Listener, Offer, PeerAddress, Prepared, second_handles};

/// What the follower offers.
#[derive(Serialize, Deserialize)]
struct FollowerInfo {
    #[serde(flatten)]
    info: ConnectionInfo,
    reach: PeerAddress,
}

/// The connection beside the queue pair only shows that an end is gone; it uses the run's own path.
fn control_endpoint(config: &PingPongConfig) -> Endpoint {
    Endpoint::tcp(None, config.alone)
}

pub fn lead(config: PingPongConfig, case: &Case, place: &PartPlacement) -> Result<Prepared, Reason> {
    let operation = operation(&case.params);
    let (endpoint, buffers) = open(case, place, config.largest(), config.region)?;
    let receives = ByVerbs::listen(&endpoint, &buffers, operation)?;
    Prepared::new(place, endpoint.connection_info(), move |peers| {
        let theirs: FollowerInfo = Offer::of_other(peers, 0)?;
        let control = theirs.reach.connect(&control_endpoint(&config), 0)?;
        let transport = ByVerbs::connect(endpoint, receives, &theirs.info, control, &buffers, operation)?;
        let leader = Leader::new(transport, buffers, config.mode, &config.sizes);
        Ok(Leading { leader, evidence: |transport| ("device", transport.facts()) })
    })
}

pub fn follow(config: &PingPongConfig, case: &Case, place: &PartPlacement) -> Result<Prepared, Reason> {
    let listener = Listener::open(&control_endpoint(config))?;
    let operation = operation(&case.params);
    let (endpoint, buffers) = open(case, place, config.largest(), config.region)?;
    let receives = ByVerbs::listen(&endpoint, &buffers, operation)?;
    let offer = FollowerInfo { info: endpoint.connection_info(), reach: listener.address()? };
    let cpu = place.cpu(0);
    Prepared::new(place, offer, move |peers| {
        let theirs: ConnectionInfo = Offer::of_other(peers, 1)?;
        let control = listener.accept(1)?.only()?;
        let own = second_handles(slice::from_ref(&control))?;
        // Before the thread starts: after this call the leader may write.
        let transport = ByVerbs::connect(endpoint, receives, &theirs, control, &buffers, operation)?;
        Following::start(own, cpu, move || Ok(Follower::new(transport, buffers)))
    })
}
