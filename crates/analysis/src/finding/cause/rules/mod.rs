//! All rules, in the order in which they are tried: what was seen to happen goes before what differs, and what differs before
//! what only limits.

mod congestion_control;
mod cpu_clock_settings;
mod cpu_quota;
mod disk_errors;
mod duplicates;
mod far_interrupts;
mod fewer_cpus;
mod firewall;
mod frozen_file_system;
mod full_file_system;
mod full_path;
mod gpu_clock;
mod gpu_fault;
mod gpu_shared;
mod heat;
mod large_packets;
mod link_lost;
mod loss;
mod lost_acknowledgements;
mod lost_nvlink;
mod machine_check;
mod missing_bond_member;
mod missing_memory;
mod narrow_link;
mod nfs_retransmissions;
mod pcie_errors;
mod rate_limit;
mod read_only_file_system;
mod receive_window;
mod receiver_cpu;
mod receiver_starved;
mod rejected;
mod reordering;
mod send_buffer;
mod sender_cpu;
mod sender_starved;
mod shaper;
mod slow_hca_port;
mod slow_memory;
mod slow_nfs_server;
mod slow_port;
mod small_receive_buffer;
mod small_send_buffer;
mod smaller_mtu;
mod throttled_device;
mod unexplained;
mod window_below_segment;

use super::rule::CauseRule;

/// Families of benchmarks that send through network cards.
const NETWORK: &[&str] = &["net", "rdma", "mpi", "nccl", "transfer"];

/// Every rule; the first that holds is the cause, and the last holds where no other does.
pub const CAUSES: &[CauseRule] = &[
    firewall::RULE,
    rejected::RULE,
    large_packets::RULE,
    window_below_segment::RULE,
    frozen_file_system::RULE,
    throttled_device::RULE,
    nfs_retransmissions::RULE,
    slow_nfs_server::RULE,
    link_lost::RULE,
    disk_errors::RULE,
    read_only_file_system::RULE,
    full_file_system::RULE,
    machine_check::RULE,
    gpu_fault::RULE,
    gpu_shared::RULE,
    shaper::RULE,
    duplicates::RULE,
    reordering::RULE,
    loss::RULE,
    lost_acknowledgements::RULE,
    pcie_errors::RULE,
    narrow_link::RULE,
    lost_nvlink::RULE,
    slow_port::RULE,
    slow_hca_port::RULE,
    missing_bond_member::RULE,
    missing_memory::RULE,
    slow_memory::RULE,
    heat::RULE,
    gpu_clock::RULE,
    small_receive_buffer::RULE,
    small_send_buffer::RULE,
    smaller_mtu::RULE,
    congestion_control::RULE,
    far_interrupts::RULE,
    cpu_quota::RULE,
    fewer_cpus::RULE,
    cpu_clock_settings::RULE,
    receive_window::RULE,
    send_buffer::RULE,
    sender_starved::RULE,
    receiver_starved::RULE,
    sender_cpu::RULE,
    receiver_cpu::RULE,
    rate_limit::RULE,
    full_path::RULE,
    unexplained::RULE,
];
