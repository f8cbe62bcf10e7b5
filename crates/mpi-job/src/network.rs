//! The network between the nodes of a case, as the inventory tells it.

use seatrial_bench::interfaces::INTERFACE;
use seatrial_model::machine::{Hca, HcaPort, Known, Machine};
use seatrial_model::{Case, MovedRows, Site, Value};

/// Under what name `planned` has the network of the interface.
pub const NETWORK: &str = "network";

/// Notes in `case` the network of its interface, and whether all its nodes have an active RDMA port.
pub fn note_network(case: &mut Case, site: &Site) {
    if let Some(network) = network(case, site) {
        case.planned.set(NETWORK, network.as_str());
    }
    let has_port =
        |node: &String| site.machine(node).is_some_and(|machine| active_ports(machine).next().is_some());
    let all_have = case.nodes.iter().all(has_port);
    case.planned.set(MovedRows::ACTIVE_HCA, Value::Flag(all_have));
}

/// The IPv4 network of the interface that all nodes use.
fn network(case: &Case, site: &Site) -> Option<String> {
    let name = case.planned.text(INTERFACE.name).ok()?;
    let nics = site.machine(case.nodes.first()?)?.nics.known()?;
    let networks = nics.iter().find(|nic| nic.name == name)?.networks.known()?;
    networks.iter().find(|network| network.contains('.')).cloned()
}

/// The active ports of the RDMA devices that are hardware.
pub fn active_ports(machine: &Machine) -> impl Iterator<Item = (&Hca, &HcaPort)> {
    let hcas = machine.hcas.listed().iter().filter(|hca| !hca.is_software);
    let ports = hcas.flat_map(|hca| hca.ports.iter().map(move |port| (hca, port)));
    ports.filter(|(_, port)| port.is_active() == Known::Known(true))
}
