//! `state.fstab_mounted`: whether what `/etc/fstab` wants is mounted.

use std::collections::BTreeSet;

use seatrial_model::machine::Machine;
use seatrial_model::setting::{Present, Privilege, SettingAbout, SettingReading};
use seatrial_model::{Kind, Value};
use seatrial_sys::root::{ReadError, SysRoot, unescape};

use crate::Setting;
use crate::found::{on_node, present};

pub struct FstabMounted;

const FSTAB: &str = "/etc/fstab";
const MOUNTS: &str = "/proc/self/mountinfo";

/// Options of what may be missing.
const OPTIONAL: [&str; 2] = ["noauto", "nofail"];

// fstab(5), proc_pid_mountinfo(5).
const ABOUT: SettingAbout = SettingAbout {
    id: "state.fstab_mounted",
    title: "file systems of /etc/fstab are mounted",
    doc: "A file system that was not mounted at the boot, since a disk or a server did not answer, leaves an empty folder: \
          jobs do not find their data, or fill the root file system. The note names what is missing.",
    kind: Kind::Flag,
    unit: "",
    fields: &[],
    unlimited: None,
    subject: "node",
    facts: &[],
    source: "/etc/fstab and /proc/self/mountinfo",
    apply: &[],
    privilege: Privilege::Root,
    remedy: "`mount -a`, and read the error in `journalctl -b`",
    traps: "Entries with noauto or nofail, and swap, are left out. What systemd units, automounters and containers mount is not in the \
            file.",
};

impl Setting for FstabMounted {
    fn about(&self) -> &'static SettingAbout {
        &ABOUT
    }

    fn read(&self, root: &SysRoot, _: &Machine) -> Vec<SettingReading> {
        match missing(root) {
            Ok(missing) => {
                let mounted = Present::Value(Value::Flag(missing.is_empty()));
                let mut readings = on_node(&ABOUT, mounted);
                readings[0].note = (!missing.is_empty()).then(|| format!("not mounted: {}", missing.join(", ")));
                readings
            }
            Err(error) => on_node(&ABOUT, present(root, Err(error))),
        }
    }
}

/// Mount points that are wanted and not there.
fn missing(root: &SysRoot) -> Result<Vec<String>, ReadError> {
    let (wanted, mounted) = (root.text(FSTAB)?, root.text(MOUNTS)?);
    let mounted: BTreeSet<String> =
        mounted.lines().filter_map(|line| line.split(' ').nth(4)).map(unescape).collect();
    let point = |line: &str| {
        let fields: Vec<&str> = line.split_whitespace().collect();
        let [_, point, kind, ..] = fields[..] else { return None };
        let is_left_out = line.trim_start().starts_with('#')
            || !point.starts_with('/')
            || kind == "swap"
            || fields.get(3).is_some_and(|options| options.split(',').any(|option| OPTIONAL.contains(&option)));
        (!is_left_out).then(|| unescape(point.trim_end_matches('/')))
    };
    let point = |line| point(line).map(|point| if point.is_empty() { "/".to_owned() } else { point });
    Ok(wanted.lines().filter_map(point).filter(|point| !mounted.contains(point)).collect())
}
