//! `cpu.dma_latency`: the wake-up latency limit that programs request (PM QoS).

use seatrial_model::machine::Machine;
use seatrial_model::setting::{ApplyCommand, Present, Privilege, SettingAbout, SettingReading, UNLIMITED};
use seatrial_model::{Kind, Nanos, Value};
use seatrial_sys::root::{ReadError, SysRoot};

use crate::Setting;
use crate::found::{micros, on_node, present};

const DEVICE: &str = "/dev/cpu_dma_latency";

/// Value without requests, in microseconds (PM_QOS_CPU_LATENCY_DEFAULT_VALUE).
const NOBODY: &str = "2000000000";

pub struct DmaLatency;

// admin-guide/pm/cpuidle.rst, "Power Management Quality of Service for CPUs"; power/pm_qos_interface.rst.
const ABOUT: SettingAbout = SettingAbout {
    id: "cpu.dma_latency",
    title: "CPU wake-up latency limit (PM QoS)",
    doc: "A program that holds /dev/cpu_dma_latency open keeps all CPUs out of idle states with a longer \
          exit latency than it requests; tuned's latency profiles do so. It affects small messages and round \
          trips, as cpu.cstates does, although no idle state is shown as disabled.",
    kind: Kind::Time(Nanos(0), Nanos::secs(2000)),
    unit: "",
    fields: &[],
    unlimited: Some(NOBODY),
    subject: "node",
    facts: &[],
    source: DEVICE,
    // Ten characters: four would be read as a binary number.
    apply: &[ApplyCommand::always("exec 3> /dev/cpu_dma_latency; printf 0x%08x {value} >&3")],
    privilege: Privilege::Root,
    remedy: "",
    traps: "Holds until the shell or program closes the device or ends. Reading the value needs root too.",
};

impl Setting for DmaLatency {
    fn about(&self) -> &'static SettingAbout {
        &ABOUT
    }

    fn read(&self, root: &SysRoot, _: &Machine) -> Vec<SettingReading> {
        on_node(&ABOUT, present(root, target(root))).into_iter().map(told).collect()
    }
}

/// The device returns a 32-bit number in host byte order. Opening it for reading makes no request.
fn target(root: &SysRoot) -> Result<Value, ReadError> {
    let bytes = root.bytes(DEVICE)?;
    let garbage = || ReadError::garbage(DEVICE, &format!("{bytes:?}"), "four bytes that hold microseconds");
    let number = i32::from_ne_bytes(bytes.as_slice().try_into().map_err(|_| garbage())?);
    if number.to_string() == NOBODY {
        return Ok(Value::from(UNLIMITED));
    }
    u64::try_from(number).ok().and_then(micros).ok_or_else(garbage)
}

fn told(reading: SettingReading) -> SettingReading {
    match &reading.present {
        Present::Value(value) if *value == Value::from(UNLIMITED) => {
            reading.noting("no program requests a limit")
        }
        _ => reading,
    }
}
