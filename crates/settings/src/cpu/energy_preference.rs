//! `cpu.energy_performance_preference`: the hint for CPUs that choose their frequency.

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
    title: "energy vs. performance preference (EPP)",
    doc: "A hint for CPUs that choose their frequency themselves (intel_pstate with HWP, amd-pstate in \
          active mode). Towards `power` they raise the frequency late and lower it early, which costs \
          latency and message rate and makes short measurements scatter.",
    kind: Kind::Choice(&["performance", "balance_performance", "default", "balance_power", "power"]),
    unit: "",
    fields: &[],
    unlimited: None,
    subject: "node",
    facts: &[],
    source: "/sys/devices/system/cpu/cpufreq/policy*/energy_performance_preference",
    apply: &[ApplyCommand::SOURCE],
    privilege: Privilege::Root,
    remedy: "",
    traps: "While the governor is `performance` the driver allows only `performance` and answers EBUSY: set \
            the governor first. Each policy has its own value.",
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
