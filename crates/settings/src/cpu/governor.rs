//! CPU frequency scaling policies, and `cpu.governor`.

use seatrial_model::machine::Machine;
use seatrial_model::setting::{ApplyCommand, Present, Privilege, SettingAbout, SettingReading};
use seatrial_model::{Kind, Value};
use seatrial_sys::cpuset::CpuSet;
use seatrial_sys::root::{ReadError, SysRoot};

use crate::Setting;
use crate::found::{is_virtual, is_word, missing, on_node};
use crate::group::{OfCpus, grouped};

/// Folder of the policies (admin-guide/pm/cpufreq.rst, "Policy Interface in sysfs").
const FOLDER: &str = "/sys/devices/system/cpu/cpufreq";

pub struct Governor;

const ABOUT: SettingAbout = SettingAbout {
    id: "cpu.governor",
    title: "CPU frequency scaling governor",
    doc: "`performance` requests the highest frequency at all times. Most other governors raise the \
          frequency only after they have seen load, so short and bursty work (message rates, latency, the \
          start of every measurement) runs at a low frequency, and results scatter. With intel_pstate or \
          amd-pstate in active mode the CPU itself chooses, and `powersave` is only a hint.",
    kind: Kind::Choice(&["performance", "powersave", "schedutil", "ondemand", "conservative", "userspace"]),
    unit: "",
    fields: &[],
    unlimited: None,
    subject: "node",
    facts: &["active"],
    source: "/sys/devices/system/cpu/cpufreq/policy*/scaling_governor",
    apply: &[ApplyCommand::SOURCE],
    privilege: Privilege::Root,
    remedy: "",
    traps: "Each policy has its own value; note the old ones first, since they may differ. Restore the \
            governor before cpu.energy_performance_preference. tuned, power-profiles-daemon and Slurm's \
            --cpu-freq set it too.",
};

impl Setting for Governor {
    fn about(&self) -> &'static SettingAbout {
        &ABOUT
    }

    fn read(&self, root: &SysRoot, machine: &Machine) -> Vec<SettingReading> {
        let readings = per_policy(&ABOUT, root, machine, |folder| {
            let path = format!("{folder}/scaling_governor");
            let governor = word(root, &path)?;
            // The governor is always in the list; a list without it was read at another moment.
            match root.text(format!("{folder}/scaling_available_governors")) {
                Ok(list) if !list.split_whitespace().any(|known| known == governor) => Err(
                    ReadError::garbage(path, &governor, &format!("one of the available governors: {list}")),
                ),
                _ => Ok(Value::Text(governor)),
            }
        });
        match is_active(root) {
            Some(active) => readings.into_iter().map(|one| one.with_fact("active", Value::Flag(active))).collect(),
            None => readings,
        }
    }
}

/// Whether the CPU chooses its frequency itself and the governor is a hint (admin-guide/pm/intel_pstate.rst, "Active
/// Mode"; amd-pstate.rst); `None` if the driver is unknown.
fn is_active(root: &SysRoot) -> Option<bool> {
    let (folder, _) = policies(root).ok()?.into_iter().next()?;
    let driver = word(root, &format!("{folder}/scaling_driver")).ok()?;
    Some(["intel_pstate", "amd-pstate-epp"].contains(&driver.as_str()))
}

pub(super) fn word(root: &SysRoot, path: &str) -> Result<String, ReadError> {
    let text = root.text(path)?;
    if is_word(&text) { Ok(text) } else { Err(ReadError::garbage(path, &text, "one word")) }
}

/// The result of `read` for each policy with online CPUs.
pub(super) fn per_policy(
    about: &SettingAbout,
    root: &SysRoot,
    machine: &Machine,
    read: impl Fn(&str) -> Result<Value, ReadError>,
) -> Vec<SettingReading> {
    let policies = match policies(root) {
        Ok(policies) => policies,
        Err(ReadError::Missing { path }) => return on_node(about, missing(root, &path)),
        Err(error) => return on_node(about, Present::Unreadable(error.to_string())),
    };
    if policies.is_empty() {
        let usual =
            if is_virtual(machine) { "; in a virtual machine the host controls the frequency" } else { "" };
        return on_node(about, Present::Absent(format!("{FOLDER} holds no policy{usual}")));
    }
    let found: Vec<OfCpus> =
        policies.into_iter().map(|(folder, cpus)| (cpus, read(&folder).map(|value| (value, None)))).collect();
    grouped(about, root, found)
}

/// Folders of the policies with their online CPUs. The files of a policy without online CPUs answer with errors.
pub(super) fn policies(root: &SysRoot) -> Result<Vec<(String, CpuSet)>, ReadError> {
    let mut policies = Vec::new();
    for number in root.numbered(FOLDER, "policy")? {
        let folder = format!("{FOLDER}/policy{number}");
        let cpus = match root.text(format!("{folder}/affected_cpus")) {
            // Separated by blanks, unlike other lists of CPUs.
            Ok(text) => text.split_whitespace().filter_map(|cpu| cpu.parse().ok()).collect(),
            // A policy is named after its first CPU.
            Err(_) => CpuSet::of(number),
        };
        if !cpus.is_empty() {
            policies.push((folder, cpus));
        }
    }
    Ok(policies)
}
