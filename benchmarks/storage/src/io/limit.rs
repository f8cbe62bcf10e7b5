//! Bounds on reading and writing files, from the inventory: the disk and its link, the network to a server, and
//! limits of control groups.

use std::net::IpAddr;

use seatrial_inventory::{DiskLoad, Links, Load, disk_limit_under, nic_limit_under};
use seatrial_model::machine::{FileSystem, Machine, Medium, Nic};
use seatrial_model::{About, Bound, Case, Limit, Limits, Quantity, Site, Unit};

use super::job::JobSpec;
use crate::file_system::file_system_of;
use crate::many;
use seatrial_bench::goodput::{Goodput, Ip, Transport};
use seatrial_bench::link_limits::framing;

pub fn limits(about: &About, case: &Case, site: &Site) -> Limits {
    let block = case.params.bytes("block").ok().flatten().map_or(1.0, |bytes| bytes.get() as f64);
    let (sum, read, written) =
        (rate(case, site, [true, true]), rate(case, site, [true, false]), rate(case, site, [false, true]));
    let unbounded = |what: &str| Limit::unknown(format!("no hardware fact bounds {what}"));
    let of = |name: &str| match name {
        "throughput" | "first_done" | "last_done" | "slowest_node" => sum.clone(),
        "read" => read.clone(),
        "written" | "durable" => written.clone(),
        "iops" => in_blocks(&sum, block),
        "fairness" => Limit::Unknown {
            reason: "the index is at most 1 by definition; hardware does not bound it".to_owned(),
        },
        "cpu_per_io" => unbounded("the CPU time per block"),
        _ => unbounded("how long a request takes"),
    };
    about.limits(of)
}

pub fn in_blocks(limit: &Limit, block: f64) -> Limit {
    let one = |bound: &Bound| {
        let bytes = bound.value.base();
        let value = Quantity::new(bytes / block, Unit::PerSecond).ok()?;
        let (formula, provenance) = (format!("{} / {block} B", bound.formula), bound.provenance.clone());
        Some(Bound { value, formula, provenance, nominal: None })
    };
    match limit {
        Limit::Chain(bounds) => Limit::Chain(bounds.iter().filter_map(one).collect()),
        unknown => unknown.clone(),
    }
}

fn rate(case: &Case, site: &Site, [reads, writes]: [bool; 2]) -> Limit {
    let unknown = |reason: String| Limit::Unknown { reason };
    let Some(machine) = case.nodes.first().and_then(|node| site.machine(node)) else {
        return unknown("the node is not known".to_owned());
    };
    if many::is_of_many(case) {
        let text = "many clients share servers that the inventory does not see: state what these deliver with [[limit]]";
        return unknown(text.to_owned());
    }
    let (Ok(path), Ok(job)) = (case.planned.text("directory"), JobSpec::of(&case.params)) else {
        return unknown("the directory is not known".to_owned());
    };
    if path == "auto" {
        return unknown("with directory=auto the disk is not known when the run is planned; set the parameter directory to a path".to_owned());
    }
    if !job.direct {
        let text = "access=buffered: the page cache may move more than the disk for a while";
        return unknown(text.to_owned());
    }
    let Some(found) = file_system_of(machine, path) else {
        return unknown(format!("the file system of {path} is not known"));
    };
    let load = DiskLoad {
        reads: reads && job.operation.reads(),
        writes: writes && job.operation.writes(),
        block: job.block as u64,
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
    let nics = machine.nics.known().map_or(&[][..], Vec::as_slice);
    let reaches = |nic: &&Nic| {
        let networks = nic.networks.known().map_or(&[][..], Vec::as_slice);
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
    let Some((base, bits)) = network.split_once('/') else { return false };
    let (Ok(base), Ok(bits)) = (base.parse::<IpAddr>(), bits.parse::<u32>()) else { return false };
    let first = |number: u128, width: u32| number.checked_shr(width.saturating_sub(bits)).unwrap_or(0);
    match (base, address) {
        (IpAddr::V4(base), IpAddr::V4(address)) => {
            first(u32::from(base).into(), 32) == first(u32::from(address).into(), 32)
        }
        (IpAddr::V6(base), IpAddr::V6(address)) => first(base.into(), 128) == first(address.into(), 128),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_in_the_networks_that_hold_it() {
        let within = |network: &str, address: &str| contains(network, address.parse().expect("an address"));
        assert!(within("10.0.0.0/24", "10.0.0.255") && !within("10.0.0.0/24", "10.0.1.0"));
        assert!(within("10.0.0.0/8", "10.200.0.1") && within("0.0.0.0/0", "8.8.8.8"));
        assert!(within("fd00::/64", "fd00::1") && !within("fd00::/64", "fd00:0:0:1::1"));
        assert!(!within("10.0.0.0/8", "fd00::1") && !within("nonsense", "10.0.0.1"));
    }
}
