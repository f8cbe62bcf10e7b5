//! `tuning.tuned_profile`, and whether a program is running.

use seatrial_model::machine::Machine;
use seatrial_model::setting::{ApplyCommand, Present, Privilege, SettingAbout, SettingReading};
use seatrial_model::{Kind, Value};
use seatrial_sys::root::SysRoot;

use crate::Setting;
use crate::found::{on_node, present};

const ACTIVE: &str = "/etc/tuned/active_profile";

pub struct TunedProfile;

pub(super) const ABOUT: SettingAbout = SettingAbout {
    id: "tuning.tuned_profile",
    title: "active tuned profile",
    doc: "tuned sets governor, boost, idle states, huge pages, sysctls and more, and sets them again when it \
          starts. Manual changes do not last, and two nodes with different profiles differ in all of these.",
    kind: Kind::Text,
    unit: "",
    fields: &[],
    unlimited: None,
    subject: "node",
    facts: &[],
    source: ACTIVE,
    apply: &[ApplyCommand::always("tuned-adm profile {value}")],
    privilege: Privilege::Root,
    remedy: "",
    traps: "Changes many settings at once. `tuned-adm off` rolls back what it changed.",
};

impl Setting for TunedProfile {
    fn about(&self) -> &'static SettingAbout {
        &ABOUT
    }

    fn read(&self, root: &SysRoot, machine: &Machine) -> Vec<SettingReading> {
        let text = match root.text(ACTIVE) {
            Ok(text) => text,
            Err(error) => return on_node(&ABOUT, present(root, Err(error))),
        };
        if text.is_empty() {
            return on_node(&ABOUT, Present::Absent("tuned has no active profile".to_owned()));
        }
        // Several profiles may be merged, in one line.
        if text.contains(|c: char| c.is_control()) {
            return on_node(
                &ABOUT,
                Present::Unreadable(format!("{ACTIVE} holds {text:?}, expected one line")),
            );
        }
        let readings = on_node(&ABOUT, Present::Value(Value::Text(text)));
        match is_running(root, machine, "tuned") {
            Ok(true) => readings,
            Ok(false) => noting(readings, "tuned is not running, so the profile may not be in force"),
            Err(why) => noting(readings, &format!("it is unknown whether tuned is running: {why}")),
        }
    }
}

fn noting(readings: Vec<SettingReading>, note: &str) -> Vec<SettingReading> {
    readings.into_iter().map(|reading| reading.noting(note)).collect()
}

/// Whether a process of this name (proc_pid_comm(5)) runs on the host.
pub(super) fn is_running(root: &SysRoot, machine: &Machine, name: &str) -> Result<bool, String> {
    let processes = root.numbered("/proc", "").map_err(|error| error.to_string())?;
    // A process may end meanwhile.
    let is_it = |pid: u32| root.text(format!("/proc/{pid}/comm")).is_ok_and(|comm| comm == name);
    if processes.into_iter().any(is_it) {
        return Ok(true);
    }
    if machine.virtualization.known().is_some_and(|layers| layers.container.is_some()) {
        return Err("a container sees only its own processes".to_owned());
    }
    match root.text("/proc/1/comm") {
        Ok(_) => Ok(false),
        Err(error) => Err(format!("{error}: /proc may hide processes of other users")),
    }
}
