//! `cpu.energy_performance_preference`: what a processor that chooses its own clock is told to prefer.

use seatrial_model::machine::Machine;
use seatrial_model::setting::{ApplyCommand, Privilege, SettingAbout, SettingReading};
use seatrial_model::{Kind, Value};
use seatrial_sys::root::SysRoot;

use super::governor::{per_policy, word};
use crate::Setting;

pub struct EnergyPreference;

// admin-guide/pm/intel_pstate.rst, "Energy vs Performance Hints"; amd-pstate.rst has the same.
const ABOUT: SettingAbout = SettingAbout {
    id: "cpu.energy_performance_preference",
    title: "what a self-clocking processor prefers",
    doc: "Processors that choose their clock themselves (intel_pstate with HWP, amd-pstate in active mode) take this \
          hint. Towards `power` they raise the clock late and lower it early, which shows in latency, in message \
          rates and in the scatter of short measurements.",
    kind: Kind::Choice(&["performance", "balance_performance", "default", "balance_power", "power"]),
    unit: "",
    fields: &[],
    unlimited: None,
    subject: "node",
    facts: &[],
    source: "/sys/devices/system/cpu/cpufreq/policy*/energy_performance_preference",
    apply: &[ApplyCommand::always(
        "echo {value} | tee /sys/devices/system/cpu/cpufreq/policy*/energy_performance_preference",
    )],
    privilege: Privilege::Root,
    traps: "While the governor is `performance` the driver allows nothing but `performance` here and answers EBUSY: \
            set the governor first. Set for each policy by itself.",
};

impl Setting for EnergyPreference {
    fn about(&self) -> &'static SettingAbout {
        &ABOUT
    }

    fn read(&self, root: &SysRoot, machine: &Machine) -> Vec<SettingReading> {
        per_policy(&ABOUT, root, machine, |folder| {
            word(root, &format!("{folder}/energy_performance_preference")).map(Value::Text)
        })
    }
}
