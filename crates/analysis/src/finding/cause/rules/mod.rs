//! All rules, in the order in which they are tried: what was seen to happen goes before what differs, and what differs before
//! what only limits.

mod cpu_quota;
mod disk_errors;
mod fewer_cpus;
mod firewall;
mod frozen_file_system;
mod full_path;
mod gpu_fault;
mod large_packets;
mod link_lost;
mod loss;
mod lost_acknowledgements;
mod machine_check;
mod pcie_errors;
mod receive_window;
mod receiver_cpu;
mod receiver_starved;
mod rejected;
mod send_buffer;
mod sender_cpu;
mod sender_starved;
mod shaper;
mod small_receive_buffer;
mod small_send_buffer;
mod smaller_mtu;
mod throttled_device;
mod unexplained;
mod window_below_segment;

use super::rule::CauseRule;

/// Every rule; the first that holds is the cause, and the last holds where no other does.
pub const CAUSES: &[CauseRule] = &[
    firewall::RULE,
    rejected::RULE,
    large_packets::RULE,
    window_below_segment::RULE,
    frozen_file_system::RULE,
    throttled_device::RULE,
    link_lost::RULE,
    disk_errors::RULE,
    machine_check::RULE,
    gpu_fault::RULE,
    shaper::RULE,
    loss::RULE,
    lost_acknowledgements::RULE,
    pcie_errors::RULE,
    small_receive_buffer::RULE,
    small_send_buffer::RULE,
    smaller_mtu::RULE,
    cpu_quota::RULE,
    fewer_cpus::RULE,
    receive_window::RULE,
    send_buffer::RULE,
    sender_starved::RULE,
    receiver_starved::RULE,
    sender_cpu::RULE,
    receiver_cpu::RULE,
    full_path::RULE,
    unexplained::RULE,
];
