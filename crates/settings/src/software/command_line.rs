//! `software.command_line`: the parameters that the kernel was booted with.

use seatrial_model::machine::Machine;
use seatrial_model::setting::{SettingAbout, SettingReading};
use seatrial_model::{Kind, Value};
use seatrial_sys::root::SysRoot;

use super::version::ABOUT as VERSION;
use crate::Setting;
use crate::found::{on_node, present};

pub struct CommandLine;

/// Starts of parameters that name a disk, file or address of one machine.
const OF_ONE_MACHINE: [&str; 10] =
    ["BOOT_IMAGE=", "BOOTIF=", "initrd=", "ip=", "nfsroot=", "rd.", "resume=", "root=", "rootflags=", "systemd.machine_id="];

const ABOUT: SettingAbout = SettingAbout {
    id: "software.command_line",
    title: "command line of the kernel",
    doc: "Parameters of the boot: isolated CPUs, idle states, huge pages, IOMMU, mitigations. Nodes of one kind should have \
          the same. Parameters that name a disk, a file or an address of one machine (root, initrd, ip) are left out.",
    kind: Kind::Text,
    source: "/proc/cmdline",
    remedy: "change it in the configuration of the boot loader (`grubby --update-kernel=ALL --args=...`, \
             GRUB_CMDLINE_LINUX of /etc/default/grub), and boot",
    traps: "Network boot takes it from the server.",
    ..VERSION
};

impl Setting for CommandLine {
    fn about(&self) -> &'static SettingAbout {
        &ABOUT
    }

    fn read(&self, root: &SysRoot, _: &Machine) -> Vec<SettingReading> {
        let shared = root.text(ABOUT.source).map(|text| {
            let is_shared = |word: &&str| !OF_ONE_MACHINE.iter().any(|start| word.starts_with(start));
            let words: Vec<&str> = text.split_whitespace().filter(is_shared).collect();
            Value::Text(if words.is_empty() { "none".to_owned() } else { words.join(" ") })
        });
        on_node(&ABOUT, present(root, shared))
    }
}
