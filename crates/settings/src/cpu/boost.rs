//! `cpu.boost`: CPU frequencies above the nominal one, by two files of the kernel with opposite meanings.

use seatrial_model::machine::Machine;
use seatrial_model::setting::{ApplyCommand, Present, Privilege, SettingAbout, SettingReading};
use seatrial_model::{Kind, Value};
use seatrial_sys::root::{ReadError, SysRoot};

use super::governor::policies;
use crate::Setting;
use crate::found::{is_virtual, missing, on_node, parse, present};
use crate::group::grouped;

/// 1 is no boost (admin-guide/pm/intel_pstate.rst, "User Space Interface in sysfs").
const NO_TURBO: &str = "/sys/devices/system/cpu/intel_pstate/no_turbo";

/// 1 is boost (admin-guide/pm/cpufreq.rst, "Frequency Boost Support").
const BOOST: &str = "/sys/devices/system/cpu/cpufreq/boost";

pub struct Boost;

const ABOUT: SettingAbout = SettingAbout {
    id: "cpu.boost",
    title: "CPU frequency boost (turbo)",
    doc: "With Turbo Boost or Core Performance Boost, a core runs above its nominal frequency as far as \
          heat, power and the number of busy cores allow. Results are higher, but depend on temperature, on \
          other cores and on the duration of the load; without boost they are repeatable. Acceptance tests \
          often require it off, tuned's performance profiles turn it on: decide, and write it into the \
          profile.",
    kind: Kind::Flag,
    unit: "",
    fields: &[],
    unlimited: None,
    subject: "node",
    facts: &["by"],
    source: "/sys/devices/system/cpu/intel_pstate/no_turbo (1 is off), else /sys/devices/system/cpu/cpufreq/boost \
             (1 is on)",
    apply: &[
        ApplyCommand {
            by: "intel_pstate",
            words: &[("true", "0"), ("false", "1")],
            ..ApplyCommand::file(NO_TURBO)
        },
        ApplyCommand { by: "cpufreq", ..ApplyCommand::file(BOOST) },
    ],
    privilege: Privilege::Root,
    remedy: "",
    traps: "The two files have opposite meanings. The firmware may forbid what the file allows; measure the \
            resulting frequency.",
};

impl Setting for Boost {
    fn about(&self) -> &'static SettingAbout {
        &ABOUT
    }

    fn read(&self, root: &SysRoot, machine: &Machine) -> Vec<SettingReading> {
        let (no_turbo, boost) = (flag(root, NO_TURBO).map(|off| !off), flag(root, BOOST));
        match (no_turbo, boost) {
            (Ok(intel), Ok(generic)) if intel != generic => {
                let (intel, generic) = (u8::from(!intel), u8::from(generic));
                let why =
                    format!("{NO_TURBO} is {intel} and {BOOST} is {generic}: these contradict each other");
                on_node(&ABOUT, Present::Unreadable(why))
            }
            (Err(ReadError::Missing { .. }), Err(ReadError::Missing { path })) => {
                match missing(root, &path) {
                    Present::Absent(_) => {
                        let usual = if is_virtual(machine) {
                            "; in a virtual machine the host controls the frequency"
                        } else {
                            ""
                        };
                        on_node(
                            &ABOUT,
                            Present::Absent(format!("neither {NO_TURBO} nor {BOOST} exists{usual}")),
                        )
                    }
                    other => on_node(&ABOUT, other),
                }
            }
            (Err(ReadError::Missing { .. }), Ok(on)) => told_by(by_policy(root, on), "cpufreq"),
            (Err(ReadError::Missing { .. }), Err(error)) | (Err(error), _) => {
                on_node(&ABOUT, Present::Unreadable(error.to_string()))
            }
            (Ok(on), _) => told_by(on_node(&ABOUT, Present::Value(Value::Flag(on))), "intel_pstate"),
        }
    }
}

fn flag(root: &SysRoot, path: &str) -> Result<bool, ReadError> {
    parse(&ABOUT, path, &root.text(path)?).map(|value| value == Value::Flag(true))
}

fn told_by(readings: Vec<SettingReading>, by: &str) -> Vec<SettingReading> {
    readings.into_iter().map(|reading| reading.with_fact("by", by)).collect()
}

/// On newer kernels single policies may be without boost; no policy has boost while the common file is off.
fn by_policy(root: &SysRoot, on: bool) -> Vec<SettingReading> {
    let policies = policies(root).unwrap_or_default();
    let of_policy = |folder: &str| match flag(root, &format!("{folder}/boost")) {
        Ok(own) => Ok(own && on),
        Err(ReadError::Missing { .. }) => Ok(on),
        Err(error) => Err(error),
    };
    let found: Vec<_> = policies
        .into_iter()
        .map(|(folder, cpus)| (cpus, of_policy(&folder).map(|on| (Value::Flag(on), None))))
        .collect();
    if found.is_empty() {
        on_node(&ABOUT, present(root, Ok(Value::Flag(on))))
    } else {
        grouped(&ABOUT, root, found)
    }
}
