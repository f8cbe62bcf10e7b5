//! `cpu.cstates` and `cpu.idle_driver`: how deep idle CPUs sleep, and who decides it.

use seatrial_model::machine::Machine;
use seatrial_model::setting::{ApplyCommand, Present, Privilege, SettingAbout, SettingReading};
use seatrial_model::{Kind, Nanos, Value};
use seatrial_sys::cpuset::CpuSet;
use seatrial_sys::root::{ReadError, SysRoot};

use super::governor::word;
use crate::Setting;
use crate::found::{is_virtual, micros, missing, on_node, present};
use crate::group::grouped;

const CPUS: &str = "/sys/devices/system/cpu";
const DRIVER: &str = "/sys/devices/system/cpu/cpuidle/current_driver";

pub struct CStates;

pub struct IdleDriver;

// admin-guide/pm/cpuidle.rst, "Idle States Representation" and "Power Management Quality of Service for CPUs".
const C_STATES: SettingAbout = SettingAbout {
    id: "cpu.cstates",
    title: "time to wake from the deepest idle state",
    doc: "An idle CPU goes to sleep, and the deeper it sleeps the longer it takes to wake. That time adds to every \
          message that meets a sleeping CPU: small messages, round trips and interrupts show it, streams hardly. The \
          value is the exit latency that the driver declares for the deepest state that is enabled; what other \
          programs ask for is cpu.dma_latency.",
    kind: Kind::Time(Nanos(0), Nanos::secs(2000)),
    unit: "",
    fields: &[],
    unlimited: None,
    subject: "node",
    facts: &[],
    source: "/sys/devices/system/cpu/cpu*/cpuidle/state*/{disable,latency} and cpu*/power/pm_qos_resume_latency_us",
    // It disables every state whose latency is at least this, which leaves those below the bound.
    apply: &[ApplyCommand::always("cpupower idle-set -D {value}")],
    privilege: Privilege::Root,
    traps: "The idle CPU draws more power, and its siblings may boost less. `cpupower idle-set -E` enables all states \
            again, also those that were disabled before. Lost at the next boot.",
};

const IDLE_DRIVER: SettingAbout = SettingAbout {
    id: "cpu.idle_driver",
    title: "driver that puts idle CPUs to sleep",
    doc: "It decides which idle states there are: intel_idle and acpi_idle know those of the processor, haltpoll \
          polls for a while before it hands a virtual CPU back to the host, none leaves it to the processor. Two \
          nodes with different drivers have different latencies.",
    kind: Kind::Text,
    source: DRIVER,
    apply: &[],
    traps: "Chosen when the system starts, by the command line of the kernel (intel_idle.max_cstate=0, idle=poll).",
    ..C_STATES
};

impl Setting for IdleDriver {
    fn about(&self) -> &'static SettingAbout {
        &IDLE_DRIVER
    }

    fn read(&self, root: &SysRoot, _: &Machine) -> Vec<SettingReading> {
        on_node(&IDLE_DRIVER, present(root, word(root, DRIVER).map(Value::Text)))
    }
}

impl Setting for CStates {
    fn about(&self) -> &'static SettingAbout {
        &C_STATES
    }

    fn read(&self, root: &SysRoot, machine: &Machine) -> Vec<SettingReading> {
        let cpus = match online(root) {
            Ok(cpus) => cpus,
            Err(error) => return on_node(&C_STATES, present(root, Err(error))),
        };
        let found: Vec<_> = cpus.iter().map(|cpu| (CpuSet::of(cpu), deepest(root, cpu))).collect();
        let has_none = |result: &Result<_, ReadError>| result.as_ref().is_err_and(ReadError::is_missing);
        if !found.iter().all(|(_, result)| has_none(result)) {
            return grouped(&C_STATES, root, found);
        }
        let why = match missing(root, CPUS) {
            Present::Unreadable(why) => return on_node(&C_STATES, Present::Unreadable(why)),
            _ if is_virtual(machine) => "; a virtual machine may leave it to its host",
            _ => "",
        };
        on_node(&C_STATES, Present::Absent(format!("no CPU has idle states in {CPUS}/cpu*/cpuidle{why}")))
    }
}

/// CPUs that are online: the states of others are old.
fn online(root: &SysRoot) -> Result<CpuSet, ReadError> {
    let path = format!("{CPUS}/online");
    match root.text(&path) {
        Ok(text) => text.parse().map_err(|_| ReadError::garbage(&path, &text, "a list of CPUs")),
        Err(error) if error.is_missing() => Ok(root.numbered(CPUS, "cpu")?.into_iter().collect()),
        Err(error) => Err(error),
    }
}

/// The longest exit latency among the states that this CPU may enter, and the name of that state.
fn deepest(root: &SysRoot, cpu: u32) -> Result<(Value, Option<String>), ReadError> {
    let folder = format!("{CPUS}/cpu{cpu}/cpuidle");
    let states = root.numbered(&folder, "state")?;
    if states.is_empty() {
        return Err(ReadError::Missing { path: format!("{folder}/state0") });
    }
    let tolerated = tolerated(root, cpu)?;
    let mut deepest: Option<(u64, String)> = None;
    for state in states {
        let state = format!("{folder}/state{state}");
        let latency: u64 = root.value(format!("{state}/latency"))?;
        // Anything but 0 is a disabled state.
        let is_disabled = root.value::<u64>(format!("{state}/disable"))? != 0;
        let is_deeper = deepest.as_ref().is_none_or(|(deepest, _)| latency >= *deepest);
        if !is_disabled && is_deeper && tolerated.is_none_or(|most| latency <= most) {
            deepest = Some((latency, root.text(format!("{state}/name"))?));
        }
    }
    let path = format!("{folder}/state0/disable");
    let (latency, name) =
        deepest.ok_or_else(|| ReadError::garbage(&path, "1", "one state at least that is not disabled"))?;
    let value =
        micros(latency).ok_or_else(|| ReadError::garbage(&folder, &latency.to_string(), "a latency"))?;
    Ok((value, Some(name)))
}

/// The exit latency in microseconds that this CPU was told to keep to; none when it was told nothing.
fn tolerated(root: &SysRoot, cpu: u32) -> Result<Option<u64>, ReadError> {
    let path = format!("{CPUS}/cpu{cpu}/power/pm_qos_resume_latency_us");
    match root.text(&path).as_deref() {
        // "n/a" is no latency at all; 0 is any.
        Ok("n/a") => Ok(Some(0)),
        Ok("0") => Ok(None),
        Ok(text) => {
            text.parse().map(Some).map_err(|_| ReadError::garbage(&path, text, "microseconds or n/a"))
        }
        Err(error) if error.is_missing() => Ok(None),
        Err(error) => Err(error.clone()),
    }
}
