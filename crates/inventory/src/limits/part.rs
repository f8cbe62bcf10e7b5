//! Limits of all parts of a machine.

use seatrial_model::Subject;
use seatrial_model::machine::{Machine, PartLimit};

use super::{
    Links, Load, alone, disk_limit, gpu_host_limit, gpu_memory_limit, hca_limit_on, memory_limit,
    nic_limit_under, node_memory_bandwidth,
};

const ONE_WAY: &str = "rate in one direction";

/// Limits of memory, NUMA nodes (if several), interfaces, RDMA ports, accelerators and block devices, in this order.
pub fn part_limits(machine: &Machine) -> Vec<PartLimit> {
    let mut parts = Vec::new();
    let mut add =
        |subject, what: &str, limit| parts.push(PartLimit { subject, what: what.to_owned(), limit });
    add(Subject::node(), "memory bandwidth", memory_limit(machine));
    if machine.numa.len() > 1 {
        for node in &machine.numa {
            let bound = node_memory_bandwidth(machine, node.id);
            add(Subject::numa(node.id), "memory bandwidth", alone(bound));
        }
    }
    for nic in machine.nics.listed() {
        add(Subject::device("nic", &nic.name), ONE_WAY, nic_limit_under(nic, Links::of(machine), Load::BEST));
    }
    for hca in machine.hcas.listed() {
        for port in &hca.ports {
            let name = format!("{}/{}", hca.name, port.number);
            add(Subject::device("hca", &name), ONE_WAY, hca_limit_on(hca, port, machine.nics.listed()));
        }
    }
    for gpu in machine.gpus.listed() {
        add(
            Subject::device("gpu", &gpu.index.to_string()),
            "host link in one direction",
            gpu_host_limit(gpu),
        );
        add(Subject::device("gpu", &gpu.index.to_string()), "memory bandwidth", gpu_memory_limit(gpu));
    }
    for disk in machine.disks.listed() {
        add(Subject::device("disk", &disk.name), ONE_WAY, disk_limit(disk));
    }
    parts
}
