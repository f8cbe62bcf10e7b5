//! One case per receiving port.

use seatrial_model::machine::Nic;
use seatrial_model::profile::Requirement;
use seatrial_model::{About, Case, Params, Reason, Site, SiteNode, Subject};

use crate::datagrams::between;
use seatrial_bench::Direction;
use seatrial_bench::Ends;
use seatrial_bench::interfaces::{INTERFACE, InterfacePair, PEER_INTERFACE, choose, share_a_network};

/// The first node receives and is measured; the second node only sends.
pub fn plan(about: &About, params: &Params, site: &Site) -> Result<Vec<Case>, Reason> {
    let mut each = vec![params.clone()];
    if let ([receiver, sender, ..], Ok("auto")) = (site.nodes.as_slice(), params.text(INTERFACE.name)) {
        let ports = ports(receiver, sender, params);
        if ports.len() > 1 {
            each = ports;
        }
    }
    each.iter().map(|params| case(about, params, site)).collect()
}

fn case(about: &About, params: &Params, site: &Site) -> Result<Case, Reason> {
    let ends = Ends::of(site, params)?;
    let mut case = between(about, params, site, &ends, &[Direction::Reverse])?;
    if let Some(interfaces) = ends.interfaces() {
        case.subject = Subject::device("nic", &interfaces.first.name);
        case.key = Some(interfaces.first.key());
        // The id already names the subject.
        case = case.in_group(about, about.id);
    }
    Ok(case)
}

/// The parameters of each port of the receiver that the test selects and that has a network in common with a port of
/// the sender.
fn ports(receiver: &SiteNode, sender: &SiteNode, params: &Params) -> Vec<Params> {
    let is_port = |nic: &&Nic| nic.kind.is_device() && Requirement::selects(&receiver.on, &nic.facts());
    let own = receiver.machine.nics.listed().iter().filter(is_port);
    let between = own.filter_map(|nic| {
        let mut params = params.clone();
        params.set(INTERFACE.name, nic.name.as_str());
        let InterfacePair { first, second } = choose(receiver, sender, &params).ok()??;
        let is_up = [first, second].iter().all(|port| port.up.known() != Some(&false));
        let is_linked = is_up && share_a_network(first, second);
        let peer = second.name.clone();
        is_linked.then(|| {
            params.set(PEER_INTERFACE.name, peer.as_str());
            params
        })
    });
    between.collect()
}
