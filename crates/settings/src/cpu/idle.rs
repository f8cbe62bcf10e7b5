//! `cpu.cstates` and `cpu.idle_driver`: idle states of CPUs (C-states), and their driver.

use seatrial_model::machine::Machine;
use seatrial_model::setting::{ApplyCommand, Present, Privilege, SettingAbout, SettingFile, SettingReading};
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
    title: "exit latency of the deepest C-state",
    doc: "The deeper the idle state of a CPU, the longer it takes to wake up. That time is added to every \
          message for an idle CPU: small messages, round trips and interrupts show it, streams hardly. The \
          value is the exit latency that the driver declares for the deepest enabled state; limits set by \
          programs are cpu.dma_latency.",
    kind: Kind::Time(Nanos(0), Nanos::secs(2000)),
    unit: "",
    fields: &[],
    unlimited: None,
    subject: "node",
    facts: &[],
    source: "/sys/devices/system/cpu/cpu*/cpuidle/state*/{disable,latency} and cpu*/power/pm_qos_resume_latency_us",
    // cpupower disables every state with at least this latency, Seatrial those with a longer one.
    apply: &[ApplyCommand {
        file: "/sys/devices/system/cpu/cpu*/cpuidle/state*/disable",
        ..ApplyCommand::always("cpupower idle-set -D {value}")
    }],
    privilege: Privilege::Root,
    remedy: "",
    traps: "Idle CPUs draw more power, and other cores may boost less. `cpupower idle-set -E` enables all \
            states again, also those that were disabled before. Lost at the next boot.",
};

const IDLE_DRIVER: SettingAbout = SettingAbout {
    id: "cpu.idle_driver",
    title: "CPU idle driver (cpuidle)",
    doc: "It defines the idle states: intel_idle and acpi_idle know those of the CPU, haltpoll polls for a \
          while before it yields a virtual CPU to the host, none leaves it to the CPU. Two nodes with \
          different drivers have different latencies.",
    kind: Kind::Text,
    source: DRIVER,
    apply: &[],
    traps: "Selected at boot, by the kernel command line (intel_idle.max_cstate=0, idle=poll).",
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
            _ if is_virtual(machine) => "; in a virtual machine the host may control idle states",
            _ => "",
        };
        on_node(&C_STATES, Present::Absent(format!("no CPU has idle states in {CPUS}/cpu*/cpuidle{why}")))
    }

    fn is_bound(&self) -> bool {
        true
    }

    fn files(
        &self,
        root: &SysRoot,
        _: &Machine,
        _: &SettingReading,
        file: SettingFile,
    ) -> Result<Vec<SettingFile>, String> {
        let most: u64 = file.text.parse().map_err(|_| format!("'{}' is no time", file.text))?;
        disabling(root, most).map_err(|error| error.to_string())
    }
}

/// Disables the states of each CPU with an exit latency above `most` microseconds, and enables the others.
fn disabling(root: &SysRoot, most: u64) -> Result<Vec<SettingFile>, ReadError> {
    let mut files = Vec::new();
    for cpu in online(root)?.iter() {
        let folder = format!("{CPUS}/cpu{cpu}/cpuidle");
        for state in root.numbered(&folder, "state")? {
            let state = format!("{folder}/state{state}");
            let is_deeper = root.value::<u64>(format!("{state}/latency"))? > most;
            files.push(SettingFile { path: format!("{state}/disable"), text: u8::from(is_deeper).to_string() });
        }
    }
    Ok(files)
}

/// Online CPUs: states of others are stale.
fn online(root: &SysRoot) -> Result<CpuSet, ReadError> {
    let path = format!("{CPUS}/online");
    match root.text(&path) {
        Ok(text) => text.parse().map_err(|_| ReadError::garbage(&path, &text, "a list of CPUs")),
        Err(error) if error.is_missing() => Ok(root.numbered(CPUS, "cpu")?.into_iter().collect()),
        Err(error) => Err(error),
    }
}

/// The longest exit latency of the enabled states of this CPU, and the name of that state.
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
        deepest.ok_or_else(|| ReadError::garbage(&path, "1", "at least one enabled state"))?;
    let value =
        micros(latency).ok_or_else(|| ReadError::garbage(&folder, &latency.to_string(), "a latency"))?;
    Ok((value, Some(name)))
}

/// The PM QoS latency limit of this CPU in microseconds; `None` without limit.
fn tolerated(root: &SysRoot, cpu: u32) -> Result<Option<u64>, ReadError> {
    let path = format!("{CPUS}/cpu{cpu}/power/pm_qos_resume_latency_us");
    match root.text(&path).as_deref() {
        // "n/a" is no latency at all; 0 is any latency.
        Ok("n/a") => Ok(Some(0)),
        Ok("0") => Ok(None),
        Ok(text) => {
            text.parse().map(Some).map_err(|_| ReadError::garbage(&path, text, "microseconds or n/a"))
        }
        Err(error) if error.is_missing() => Ok(None),
        Err(error) => Err(error.clone()),
    }
}
