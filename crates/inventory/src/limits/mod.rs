//! What the parts of a machine could do at best: upper bounds from the facts of the inventory, each with its formula
//! and where its numbers come from. Pure functions; what is not known has no bound and says why.

mod disk;
mod gpu;
mod hca;
mod memory;
mod nic;
mod packet;
mod part;
mod pcie;

pub use disk::{DiskLoad, disk_limit, disk_limit_under, disk_rate};
pub use gpu::{gpu_host_limit, gpu_memory_limit, gpu_peer_limit};
pub use hca::{hca_limit, hca_limit_on, hca_payload_limit, hca_rate, port_rate};
pub use memory::{memory_bandwidth, node_memory_bandwidth};
pub use nic::{Load, nic_limit, nic_limit_under, nic_rate};
pub use packet::RdmaTraffic;
pub use part::part_limits;
pub use pcie::{pcie_bandwidth, pcie_limit};

use seatrial_model::machine::{Known, PciDevice};
use seatrial_model::{Bound, Limit, Quantity, Unit};

fn bound(value: f64, unit: Unit, formula: String, provenance: &str) -> Bound {
    let value = Quantity::new(value, unit).expect("computed from finite numbers by products alone");
    Bound { value, formula, provenance: provenance.to_owned() }
}

/// The bound of one source as a limit.
fn alone(bound: Known<Bound>) -> Limit {
    match bound {
        Known::Known(bound) => Limit::Chain(vec![bound]),
        Known::Unknown(reason) => Limit::Unknown { reason },
    }
}

/// The bound of a device's own port, and those of its way to the processor where they are known. Without the first
/// there is no limit: a way that is wide enough says nothing about the port.
fn with_way(own: Known<Bound>, pci: &Known<PciDevice>) -> Limit {
    match own {
        Known::Known(own) => {
            let way = pci.known().and_then(|pci| pcie::bounds(&pci.path).known().cloned());
            Limit::Chain(std::iter::once(own).chain(way.unwrap_or_default()).collect())
        }
        Known::Unknown(reason) => Limit::Unknown { reason },
    }
}

/// The tightest of the bounds, or why there is none.
fn tightest(limit: Limit) -> Known<Bound> {
    let base = |bound: &Bound| bound.value.value() * bound.value.unit().factor();
    match limit {
        Limit::Chain(bounds) => match bounds.into_iter().min_by(|a, b| base(a).total_cmp(&base(b))) {
            Some(bound) => Known::Known(bound),
            None => Known::unknown("the chain of bounds is empty"),
        },
        Limit::Unknown { reason } => Known::Unknown(reason),
    }
}
