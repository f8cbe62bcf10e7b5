//! Bounds on reading and writing files in a directory, from the inventory: the disk and its link, the network to a server,
//! and limits of control groups.

use std::net::IpAddr;

use ipnet::IpNet;
use seatrial_inventory::{DiskLoad, Links, Load, disk_limit_under, nic_limit_under};
use seatrial_model::machine::{FileSystem, Machine, Medium, Nic};
use seatrial_model::{Bound, Limit, Unit};

use super::file_system_of;
use crate::goodput::{Goodput, Ip, Transport};
use crate::link_limits::framing;

/// Bytes per second that the hardware below the directory at `path` allows under `load`.
pub fn limit_of_directory(machine: &Machine, path: &str, load: DiskLoad) -> Limit {
    let unknown = |reason: String| Limit::Unknown { reason };
    if path == "auto" {
        return unknown("with directory=auto the disk is not known when the run is planned; set the parameter directory to a path".to_owned());
    }
    let Some(found) = file_system_of(machine, path) else {
        return unknown(format!("the file system of {path} is not known"));
    };
    match (found.medium, &found.disks[..]) {
        (Medium::Network, _) if load.reads && load.writes => unknown(format!(
            "{} is on a server, and the network carries both directions at once",
            found.source
        )),
        (Medium::Network, _) => network(found, machine, load.writes).unwrap_or_else(unknown),
        (Medium::Host, _) => unknown(format!("{} is on the host of this virtual machine", found.source)),
        (Medium::Memory, _) => unknown(format!("{} is in memory", found.mount)),
        (_, []) => unknown(format!("the disk below {} is not known", found.mount)),
        (_, [one]) => {
            let disk = machine.disks.known().and_then(|disks| disks.iter().find(|disk| disk.name == *one));
            disk.map_or_else(
                || unknown(format!("disk {one} is not in the inventory")),
                |disk| disk_limit_under(disk, load),
            )
        }
        (_, several) => unknown(format!(
            "{} lies on {} disks, and how they divide the load is not known",
            found.mount,
            several.len()
        )),
    }
}

/// Bound of the network interface to the server, in TCP payload. Overhead of the file system's own protocol is left
/// out, so the bound is an upper one.
fn network(found: &FileSystem, machine: &Machine, sends: bool) -> Result<Limit, String> {
    let source = &found.source;
    if found.options.iter().any(|option| option == "proto=rdma") {
        return Err(format!("{source} is mounted over RDMA, for which no frame overhead is known"));
    }
    let server: Option<IpAddr> = found.server.as_deref().and_then(|text| text.parse().ok());
    let server = server.ok_or_else(|| format!("the server address of {source} is not known"))?;
    let nics = machine.nics.listed();
    let reaches = |nic: &&Nic| {
        let networks = nic.networks.listed();
        networks.iter().any(|network| contains(network, server))
    };
    let nic = match nics.iter().filter(reaches).collect::<Vec<_>>()[..] {
        [nic] => nic,
        [] => {
            return Err(format!("server {server} of {source} is in no network of this node's interfaces"));
        }
        [..] => {
            return Err(format!(
                "several interfaces of this node are in the network of server {server} of {source}"
            ));
        }
    };
    let mtu = *nic.mtu.known().ok_or_else(|| format!("the MTU of {} is not known", nic.name))?;
    let ip = if server.is_ipv4() { Ip::V4 } else { Ip::V6 };
    let goodput = Goodput::of(framing(nic, nics), ip, Transport::Tcp { timestamps: true }, mtu);
    let goodput = goodput.ok_or_else(|| format!("an MTU of {mtu} leaves no room for payload"))?;
    // The mount may use several connections (nconnect), so all members of a bond count.
    let load = Load { flows: None, sends: Some(sends) };
    let of_nic = |bound: &Bound| {
        let payload = goodput.within(bound, bound.provenance.starts_with("pcie"));
        let value = payload.value.to(Unit::MegabytesPerSecond).unwrap_or(payload.value);
        let formula = format!("{} to {server}: {}", nic.name, payload.formula);
        Bound { value, formula, provenance: format!("nic {}", payload.provenance), nominal: None }
    };
    match nic_limit_under(nic, Links::of(machine), load) {
        Limit::Chain(bounds) => Ok(Limit::Chain(bounds.iter().map(of_nic).collect())),
        Limit::Unknown { reason } | Limit::AtMost { reason, .. } => {
            Err(format!("{source} is reached over {}: {reason}", nic.name))
        }
    }
}

/// Whether a network such as `10.0.0.0/24` contains an address.
fn contains(network: &str, address: IpAddr) -> bool {
    network.parse::<IpNet>().is_ok_and(|network| network.contains(&address))
}
