//! The file system and the disks of a directory, from the inventory.

use seatrial_model::machine::{Disk, FileSystem, Machine};
use seatrial_model::{Cause, Params, Reason, Subject, Value};

use seatrial_bench::directory::{disk_fill_percent, file_system_of, mounted_read_only, on_disk};

#[derive(Clone, Debug, PartialEq)]
pub struct Directory<'a> {
    pub path: String,
    pub file_system: Option<&'a FileSystem>,
    /// The disk that names the subject, with `directory=disks`.
    pub disk: Option<&'a Disk>,
}

impl<'a> Directory<'a> {
    pub fn all(machine: &'a Machine, wanted: &str, writes: &str) -> Result<Vec<Self>, Reason> {
        match wanted {
            "auto" => Ok(vec![Self { path: wanted.to_owned(), file_system: None, disk: None }]),
            "disks" => Self::of_disks(machine),
            path if path.starts_with('/') => {
                let file_system = file_system_of(machine, path);
                if let Some(found) = file_system.filter(|found| found.read_only) {
                    let why = mounted_read_only(found, path);
                    return Err(Reason::new(Cause::Denied, format!("cannot {writes} in {path}: {why}")));
                }
                Ok(vec![Self { path: path.to_owned(), file_system, disk: None }])
            }
            other => {
                let text = format!("directory={other}: must be a full path, disks, or auto");
                Err(Reason::new(Cause::Contradiction, text))
            }
        }
    }

    /// For each disk with writable file systems that are on no other disk, the largest of them.
    fn of_disks(machine: &'a Machine) -> Result<Vec<Self>, Reason> {
        let disks = machine.disks.listed();
        let mut found = Vec::new();
        // Loop devices and RAM disks are left out; their file systems can be named.
        for disk in disks.iter().filter(|disk| disk.is_permanent()) {
            // The largest, because a boot partition has no room.
            let writable = on_disk(machine, disk).filter(|one| !one.read_only);
            let largest = writable.max_by_key(|one| one.size_bytes.known().copied());
            if let Some(file_system) = largest {
                let path = file_system.mount.clone();
                found.push(Self { path, file_system: Some(file_system), disk: Some(disk) });
            }
        }
        if found.is_empty() {
            let text = "no disk of this node has a writable file system; name a directory with directory=";
            return Err(Reason::new(Cause::Inapplicable, text));
        }
        Ok(found)
    }

    pub fn subject(&self) -> Subject {
        match (self.disk, self.file_system) {
            (Some(disk), _) => Subject::device("disk", &disk.name),
            (None, Some(found)) => Subject::device("fs", found.mount_of(&self.path).unwrap_or(&found.mount)),
            (None, None) => Subject::device("fs", &self.path),
        }
    }

    /// A name that stays the same over reboots.
    pub fn key(&self) -> Option<String> {
        self.disk.map(Disk::key).or_else(|| self.file_system.map(|found| found.seen_from(&self.path).key()))
    }

    /// Facts that a profile can select by. A disk also has the fill level of its file systems.
    pub fn facts(&self, machine: &Machine) -> Params {
        let mut facts = match (self.disk, self.file_system) {
            (Some(disk), _) => disk.facts(),
            (None, Some(found)) => found.seen_from(&self.path).facts(),
            (None, None) => Params::default(),
        };
        if self.disk.is_none() && self.file_system.is_none() {
            facts.set("kind", "fs");
        }
        if let (Some(disk), Some(found)) = (self.disk, self.file_system) {
            if let Some(percent) = disk_fill_percent(machine, disk) {
                facts.set("fill_percent", Value::Number(percent));
            }
            facts.set("mount", found.mount.as_str());
            facts.set("type", found.kind.as_str());
        }
        facts
    }

    /// The disks below the file system, the members of composed ones (md, dm) included.
    pub fn disks(&self, machine: &'a Machine) -> Vec<&'a Disk> {
        let disks = machine.disks.listed();
        let named = |name: &String| disks.iter().find(|disk| disk.name == *name);
        match (self.disk, self.file_system) {
            (Some(disk), _) => vec![disk],
            (None, Some(found)) => found.disks.iter().filter_map(named).collect(),
            (None, None) => Vec::new(),
        }
    }
}
