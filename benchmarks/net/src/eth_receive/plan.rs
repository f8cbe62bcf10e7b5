//! One case per receiving port.

use seatrial_model::{About, Case, Params, Reason, Site, SiteNode, Subject};

use crate::datagrams::between;
use seatrial_bench::Direction;
use seatrial_bench::Ends;
use seatrial_bench::ends::INTERFACE;

/// The first node receives and is measured; the second node only sends.
pub fn plan(about: &About, params: &Params, site: &Site) -> Result<Vec<Case>, Reason> {
    let mut each = vec![params.clone()];
    if let ([receiver, sender, ..], Ok("auto")) = (site.nodes.as_slice(), params.text(INTERFACE.name)) {
        let names = ports(receiver, sender);
        if names.len() > 1 {
            each = names.into_iter().map(|name| with(params, name)).collect();
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

fn with(params: &Params, interface: &str) -> Params {
    let mut params = params.clone();
    params.set(INTERFACE.name, interface);
    params
}

/// Ports of the receiver in the same network as the sender's port of that name; the test is repeated for each.
fn ports<'a>(receiver: &'a SiteNode, sender: &SiteNode) -> Vec<&'a str> {
    let all = |node: &'a SiteNode| node.machine.nics.known().into_iter().flatten();
    let others = sender.machine.nics.known();
    let reaches = |name: &str, networks: &[String]| {
        others.into_iter().flatten().any(|other| {
            other.name == name
                && other
                    .networks
                    .known()
                    .is_some_and(|theirs| networks.iter().any(|net| theirs.contains(net)))
        })
    };
    all(receiver)
        .filter(|nic| nic.kind.is_device() && nic.up.known() != Some(&false))
        .filter(|nic| nic.networks.known().is_some_and(|networks| reaches(&nic.name, networks)))
        .map(|nic| nic.name.as_str())
        .collect()
}
