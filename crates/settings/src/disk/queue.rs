//! `disk.read_ahead_kb` and `disk.scheduler`: the request queue of a block device.

use seatrial_model::machine::{Disk, DiskBus, Machine};
use seatrial_model::setting::{ApplyCommand, Privilege, SettingAbout, SettingReading};
use seatrial_model::Kind;
use seatrial_sys::root::SysRoot;

use crate::Setting;
use crate::devices::{self, Device};
use crate::found::{parse, present, written_form};

/// A file of the queue of each disk.
pub struct OfQueue {
    about: &'static SettingAbout,
    file: &'static str,
}

// ABI/stable/sysfs-block; block/queue-sysfs.rst.
const ABOUT: SettingAbout = SettingAbout {
    id: "disk.read_ahead_kb",
    title: "read-ahead of a disk",
    doc: "How far the kernel reads ahead of a program that reads a file in order. With little (128 KiB is the \
          kernel's default) fast disks and arrays are idle between the requests of one reader; with much, random \
          reads fetch data that nobody uses. Direct I/O does not use it.",
    kind: Kind::Count(0, u32::MAX as u64),
    unit: "KiB",
    fields: &[],
    unlimited: None,
    subject: "disk",
    facts: Disk::FACTS,
    source: "/sys/block/NAME/queue/read_ahead_kb",
    apply: &[ApplyCommand::file("/sys/block/{name}/queue/read_ahead_kb")],
    privilege: Privilege::Root,
    remedy: "",
    traps: "Each device of a stack (dm, md) has its own value, and a file system uses that of the device that it is \
            mounted from. Lost at the next boot unless a rule of udev sets it. tuned sets its own when it starts.",
};

pub static READ_AHEAD: OfQueue = OfQueue { about: &ABOUT, file: "read_ahead_kb" };

pub static SCHEDULER: OfQueue = OfQueue {
    about: &SettingAbout {
        id: "disk.scheduler",
        title: "I/O scheduler of a disk",
        // block/switching-sched.rst, block/bfq-iosched.rst, block/deadline-iosched.rst.
        doc: "Order in which requests go to the disk. none passes them on, which suits NVMe; mq-deadline orders them and \
              bounds their wait, which hard disks need; bfq shares a disk fairly between programs, and takes the most \
              CPU time of each request.",
        kind: Kind::Text,
        unit: "",
        source: "/sys/block/NAME/queue/scheduler, the word in brackets",
        apply: &[ApplyCommand::file("/sys/block/{name}/queue/scheduler")],
        traps: "The file lists those that are loaded; `modprobe bfq` or `modprobe kyber-iosched` loads others. Waiting \
                requests are finished first. Lost at the next boot unless a rule of udev sets it.",
        ..ABOUT
    },
    file: "scheduler",
};

impl Setting for OfQueue {
    fn about(&self) -> &'static SettingAbout {
        self.about
    }

    fn read(&self, root: &SysRoot, machine: &Machine) -> Vec<SettingReading> {
        devices::readings(self.about, &machine.disks, "there is no disk", |disk| {
            let is_here = !matches!(disk.bus, DiskBus::Loop | DiskBus::Memory);
            is_here.then(|| self.of(disk, root))
        })
    }
}

impl OfQueue {
    fn of(&self, disk: &Disk, root: &SysRoot) -> Device {
        let path = format!("/sys/block/{}/queue/{}", disk.name, self.file);
        let value = root.text(&path).and_then(|text| parse(self.about, &path, written_form(&text)));
        Device { name: disk.name.clone(), facts: disk.facts(), found: present(root, value).into() }
    }
}
