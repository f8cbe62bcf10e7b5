//! Limits of the parts of a machine: upper bounds from the inventory, each with formula and source. Pure functions;
//! what is unknown has no bound, with a reason.

mod disk;
mod gpu;
mod hca;
mod matrix;
mod memory;
mod nic;
mod packet;
mod part;
mod pcie;
mod port;

pub use disk::{DiskLoad, disk_limit, disk_limit_under};
pub use gpu::{gpu_host_limit, gpu_links_limit, gpu_memory_limit, gpu_peer_limit, pcie_rate};
pub use hca::{hca_limit, hca_limit_on, hca_payload_limit, hca_rate};
pub use matrix::{gpu_matrix_limit, gpu_matrix_operations};
pub use memory::{memory_bandwidth, memory_limit, node_memory_bandwidth};
pub use nic::{Links, Load, nic_limit, nic_limit_under, nic_rate};
pub use packet::RdmaTraffic;
pub use part::part_limits;
pub use pcie::pcie_limit;
pub use port::port_rate;

use seatrial_model::machine::{Known, PciDevice};
use seatrial_model::{Better, Bound, Limit, Quantity, Unit};

fn bound(value: f64, unit: Unit, formula: String, provenance: &str) -> Bound {
    let value = Quantity::new(value, unit).expect("computed from finite numbers by products alone");
    Bound::new(value, formula, provenance)
}

fn alone(bound: Known<Bound>) -> Limit {
    match bound {
        Known::Known(bound) => Limit::Chain(vec![bound]),
        Known::Unknown(reason) => Limit::Unknown { reason },
    }
}

/// The bounds of a device's port and of its path to the CPU; without the port's bound there is no limit.
fn with_way(own: Known<Bound>, pci: &Known<PciDevice>) -> Limit {
    match own {
        Known::Known(own) => {
            let way = pci.known().and_then(|pci| pcie::bounds(&pci.path).known().cloned());
            Limit::Chain(std::iter::once(own).chain(way.unwrap_or_default()).collect())
        }
        Known::Unknown(reason) => Limit::Unknown { reason },
    }
}

/// The tightest bound, or why there is none.
fn tightest(limit: Limit) -> Known<Bound> {
    match limit.tightest(Better::Higher) {
        Some(bound) => Known::Known(bound.clone()),
        None => match limit {
            Limit::Chain(_) => Known::unknown("the chain of bounds is empty"),
            Limit::Unknown { reason } | Limit::AtMost { reason, .. } => Known::Unknown(reason),
        },
    }
}
