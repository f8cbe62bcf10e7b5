//! Traffic and losses of network interfaces: kernel counters, and the driver's own loss counters.

use std::collections::{BTreeMap, BTreeSet};

use super::{Counters, Counting, Difference};
use crate::ethtool::Ethtool;
use crate::root::{ReadError, SysRoot};

const CLASS: &str = "/sys/class/net";

/// A file of the bonding driver beside the interfaces.
const NO_INTERFACE: &str = "bonding_masters";

/// The kernel's counters (Documentation/networking/statistics.rst, ABI/testing/sysfs-class-net-statistics) and our
/// names.
const FILES: [(&str, &str); 12] = [
    ("rx_bytes", "rx_bytes"),
    ("tx_bytes", "tx_bytes"),
    ("rx_packets", "rx_packets"),
    ("tx_packets", "tx_packets"),
    ("rx_dropped", "rx_dropped"),
    ("rx_missed_errors", "rx_missed"),
    ("rx_fifo_errors", "rx_fifo"),
    ("rx_crc_errors", "rx_crc"),
    ("rx_errors", "rx_errors"),
    ("tx_dropped", "tx_dropped"),
    ("tx_errors", "tx_errors"),
    ("tx_carrier_errors", "tx_carrier"),
];

/// Link losses of an interface, and of a bond member (ABI/testing/sysfs-class-net;
/// Documentation/networking/bonding.rst). Not all kernels and interfaces have them.
const LOSSES: [(&str, &str); 2] =
    [("carrier_down_count", "carrier_losses"), ("bonding_slave/link_failure_count", "link_failures")];

/// Reported even for idle interfaces: path proof needs an interface's zero.
const ALWAYS: [&str; 2] = ["rx_bytes", "tx_bytes"];

/// Parts of names that drivers use for losses and stalls. All other driver counters are left out: there can be
/// thousands, mostly per queue.
const TELLING: [&str; 15] = [
    "drop",
    "discard",
    "miss",
    "fifo",
    "no_buf",
    "nobuf",
    "out_of_buffer",
    "no_desc",
    "overrun",
    "crc",
    "fcs",
    "symbol",
    "pause",
    "xoff",
    "allowance_exceeded",
];

/// Interfaces read at most, those with a device first. A host of containers has hundreds of veth pairs.
const MOST_INTERFACES: usize = 64;

const MOST_OF_DRIVER: usize = 16;

const DRIVER: &str = "driver:";

/// Counters of every interface of this network namespace: `rx_bytes eth0`, and those of the others that increased,
/// the driver's own as `driver:rx_out_of_buffer eth0`. Blanks in driver names are replaced.
pub(super) struct Nic;

impl Counting for Nic {
    fn id(&self) -> &'static str {
        "nic"
    }

    fn read(&self, root: &SysRoot) -> Counters {
        let mut counters = Counters::default();
        let mut names = match root.list(CLASS) {
            Ok(names) => names,
            Err(error) => {
                counters.unreadable(error);
                return counters;
            }
        };
        names.retain(|name| name != NO_INTERFACE);
        let has_device = |name: &String| root.exists(format!("{CLASS}/{name}/device"));
        names.sort_by_key(|name| !has_device(name));
        if names.len() > MOST_INTERFACES {
            let more = names.len() - MOST_INTERFACES;
            counters.unreadable(format_args!("{CLASS} has {more} interfaces more than are read"));
            names.truncate(MOST_INTERFACES);
        }
        for name in &names {
            of_kernel(root, name, &mut counters);
            if has_device(name) {
                of_driver(root, name, &mut counters);
            }
        }
        if names.is_empty() {
            counters.unreadable(format_args!("{CLASS} is empty: there is no interface"));
        }
        counters
    }

    fn between(&self, before: &Counters, after: &Counters) -> Difference {
        let mut all = after.since(before);
        let (of_driver, mut of_kernel): (BTreeMap<String, u64>, BTreeMap<String, u64>) =
            std::mem::take(&mut all.counts).into_iter().partition(|(name, _)| name.starts_with(DRIVER));
        of_kernel.retain(|name, count| *count > 0 || ALWAYS.contains(&kind(name)));
        let interfaces: BTreeSet<String> = of_driver.keys().map(|name| interface(name).to_owned()).collect();
        for of in interfaces {
            let mut grown: Vec<_> =
                of_driver.iter().filter(|(name, count)| **count > 0 && interface(name) == of).collect();
            grown.sort_by_key(|(_, count)| std::cmp::Reverse(**count));
            let most = grown.into_iter().take(MOST_OF_DRIVER);
            of_kernel.extend(most.map(|(name, count)| (name.clone(), *count)));
        }
        all.counts = of_kernel;
        all
    }
}

fn kind(name: &str) -> &str {
    name.split(' ').next().unwrap_or(name)
}

fn interface(name: &str) -> &str {
    name.rsplit_once(' ').map_or(name, |(_, interface)| interface)
}

fn of_kernel(root: &SysRoot, interface: &str, counters: &mut Counters) {
    for (file, name) in FILES {
        match root.value(format!("{CLASS}/{interface}/statistics/{file}")) {
            Ok(value) => counters.count(format!("{name} {interface}"), value),
            Err(error) => {
                counters.unreadable(error);
                return;
            }
        }
    }
    for (file, name) in LOSSES {
        match root.value(format!("{CLASS}/{interface}/{file}")) {
            Ok(value) => {
                counters.count(format!("{name} {interface}"), value);
                // What grew between two trials is in neither of them.
                if value > 0 {
                    counters.level(format!("{name} {interface}"), value);
                }
            }
            Err(ReadError::Missing { .. }) => {}
            Err(error) => counters.unreadable(error),
        }
    }
}

fn of_driver(root: &SysRoot, interface: &str, counters: &mut Counters) {
    let all = match Ethtool::of(root, interface).statistics() {
        Ok(all) => all,
        Err(ReadError::Missing { .. }) => return,
        Err(error) => {
            counters.unreadable(error);
            return;
        }
    };
    for (name, value) in all {
        let lower = name.to_lowercase();
        if TELLING.iter().any(|part| lower.contains(part)) {
            let name = name.split_whitespace().collect::<Vec<_>>().join("_");
            let name = format!("{DRIVER}{name} {interface}");
            // Some drivers give several counters the same name.
            let so_far = counters.counts.get(&name).copied().unwrap_or(0);
            counters.count(name, so_far.saturating_add(value));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn set(root: &SysRoot, interface: &str, values: &[(&str, u64)]) {
        let folder = root.locate(format!("{CLASS}/{interface}/statistics"));
        fs::create_dir_all(&folder).expect("made");
        for (file, _) in FILES {
            let value = values.iter().find(|(name, _)| *name == file).map_or(0, |(_, value)| *value);
            fs::write(folder.join(file), format!("{value}\n")).expect("written");
        }
    }

    fn driver(root: &SysRoot, interface: &str, text: &str) {
        fs::create_dir_all(root.locate(format!("{CLASS}/{interface}/device"))).expect("made");
        fs::create_dir_all(root.locate(format!("/ethtool/{interface}"))).expect("made");
        fs::write(root.locate(format!("/ethtool/{interface}/statistics")), text).expect("written");
    }

    fn tree() -> (tempfile::TempDir, SysRoot) {
        let dir = tempfile::tempdir().expect("a folder");
        let root = SysRoot::at(dir.path());
        (dir, root)
    }

    #[test]
    fn bytes_of_all_interfaces_and_losses_of_some_are_told() {
        let (_dir, root) = tree();
        set(&root, "eth0", &[("rx_bytes", 100), ("rx_missed_errors", 7)]);
        set(&root, "lo", &[]);
        fs::write(root.locate(format!("{CLASS}/{NO_INTERFACE}")), "\n").expect("written");
        driver(&root, "eth0", "rx_packets 5\nrx_out_of_buffer 1\nrx0_xdp_drop 0\n[0]: rx_discards 2\n");
        let before = Nic.read(&root);
        set(&root, "eth0", &[("rx_bytes", 150), ("rx_missed_errors", 9), ("tx_bytes", 20)]);
        driver(&root, "eth0", "rx_packets 50\nrx_out_of_buffer 4\nrx0_xdp_drop 0\n[0]: rx_discards 8\n");
        let found = Nic.between(&before, &Nic.read(&root));
        let counts: Vec<_> = found.counts.iter().map(|(name, count)| (name.as_str(), *count)).collect();
        let wanted = [
            ("driver:[0]:_rx_discards eth0", 6),
            ("driver:rx_out_of_buffer eth0", 3),
            ("rx_bytes eth0", 50),
            ("rx_bytes lo", 0),
            ("rx_missed eth0", 2),
            ("tx_bytes eth0", 20),
            ("tx_bytes lo", 0),
        ];
        assert_eq!(counts, wanted);
        assert!(found.unreadable.is_empty(), "{:?}", found.unreadable);
    }

    #[test]
    fn links_that_went_away_are_told_and_those_that_stayed_are_not() {
        let (_dir, root) = tree();
        set(&root, "eth0", &[]);
        set(&root, "eth1", &[]);
        let losses = |carrier: u64, failures: u64| {
            let folder = root.locate(format!("{CLASS}/eth0/bonding_slave"));
            fs::create_dir_all(&folder).expect("made");
            fs::write(folder.join("link_failure_count"), format!("{failures}\n")).expect("written");
            for name in ["eth0", "eth1"] {
                let file = root.locate(format!("{CLASS}/{name}/carrier_down_count"));
                fs::write(file, format!("{}\n", if name == "eth0" { carrier } else { 4 })).expect("written");
            }
        };
        losses(3, 1);
        let before = Nic.read(&root);
        losses(4, 3);
        let found = Nic.between(&before, &Nic.read(&root));
        assert_eq!((found.counts["carrier_losses eth0"], found.counts["link_failures eth0"]), (1, 2));
        assert!(!found.counts.keys().any(|name| name.ends_with("losses eth1")), "{:?}", found.counts);
        assert_eq!((found.levels["carrier_losses eth0"], found.levels["carrier_losses eth1"]), (4, 4));
    }

    #[test]
    fn a_host_of_containers_does_not_hide_its_cards() {
        let (_dir, root) = tree();
        (0..100).for_each(|number| set(&root, &format!("a{number:03}"), &[]));
        set(&root, "eth0", &[]);
        driver(&root, "eth0", "");
        let found = Nic.read(&root);
        assert!(found.counts.contains_key("rx_bytes eth0"));
        let interfaces = found.counts.keys().filter(|name| name.starts_with("rx_bytes ")).count();
        assert_eq!((interfaces, found.unreadable.len()), (MOST_INTERFACES, 1));
        assert!(found.unreadable[0].contains("37 interfaces more"), "{:?}", found.unreadable);
    }

    #[test]
    fn a_driver_with_a_counter_for_each_queue_is_cut_to_the_largest() {
        let (_dir, root) = tree();
        set(&root, "eth0", &[]);
        let of =
            |factor: u64| (0..40).map(|at| format!("rx{at}_dropped {}\n", at * factor)).collect::<String>();
        driver(&root, "eth0", &of(0));
        let before = Nic.read(&root);
        driver(&root, "eth0", &of(1));
        let found = Nic.between(&before, &Nic.read(&root));
        let own: Vec<_> = found.counts.iter().filter(|(name, _)| name.starts_with(DRIVER)).collect();
        assert_eq!(own.len(), MOST_OF_DRIVER);
        assert!(own.iter().all(|(_, count)| **count >= 40 - MOST_OF_DRIVER as u64), "{own:?}");
    }

    #[test]
    fn what_cannot_be_read_is_told_once_for_each_interface() {
        let (_dir, root) = tree();
        fs::create_dir_all(root.locate(format!("{CLASS}/eth0"))).expect("made");
        driver(&root, "eth0", "rx_dropped many\n");
        let found = Nic.read(&root);
        assert!(found.counts.is_empty());
        assert_eq!(found.unreadable.len(), 2, "{:?}", found.unreadable);
    }
}
