//! The kernel's counters and logs, read before and after, and what it says about processes, control groups and devices.

use seatrial_sys::cgroup::{cpu_quota, cpus, memory_limit};
use seatrial_sys::net::datagram::{DatagramCounters, all_qdiscs};
use seatrial_sys::net::{available_congestion_controls, host_time};
use seatrial_sys::probe::PROBES;
use seatrial_sys::root::SysRoot;
use seatrial_sys::storage::{Device, moved_by_device, moved_by_process, polls, throttle};
use seatrial_sys::verbs::GidTable;

use crate::{Target, files};

pub const TARGET: Target = Target { name: "probes", run, longest: 20_000, most_allocated: 4 << 20 };

/// The process, the device and the interface that inputs have files of.
const PROCESS: u32 = 7;
const DEVICE: Device = Device { major: 8, minor: 0 };
const INTERFACE: &str = "eth0";

fn run(input: &[u8]) {
    let (first, second) = files::two_trees(input);
    let root = SysRoot::of(first);
    let watches: Vec<_> = PROBES.iter().map(|probe| probe.watch(&root)).collect();
    let before = DatagramCounters::read(&root, Some(INTERFACE));
    root.change(second);
    watches.into_iter().for_each(|watch| drop(watch.end()));
    let _ = DatagramCounters::read(&root, Some(INTERFACE)).since(&before);
    let _ = (cpu_quota(&root), cpus(&root), memory_limit(&root));
    let _ = (all_qdiscs(&root), available_congestion_controls(&root), host_time(&root));
    let _ = (throttle(&root, DEVICE), polls(&root, DEVICE), DEVICE.name(&root));
    let _ = (moved_by_device(&root, DEVICE), moved_by_process(&root));
    let _ = GidTable::read(&root, "rxe0", 1);
    seatrial_cluster::vitals(&root, PROCESS);
    seatrial_sys::fuzz::texts(input);
}
