//! CPUs that serve the interrupts of an interface, from `msi_irqs` of a PCI function (Linux Documentation:
//! ABI/testing/sysfs-bus-pci), `effective_affinity_list` and `smp_affinity_list` of an interrupt
//! (core-api/irq/irq-affinity.rst).

use std::collections::BTreeSet;

use seatrial_model::machine::Known;
use seatrial_sys::cpuset::CpuSet;
use seatrial_sys::irq::interrupts;
use seatrial_sys::root::{ReadError, SysRoot};

/// CPUs that serve the interrupts of the device in this folder below `/sys/devices`, ascending. Interrupts that are
/// not requested are left out: an interface that is down has none.
pub(super) fn cpus(root: &SysRoot, device: &str) -> Known<Vec<u32>> {
    let numbers = match interrupts(root, device) {
        Ok(numbers) => numbers,
        Err(why) => return Known::Unknown(why),
    };
    let mut served = BTreeSet::new();
    for number in numbers {
        match affinity(root, number) {
            Ok(cpus) => served.extend(cpus.iter()),
            // Not requested: then /proc/irq has no folder for it.
            Err(error) if error.is_missing() => {}
            // An unreadable interrupt could be on any CPU.
            Err(error) => return Known::unknown(error.to_string()),
        }
    }
    match served.is_empty() {
        true => Known::unknown("none of its interrupts is assigned to a CPU"),
        false => Known::Known(served.into_iter().collect()),
    }
}

/// CPUs that serve an interrupt; before Linux 4.13 and on some architectures, CPUs that may serve it.
fn affinity(root: &SysRoot, number: u32) -> Result<CpuSet, ReadError> {
    let list = |file: &str| root.value::<CpuSet>(format!("/proc/irq/{number}/{file}"));
    match list("effective_affinity_list") {
        Err(error) if error.is_missing() => list("smp_affinity_list"),
        told => told,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    const FUNCTION: &str = "/sys/devices/pci0000:00/0000:00:03.0";

    struct Tree(tempfile::TempDir);

    impl Tree {
        fn new() -> Self {
            Self(tempfile::tempdir().expect("a temporary folder"))
        }

        fn root(&self) -> SysRoot {
            SysRoot::at(self.0.path())
        }

        fn with(self, path: &str, text: &str) -> Self {
            let at = self.root().locate(path);
            fs::create_dir_all(at.parent().expect("a folder")).expect("made");
            fs::write(at, text).expect("written");
            self
        }

        /// An interrupt of the function, with its affinity files.
        fn irq(self, number: u32, effective: Option<&str>, allowed: &str) -> Self {
            let tree = self
                .with(&format!("{FUNCTION}/msi_irqs/{number}"), "msix\n")
                .with(&format!("/proc/irq/{number}/smp_affinity_list"), allowed);
            match effective {
                Some(list) => tree.with(&format!("/proc/irq/{number}/effective_affinity_list"), list),
                None => tree,
            }
        }
    }

    #[test]
    fn the_cpus_of_all_interrupts_are_told_once_and_the_effective_ones_win() {
        let tree = Tree::new().irq(40, Some("3\n"), "0-7\n").irq(41, Some("1\n"), "0-7\n");
        let tree = tree.irq(42, Some("3\n"), "0-7\n").irq(43, None, "5-6\n");
        assert_eq!(cpus(&tree.root(), FUNCTION), Known::Known(vec![1, 3, 5, 6]));
    }

    #[test]
    fn a_virtio_device_has_the_interrupts_of_the_function_above_it_and_no_other_device_has() {
        let tree = Tree::new().irq(38, Some("1\n"), "0-1\n");
        assert_eq!(cpus(&tree.root(), &format!("{FUNCTION}/virtio2")), Known::Known(vec![1]));
        let why = cpus(&tree.root(), &format!("{FUNCTION}/0000:01:00.0"));
        assert_eq!(why.why(), Some(&*format!("{FUNCTION}/0000:01:00.0/msi_irqs does not exist")));
    }

    #[test]
    fn interrupts_that_nobody_asked_for_are_on_no_cpu() {
        let tree =
            Tree::new().irq(40, Some("2\n"), "0-3\n").with(&format!("{FUNCTION}/msi_irqs/41"), "msix\n");
        let tree = tree.irq(42, Some("\n"), "0-3\n");
        assert_eq!(cpus(&tree.root(), FUNCTION), Known::Known(vec![2]));
        let idle = Tree::new().irq(40, Some("\n"), "0-3\n");
        assert!(!cpus(&idle.root(), FUNCTION).is_known());
    }

    #[test]
    fn a_device_without_messages_has_its_wire() {
        let wire = |number: &str| {
            Tree::new()
                .with(&format!("{FUNCTION}/irq"), number)
                .with("/proc/irq/9/effective_affinity_list", "4\n")
        };
        assert_eq!(cpus(&wire("9\n").root(), FUNCTION), Known::Known(vec![4]));
        assert!(!cpus(&wire("0\n").root(), FUNCTION).is_known(), "0 is no interrupt of a PCI function");
    }

    #[test]
    fn what_makes_no_sense_is_not_known() {
        let tree = Tree::new().irq(40, Some("2\n"), "0-3\n").irq(41, Some("many\n"), "0-3\n");
        let why = cpus(&tree.root(), FUNCTION);
        assert!(why.why().is_some_and(|why| why.contains("/proc/irq/41/effective_affinity_list")), "{why:?}");
    }
}
