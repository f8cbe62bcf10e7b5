//! Plans and metrics from invented disks, and real loop devices.

mod figures;
mod loops;
mod plans;

use seatrial_model::machine::{Cpu, CpuThread, Disk, DiskBus, Known, Machine};
use seatrial_model::{Case, Params, Reason, Site, SiteNode};

use super::BENCHMARK;

fn disk(name: &str, bus: DiskBus) -> Disk {
    Disk { name: name.to_owned(), bus, size_bytes: Known::Known(4_000_787_030_016), ..Disk::default() }
}

fn machine(disks: Vec<Disk>) -> Machine {
    let thread = |id| CpuThread { node: Some(id), ..seatrial_testkit::thread(id) };
    let cpu = Cpu { threads: vec![thread(0), thread(1)], ..Cpu::default() };
    Machine { cpu, disks: Known::Known(disks), ..Machine::default() }
}

fn site(disks: Vec<Disk>) -> Site {
    Site { nodes: vec![SiteNode::new("n1", machine(disks))] }
}

fn params(changed: &[(&str, &str)]) -> Params {
    let about = BENCHMARK.about;

    seatrial_testkit::params(about, changed)
}

fn planned(site: &Site, changed: &[(&str, &str)]) -> Result<Vec<Case>, Reason> {
    BENCHMARK.plan(&params(changed), site)
}
