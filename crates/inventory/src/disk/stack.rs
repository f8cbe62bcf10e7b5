//! Layers of block devices: from the number of a mounted device down to its disks.

use std::collections::{BTreeMap, BTreeSet};

use seatrial_model::machine::Disk;
use seatrial_sys::root::SysRoot;

/// Block devices by number, and the devices below each.
#[derive(Default)]
pub(crate) struct Stack {
    /// `8:2` to `sda2`.
    by_number: BTreeMap<String, String>,
    /// `vg-home` to `dm-3`.
    by_mapping: BTreeMap<String, String>,
    /// From a partition to its disk, from a device-mapper device to its parts.
    below: BTreeMap<String, Vec<String>>,
}

impl Stack {
    pub fn read(root: &SysRoot, disks: &[Disk]) -> Self {
        let mut stack = Self::default();
        for disk in disks {
            let folder = format!("/sys/block/{}", disk.name);
            let Ok(folder) = root.resolve(&folder) else { continue };
            stack.number(root, &folder, &disk.name);
            stack.below.insert(disk.name.clone(), disk.slaves.clone());
            if let Ok(mapping) = root.text(format!("{folder}/dm/name")) {
                stack.by_mapping.insert(mapping, disk.name.clone());
            }
            for part in &disk.partitions {
                stack.number(root, &format!("{folder}/{}", part.name), &part.name);
                stack.below.insert(part.name.clone(), vec![disk.name.clone()]);
            }
        }
        stack
    }

    fn number(&mut self, root: &SysRoot, folder: &str, name: &str) {
        if let Ok(number) = root.text(format!("{folder}/dev")) {
            self.by_number.insert(number, name.to_owned());
        }
    }

    /// The block device of a mount, by number, else by source name: btrfs has device numbers of its own.
    pub fn device(&self, number: &str, source: &str) -> Option<String> {
        if let Some(name) = self.by_number.get(number) {
            return Some(name.clone());
        }
        let name = source.strip_prefix("/dev/")?;
        let mapped = name.strip_prefix("mapper/").and_then(|mapping| self.by_mapping.get(mapping));
        mapped.cloned().or_else(|| self.below.contains_key(name).then(|| name.to_owned()))
    }

    /// The device and all devices below it.
    pub fn under(&self, name: &str) -> Vec<String> {
        let mut seen = BTreeSet::new();
        let mut ahead = vec![name.to_owned()];
        let mut found = Vec::new();
        // Cycles cannot exist, but files could claim them.
        while let Some(name) = ahead.pop() {
            if !seen.insert(name.clone()) {
                continue;
            }
            if let Some(below) = self.below.get(&name) {
                ahead.extend(below.iter().rev().cloned());
                found.push(name);
            }
        }
        found
    }

    /// The lowest devices below a device.
    pub fn disks(&self, name: &str) -> Vec<String> {
        let is_disk = |name: &String| self.below.get(name).is_some_and(Vec::is_empty);
        self.under(name).into_iter().filter(is_disk).collect()
    }

    /// Whether `device` is on `disk` and on no disk besides.
    pub fn is_on_alone(&self, device: &str, disk: &str) -> bool {
        let lowest = |name: &str| self.disks(name).into_iter().collect::<BTreeSet<_>>();
        self.under(device).iter().any(|below| below == disk) && lowest(device) == lowest(disk)
    }

    /// The nearest device that is made of `disk` and of other disks.
    pub fn member_of(&self, disk: &str) -> Option<String> {
        let above = self.below.keys().map(|name| (self.under(name), name));
        let arrays = above
            .filter(|(under, name)| under.iter().any(|below| below == disk) && !self.is_on_alone(name, disk));
        arrays.min_by_key(|(under, _)| under.len()).map(|(_, name)| name.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stack(below: &[(&str, &[&str])]) -> Stack {
        let names = |list: &[&str]| list.iter().map(|name| (*name).to_owned()).collect();
        let below = below.iter().map(|(name, list)| ((*name).to_owned(), names(list))).collect();
        Stack { below, ..Stack::default() }
    }

    #[test]
    fn finds_the_disks_under_a_volume() {
        let stack = stack(&[
            ("dm-0", &["md0", "sdc1"]),
            ("md0", &["sda", "sdb"]),
            ("sdc1", &["sdc"]),
            ("sda", &[]),
            ("sdb", &[]),
            ("sdc", &[]),
        ]);
        assert_eq!(stack.disks("dm-0"), ["sda", "sdb", "sdc"]);
        assert_eq!(stack.under("sdc1"), ["sdc1", "sdc"]);
        assert!(stack.disks("sdx").is_empty());
    }

    #[test]
    fn tells_a_member_of_an_array_from_a_disk_with_volumes_of_its_own() {
        let stack = stack(&[
            ("dm-0", &["md0"]),
            ("md0", &["sda1", "sdb1"]),
            ("md0p1", &["md0"]),
            ("sda1", &["sda"]),
            ("sdb1", &["sdb"]),
            ("sda", &[]),
            ("sdb", &[]),
            // A thin pool of LVM: data and metadata on one disk.
            ("dm-3", &["dm-1", "dm-2"]),
            ("dm-1", &["sdc"]),
            ("dm-2", &["sdc"]),
            ("sdc", &[]),
        ]);
        let member_of = |disk: &str| stack.member_of(disk);
        assert_eq!((member_of("sda"), member_of("sdb")), (Some("md0".to_owned()), Some("md0".to_owned())));
        assert_eq!((member_of("md0"), member_of("sdc")), (None, None));
        assert!(stack.is_on_alone("dm-0", "md0") && stack.is_on_alone("dm-3", "sdc"));
        assert!(!stack.is_on_alone("dm-0", "sda") && !stack.is_on_alone("sda1", "sdb"));
    }

    #[test]
    fn a_circle_ends() {
        let stack = stack(&[("dm-0", &["dm-1"]), ("dm-1", &["dm-0"])]);
        assert_eq!(stack.under("dm-0"), ["dm-0", "dm-1"]);
        assert!(stack.disks("dm-0").is_empty());
    }
}
