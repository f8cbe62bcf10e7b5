//! State of the file systems on disks of this machine: fill, inodes, errors, and whether they became read-only.

use seatrial_model::machine::{FileSystem, Machine, Medium};
use seatrial_model::setting::{Privilege, SettingAbout, SettingReading};
use seatrial_model::{Kind, Value};
use seatrial_sys::root::SysRoot;

use crate::Setting;
use crate::devices::{self, Device, Found};

pub struct OfFileSystem {
    about: &'static SettingAbout,
    find: fn(&FileSystem, &SysRoot) -> Found,
    /// Whether it says something of file systems that were mounted read-only.
    of_read_only: bool,
}

const ABOUT: SettingAbout = SettingAbout {
    id: "state.space_used",
    title: "used space of a file system",
    doc: "Used share of the space for ordinary users, as df(1) shows it. A full root or /var stops services, \
          schedulers and logs; the last percents of a disk are slow, since free blocks are scattered.",
    kind: Kind::Number(0.0, 100.0),
    unit: "%",
    fields: &[],
    unlimited: None,
    subject: "fs",
    facts: FileSystem::FACTS,
    source: "statvfs(3) of file systems on disks of this machine",
    apply: &[],
    privilege: Privilege::Root,
    remedy: "delete what `du -xh --max-depth=1 MOUNT` finds: old logs, packages and kernels are the usual part",
    traps: "Network file systems are not asked.",
};

pub static SPACE_USED: OfFileSystem = OfFileSystem {
    about: &ABOUT,
    find: |one, _| Found::known(one.fill_percent.as_ref().map(|&percent| Value::Number(percent))),
    of_read_only: false,
};

pub static INODES_USED: OfFileSystem = OfFileSystem {
    about: &SettingAbout {
        id: "state.inodes_used",
        title: "used inodes of a file system",
        doc: "Used share of the inodes, of which each file takes one: without a free one no file can be made, however \
              much space is left, and the error is \"No space left on device\". Some file systems (btrfs) have no \
              such limit.",
        remedy: "delete files of the folder that `du --inodes -x MOUNT` finds",
        ..ABOUT
    },
    find: |one, _| match one.inode_fill_percent {
        Some(percent) => Found::value(Value::Number(percent)),
        None => Found::absent("the file system tells no number of inodes"),
    },
    of_read_only: false,
};

pub static READ_ONLY: OfFileSystem = OfFileSystem {
    about: &SettingAbout {
        id: "state.became_read_only",
        title: "file system that became read-only",
        // errors=remount-ro of ext4(5).
        doc: "Mounted for writing, and made read-only since: ext4 and others do so when they meet an error of the disk or \
              of their own data. Programs that write get errors.",
        kind: Kind::Flag,
        unit: "",
        source: "/proc/self/mountinfo: the mount is rw, the file system ro",
        remedy: "read the error in `dmesg`, check the disk (`smartctl -a`), then run fsck on the unmounted file system",
        ..ABOUT
    },
    find: |one, _| Found::value(Value::Flag(one.became_read_only)),
    of_read_only: true,
};

pub static ERRORS: OfFileSystem = OfFileSystem {
    about: &SettingAbout {
        id: "state.file_system_errors",
        title: "errors of an ext4 file system",
        doc: "Errors that ext4 has found in its own data and noted in the superblock since the last check by fsck: the \
              disk returned wrong data, or the machine lost power while the disk cached writes.",
        kind: Kind::Count(0, u64::MAX),
        unit: "errors",
        source: "/sys/fs/ext4/DEVICE/errors_count",
        remedy: "check the disk (`smartctl -a`), then run fsck on the unmounted file system",
        traps: "Only fsck clears it.",
        ..ABOUT
    },
    find: errors,
    of_read_only: true,
};

fn errors(one: &FileSystem, root: &SysRoot) -> Found {
    let Some(device) = one.device.as_deref().filter(|_| one.kind == "ext4") else {
        return Found::absent("only ext4 counts its errors");
    };
    match root.value::<u64>(format!("/sys/fs/ext4/{device}/errors_count")) {
        Ok(count) => Found::counted(Value::Count(count), count),
        Err(error) => Found::failed(&error),
    }
}

impl Setting for OfFileSystem {
    fn about(&self) -> &'static SettingAbout {
        self.about
    }

    fn read(&self, root: &SysRoot, machine: &Machine) -> Vec<SettingReading> {
        let none = "no file system is on a disk of this machine";
        devices::readings(self.about, &machine.file_systems, none, |one| {
            // Images for reading are always full.
            let is_meant = one.medium == Medium::Disk && (self.of_read_only || !one.read_only);
            let device = || Device { name: one.mount.clone(), facts: one.facts(), found: (self.find)(one, root) };
            is_meant.then(device)
        })
    }
}
