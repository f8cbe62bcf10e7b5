//! Traffic and errors of RDMA ports: port counters and the adapter's own counters.
//!
//! Source: ABI/stable/sysfs-class-infiniband; for the adapters' own counters, each driver's list (mlx5:
//! drivers/infiniband/hw/mlx5/counters.c; soft-RoCE: drivers/infiniband/sw/rxe/rxe_hw_counters.c).

use super::{Counters, Counting, Difference};
use crate::root::{ReadError, SysRoot};

const CLASS: &str = "/sys/class/infiniband";

/// Port counters, and our names and factors where the kernel's names mislead: data counts in words of four octets,
/// headers included. The first four are named like those of network interfaces.
const OF_PORT: [(&str, &str, u64); 17] = [
    ("port_xmit_data", "tx_bytes", 4),
    ("port_rcv_data", "rx_bytes", 4),
    ("port_xmit_packets", "tx_packets", 1),
    ("port_rcv_packets", "rx_packets", 1),
    ("symbol_error", "symbol_error", 1),
    ("link_error_recovery", "link_error_recovery", 1),
    ("link_downed", "link_downed", 1),
    ("local_link_integrity_errors", "local_link_integrity_errors", 1),
    ("excessive_buffer_overrun_errors", "excessive_buffer_overrun_errors", 1),
    ("port_rcv_errors", "port_rcv_errors", 1),
    ("port_rcv_remote_physical_errors", "port_rcv_remote_physical_errors", 1),
    ("port_rcv_switch_relay_errors", "port_rcv_switch_relay_errors", 1),
    ("port_rcv_constraint_errors", "port_rcv_constraint_errors", 1),
    ("port_xmit_constraint_errors", "port_xmit_constraint_errors", 1),
    ("port_xmit_discards", "port_xmit_discards", 1),
    ("port_xmit_wait", "port_xmit_wait", 1),
    ("VL15_dropped", "VL15_dropped", 1),
];

/// Reported even for idle ports: path proof needs a port's zero.
const ALWAYS: [&str; 4] = ["tx_bytes", "rx_bytes", "tx_packets", "rx_packets"];

/// Not a counter but how many milliseconds the counters are cached.
const NO_COUNTER: &str = "lifespan";

/// A 32-bit counter without extended counters stays at its maximum (InfiniBand Architecture Specification, volume 1,
/// `PortCounters`): at 100 Gbit/s after less than two seconds.
const FULL: u64 = u32::MAX as u64;

/// What the kernel writes for a counter that the port lacks.
const NOT_THERE: &str = "N/A";

const MOST_PORTS: usize = 64;

/// Counters of every RDMA port, by device and port: `tx_bytes mlx5_0/1`; of the others those that increased.
pub(super) struct IbPort;

impl Counting for IbPort {
    fn id(&self) -> &'static str {
        "ib_port"
    }

    fn read(&self, root: &SysRoot) -> Counters {
        let mut counters = Counters::default();
        let devices = match root.list(CLASS) {
            Ok(devices) => devices,
            Err(error) => {
                counters.unreadable(error);
                return counters;
            }
        };
        let mut ports: Vec<(String, u32)> = Vec::new();
        for device in devices {
            match root.numbered(format!("{CLASS}/{device}/ports"), "") {
                Ok(numbers) => ports.extend(numbers.into_iter().map(|number| (device.clone(), number))),
                Err(error) => counters.unreadable(error),
            }
        }
        if ports.len() > MOST_PORTS {
            let more = ports.len() - MOST_PORTS;
            counters.unreadable(format_args!("{CLASS} has {more} ports more than are read"));
            ports.truncate(MOST_PORTS);
        }
        for (device, number) in &ports {
            let (folder, port) = (format!("{CLASS}/{device}/ports/{number}"), format!("{device}/{number}"));
            let own = of_port(root, &folder, &port, &mut counters);
            let adapters = of_adapter(root, &folder, &port, &mut counters);
            if !own && !adapters {
                counters.unreadable(format_args!("{folder} has no counters"));
            }
        }
        if ports.is_empty() && counters.unreadable.is_empty() {
            counters.unreadable(format_args!("{CLASS} is empty: there is no RDMA device"));
        }
        counters
    }

    fn between(&self, before: &Counters, after: &Counters) -> Difference {
        let mut all = after.since(before);
        all.counts
            .retain(|name, count| *count > 0 || ALWAYS.contains(&name.split(' ').next().unwrap_or_default()));
        all
    }
}

fn of_port(root: &SysRoot, folder: &str, port: &str, counters: &mut Counters) -> bool {
    if !root.exists(format!("{folder}/counters")) {
        return false;
    }
    for (file, name, factor) in OF_PORT {
        match number(root, &format!("{folder}/counters/{file}")) {
            Ok(Some(FULL)) if ALWAYS.contains(&name) => counters.unreadable(format_args!(
                "{name} {port}: {folder}/counters/{file} is full at {FULL} and counts no further; perfquery -R empties it"
            )),
            Ok(Some(value)) => counters.count(format!("{name} {port}"), value.saturating_mul(factor)),
            Ok(None) => {}
            Err(error) => {
                counters.unreadable(error);
                break;
            }
        }
    }
    true
}

/// Reads all of the adapter's own counters of a port; false without any.
fn of_adapter(root: &SysRoot, folder: &str, port: &str, counters: &mut Counters) -> bool {
    let Ok(files) = root.list(format!("{folder}/hw_counters")) else { return false };
    for file in files.iter().filter(|file| *file != NO_COUNTER) {
        match number(root, &format!("{folder}/hw_counters/{file}")) {
            // Where a driver repeats a port counter, the port's value is kept.
            Ok(Some(value)) if !counters.counts.contains_key(&format!("{file} {port}")) => {
                counters.count(format!("{file} {port}"), value);
            }
            Ok(_) => {}
            Err(error) => {
                counters.unreadable(error);
                break;
            }
        }
    }
    true
}

fn number(root: &SysRoot, path: &str) -> Result<Option<u64>, ReadError> {
    let text = match root.text(path) {
        Err(error) if error.is_missing() => return Ok(None),
        text => text?,
    };
    if text.starts_with(NOT_THERE) {
        return Ok(None);
    }
    text.trim().parse().map(Some).map_err(|_| ReadError::garbage(path, &text, "a count"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn set(root: &SysRoot, port: &str, folder: &str, values: &[(&str, &str)]) {
        let folder = root.locate(format!("{CLASS}/{port}/{folder}"));
        fs::create_dir_all(&folder).expect("made");
        for (file, value) in values {
            fs::write(folder.join(file), format!("{value}\n")).expect("written");
        }
    }

    fn tree() -> (tempfile::TempDir, SysRoot) {
        let dir = tempfile::tempdir().expect("a folder");
        let root = SysRoot::at(dir.path());
        (dir, root)
    }

    #[test]
    fn data_is_told_in_bytes_of_all_ports_and_errors_where_they_grew() {
        let (_dir, root) = tree();
        let port = "mlx5_0/ports/1";
        set(
            &root,
            port,
            "counters",
            &[("port_xmit_data", "1000"), ("port_rcv_data", "5"), ("symbol_error", "3")],
        );
        set(
            &root,
            port,
            "hw_counters",
            &[("out_of_sequence", "7"), ("np_cnp_sent", "0"), ("lifespan", "10")],
        );
        set(
            &root,
            "mlx5_1/ports/2",
            "counters",
            &[("port_xmit_data", "9"), ("port_xmit_wait", "N/A (no PMA)")],
        );
        let before = IbPort.read(&root);
        set(&root, port, "counters", &[("port_xmit_data", "1250"), ("symbol_error", "5")]);
        set(
            &root,
            port,
            "hw_counters",
            &[("out_of_sequence", "7"), ("np_cnp_sent", "4"), ("lifespan", "12")],
        );
        let found = IbPort.between(&before, &IbPort.read(&root));
        let counts: Vec<_> = found.counts.iter().map(|(name, count)| (name.as_str(), *count)).collect();
        let wanted = [
            ("np_cnp_sent mlx5_0/1", 4),
            ("rx_bytes mlx5_0/1", 0),
            ("symbol_error mlx5_0/1", 2),
            ("tx_bytes mlx5_0/1", 1000),
            ("tx_bytes mlx5_1/2", 0),
        ];
        assert_eq!(counts, wanted);
        assert!(found.unreadable.is_empty(), "{:?}", found.unreadable);
    }

    #[test]
    fn a_device_of_software_has_counters_of_its_own_only() {
        let (_dir, root) = tree();
        set(&root, "rxe0/ports/1", "hw_counters", &[("sent_pkts", "12"), ("rcvd_rnr_err", "1")]);
        let found = IbPort.read(&root);
        assert_eq!(found.counts["sent_pkts rxe0/1"], 12);
        assert!(found.unreadable.is_empty(), "{:?}", found.unreadable);
    }

    #[test]
    fn a_counter_that_is_full_says_nothing_of_what_went_over_the_port() {
        let (_dir, root) = tree();
        let port = "mthca0/ports/1";
        set(&root, port, "counters", &[("port_xmit_data", "4294967000"), ("symbol_error", "4294967295")]);
        let before = IbPort.read(&root);
        set(&root, port, "counters", &[("port_xmit_data", "4294967295"), ("port_rcv_data", "4294967295")]);
        let found = IbPort.between(&before, &IbPort.read(&root));
        assert!(found.counts.is_empty(), "{:?}", found.counts);
        let told = |what: &str| found.unreadable.iter().any(|why| why.starts_with(what));
        assert!(told("tx_bytes mthca0/1: ") && told("rx_bytes mthca0/1: "), "{:?}", found.unreadable);
        assert!(!told("symbol_error"), "{:?}", found.unreadable);
    }

    #[test]
    fn what_is_no_count_and_a_port_without_any_are_noted() {
        let (_dir, root) = tree();
        set(&root, "mlx5_0/ports/1", "counters", &[("port_xmit_data", "many")]);
        set(&root, "mlx5_1/ports/1", "gids", &[]);
        let found = IbPort.read(&root);
        assert!(found.counts.is_empty());
        assert_eq!(found.unreadable.len(), 2, "{:?}", found.unreadable);
        assert!(found.unreadable[1].contains("mlx5_1/ports/1 has no counters"));
    }
}
