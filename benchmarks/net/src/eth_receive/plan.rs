//! One case for each port that receives.

use seatrial_model::{About, Case, Params, Reason, Site, SiteNode, Subject};

use crate::datagrams::between;
use seatrial_bench::Direction;
use seatrial_bench::Ends;
use seatrial_bench::ends::INTERFACE;

/// The first node receives and is what is measured; the second one sends and is not.
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
        // The id tells the subject.
        case = case.in_group(about, about.id);
    }
    Ok(case)
}

fn with(params: &Params, interface: &str) -> Params {
    let mut params = params.clone();
    params.set(INTERFACE.name, interface);
    params
}

/// The ports of the receiver that share a network with the sender's of the same name: the test is to be repeated for each.
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
