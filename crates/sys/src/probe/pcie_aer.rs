//! PCI Express errors that devices reported (Advanced Error Reporting).

use std::collections::BTreeSet;

use super::{CounterReading, Counters, Counting, Difference};
use crate::root::{ReadError, SysRoot};

const DEVICES: &str = "/sys/bus/pci/devices";

/// Files of a device, and our name for their total. The last line is the number of messages, `TOTAL_ERR_COR 2`; the
/// lines above may add up to more, since a message can report several errors (Linux
/// Documentation/ABI/testing/sysfs-bus-pci-devices-aer).
const FILES: [(&str, &str); 3] =
    [("aer_dev_correctable", "correctable"), ("aer_dev_nonfatal", "nonfatal"), ("aer_dev_fatal", "fatal")];

/// Devices in a difference at most; the totals include all.
const MOST_DEVICES: usize = 16;

/// Counts `correctable`, `nonfatal` and `fatal` over all devices, and of each device with errors, such as
/// `correctable 0000:3b:00.0`. The reporting device saw the error; the fault may be at the other end of its link.
pub(super) struct PcieAer;

/// The counters of errors of `kinds` (`correctable`, `nonfatal`, `fatal`), named as by the probe; devices that count
/// none are left out.
pub fn pcie_error_counters(root: &SysRoot, kinds: &[&str]) -> Result<Vec<CounterReading>, ReadError> {
    let mut all = Vec::new();
    for device in root.list(DEVICES)? {
        for (file, kind) in FILES.iter().filter(|(_, kind)| kinds.contains(kind)) {
            match total(root, &format!("{DEVICES}/{device}/{file}")) {
                Err(ReadError::Missing { .. }) => {}
                count => all.push((format!("{kind} {device}"), count)),
            }
        }
    }
    Ok(all)
}

impl Counting for PcieAer {
    fn id(&self) -> &'static str {
        "pcie_aer"
    }

    /// Reads devices at 0 too: a later increase needs an earlier reading.
    fn read(&self, root: &SysRoot) -> Counters {
        let mut counters = Counters::default();
        counters.take(pcie_error_counters(root, &FILES.map(|(_, kind)| kind)));
        if counters.counts.is_empty() && counters.unreadable.is_empty() {
            counters.unreadable(format_args!("no device in {DEVICES} counts errors of its link"));
        }
        counters
    }

    fn between(&self, before: &Counters, after: &Counters) -> Difference {
        let mut all = after.since(before);
        let devices = std::mem::take(&mut all.counts);
        for (_, name) in FILES {
            let of_kind = devices.iter().filter(|(key, _)| kind(key) == name);
            if let Some(sum) = of_kind.map(|(_, count)| *count).reduce(u64::saturating_add) {
                all.counts.insert(name.to_owned(), sum);
            }
        }
        let mut grown: Vec<_> = devices.into_iter().filter(|(_, count)| *count > 0).collect();
        grown.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
        let named: BTreeSet<String> =
            grown.iter().map(|(key, _)| device(key).to_owned()).take(MOST_DEVICES).collect();
        all.counts.extend(grown.into_iter().filter(|(key, _)| named.contains(device(key))));
        all
    }
}

fn kind(key: &str) -> &str {
    key.split(' ').next().unwrap_or(key)
}

fn device(key: &str) -> &str {
    key.split_once(' ').map_or(key, |(_, device)| device)
}

fn total(root: &SysRoot, path: &str) -> Result<u64, ReadError> {
    let text = root.text(path)?;
    let total = text.lines().find_map(|line| {
        let (name, count) = line.rsplit_once(' ')?;
        name.starts_with("TOTAL_ERR_").then(|| count.parse().ok()).flatten()
    });
    total.ok_or_else(|| ReadError::garbage(path, &text, "a line 'TOTAL_ERR_...' with a number"))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn set(root: &SysRoot, device: &str, file: &str, text: &str) {
        let place = root.locate(format!("{DEVICES}/{device}"));
        fs::create_dir_all(&place).expect("made");
        fs::write(place.join(file), text).expect("written");
    }

    fn correctable(count: u64) -> String {
        format!("Receiver Error {count}\nBad TLP 0\nReplay Timer Timeout {count}\nTOTAL_ERR_COR {count}\n")
    }

    fn tree() -> (tempfile::TempDir, SysRoot) {
        let dir = tempfile::tempdir().expect("a folder");
        let root = SysRoot::at(dir.path());
        for device in ["0000:00:1c.0", "0000:3b:00.0"] {
            set(&root, device, "aer_dev_correctable", &correctable(0));
            set(&root, device, "aer_dev_nonfatal", "Undefined 0\nTOTAL_ERR_NONFATAL 0\n");
            set(&root, device, "aer_dev_fatal", "Undefined 0\nTOTAL_ERR_FATAL 0\n");
        }
        set(&root, "0000:00:1f.0", "vendor", "0x8086\n");
        (dir, root)
    }

    #[test]
    fn the_device_that_reported_something_is_named_and_quiet_ones_are_not() {
        let (_dir, root) = tree();
        let before = PcieAer.read(&root);
        set(&root, "0000:3b:00.0", "aer_dev_correctable", &correctable(5));
        set(&root, "0000:3b:00.0", "aer_dev_fatal", "Data Link Protocol 1\nTOTAL_ERR_FATAL 1\n");
        let found = PcieAer.between(&before, &PcieAer.read(&root));
        let counts: Vec<_> = found.counts.iter().map(|(name, &count)| (name.as_str(), count)).collect();
        let wanted = [
            ("correctable", 5),
            ("correctable 0000:3b:00.0", 5),
            ("fatal", 1),
            ("fatal 0000:3b:00.0", 1),
            ("nonfatal", 0),
        ];
        assert_eq!(counts, wanted);
        assert!(found.unreadable.is_empty());
    }

    #[test]
    fn the_number_of_named_devices_is_bounded_and_the_sum_is_not() {
        let (_dir, root) = tree();
        let names: Vec<String> = (0..40).map(|number| format!("0000:{number:02x}:02.0")).collect();
        names.iter().for_each(|name| set(&root, name, "aer_dev_correctable", &correctable(0)));
        let before = PcieAer.read(&root);
        for (count, name) in (1..).zip(&names) {
            set(&root, name, "aer_dev_correctable", &correctable(count));
        }
        let found = PcieAer.between(&before, &PcieAer.read(&root));
        assert_eq!(found.counts["correctable"], (1..=40).sum::<u64>());
        assert_eq!(found.counts.keys().filter(|key| key.contains(' ')).count(), MOST_DEVICES);
        assert_eq!(found.counts["correctable 0000:27:02.0"], 40, "the worst are the ones named");
    }

    #[test]
    fn a_file_without_its_total_and_a_machine_without_counters_are_told() {
        let (_dir, root) = tree();
        set(&root, "0000:3b:00.0", "aer_dev_fatal", "nothing to see\n");
        assert!(PcieAer.read(&root).unreadable[0].contains("TOTAL_ERR_"));
        let dir = tempfile::tempdir().expect("a folder");
        let root = SysRoot::at(dir.path());
        set(&root, "0000:00:1f.0", "vendor", "0x8086\n");
        assert!(PcieAer.read(&root).unreadable[0].contains("counts errors"));
    }
}
