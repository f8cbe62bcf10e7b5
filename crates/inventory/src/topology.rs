//! CPUs, cores and sockets, from `/sys/devices/system/cpu` (Linux Documentation: ABI/stable/sysfs-devices-system-cpu,
//! admin-guide/cputopology.rst).

use std::collections::BTreeMap;

use seatrial_sys::cpuset::CpuSet;
use seatrial_sys::root::{ReadError, SysRoot};

use crate::keyed::Keyed;
use crate::reading::{PerCpu, Reading};

pub(crate) const CPU: &str = "/sys/devices/system/cpu";

pub(crate) struct Topology {
    pub present: CpuSet,
    pub online: CpuSet,
    pub places: BTreeMap<u32, Place>,
}

#[derive(Default)]
pub(crate) struct Place {
    pub socket: Option<u32>,
    /// Hardware threads of its core, itself included.
    pub siblings: Option<CpuSet>,
}

pub(crate) fn read(at: &mut Reading<'_>) -> Topology {
    let present = cpus(at);
    let online = match list(at.root, &format!("{CPU}/online")) {
        Ok(online) => online.intersection(&present),
        Err(error) => {
            at.remark("cpu", format!("treating all CPUs as online: {error}"));
            present.clone()
        }
    };
    let offline = present.difference(&online);
    if !offline.is_empty() {
        at.remark("cpu", format!("CPUs {offline} are offline; the kernel does not report their topology"));
    }
    let mut troubles = PerCpu::default();
    let places = online.iter().map(|cpu| (cpu, place(at.root, cpu, &mut troubles))).collect();
    troubles.report("cpu", at);
    Topology { present, online, places }
}

/// Present CPUs in sysfs, else those in `/proc/cpuinfo`.
fn cpus(at: &mut Reading<'_>) -> CpuSet {
    let error = match list(at.root, &format!("{CPU}/present")) {
        Ok(present) if !present.is_empty() => return present,
        Ok(_) => format!("{CPU}/present is empty"),
        Err(error) => error.to_string(),
    };
    let listed = match Keyed::read(at.root, "/proc/cpuinfo") {
        Ok(info) => info.all("processor").filter_map(|id| id.parse().ok()).collect(),
        Err(_) => CpuSet::new(),
    };
    at.remark("cpu", format!("using the CPUs of /proc/cpuinfo: {error}"));
    listed
}

fn place(root: &SysRoot, cpu: u32, troubles: &mut PerCpu) -> Place {
    let folder = format!("{CPU}/cpu{cpu}/topology");
    let mut place = Place::default();
    // -1 where the firmware does not tell.
    match root.value::<i64>(format!("{folder}/physical_package_id")).map(u32::try_from) {
        Ok(Ok(socket)) => place.socket = Some(socket),
        Ok(Err(_)) => troubles.note("socket", cpu, "the firmware does not tell the package"),
        Err(error) => troubles.note("socket", cpu, error),
    }
    // `thread_siblings_list` is the older name, which still exists.
    match list(root, &format!("{folder}/thread_siblings_list")) {
        Ok(siblings) if siblings.contains(cpu) => place.siblings = Some(siblings),
        Ok(siblings) => troubles.note("core", cpu, format!("its siblings {siblings} do not include it")),
        Err(error) => troubles.note("core", cpu, error),
    }
    place
}

pub(crate) fn list(root: &SysRoot, path: &str) -> Result<CpuSet, ReadError> {
    let text = root.text(path)?;
    text.parse().map_err(|error| ReadError::garbage(path, &text, &format!("a CPU list ({error})")))
}
