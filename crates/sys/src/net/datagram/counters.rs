//! Counters of dropped and fragmented datagrams, on receive and on send.

use std::collections::BTreeMap;

use super::qdisc::qdiscs;
use crate::root::{ReadError, SysRoot};

/// Of the network namespace of the calling thread, which may differ from the process's.
const SNMP: &str = "/proc/thread-self/net/snmp";
const SNMP6: &str = "/proc/thread-self/net/snmp6";
const SOFTNET: &str = "/proc/thread-self/net/softnet_stat";

/// Our name, the protocol and field of IPv4 (Documentation/networking/snmp_counter.rst), and the field of IPv6.
const PROTOCOL: &[(&str, &str, &str, &str)] = &[
    ("udp_receive_buffer_full", "Udp", "RcvbufErrors", "Udp6RcvbufErrors"),
    ("udp_send_dropped", "Udp", "SndbufErrors", "Udp6SndbufErrors"),
    ("udp_memory_short", "Udp", "MemErrors", "Udp6MemErrors"),
    ("udp_checksum_wrong", "Udp", "InCsumErrors", "Udp6InCsumErrors"),
    ("fragments_made", "Ip", "FragCreates", "Ip6FragCreates"),
    ("fragments_come", "Ip", "ReasmReqds", "Ip6ReasmReqds"),
    ("reassembly_failed", "Ip", "ReasmFails", "Ip6ReasmFails"),
];

/// Our name, and the file of an interface's statistics (Documentation/networking/statistics.rst).
const INTERFACE: &[(&str, &str)] = &[
    ("interface_rx_dropped", "rx_dropped"),
    ("interface_rx_missed", "rx_missed_errors"),
    ("interface_rx_fifo", "rx_fifo_errors"),
    ("interface_rx_crc", "rx_crc_errors"),
    ("interface_tx_dropped", "tx_dropped"),
    ("interface_tx_errors", "tx_errors"),
    ("interface_tx_carrier", "tx_carrier_errors"),
];

pub type Interface<'a> = Option<&'a str>;

pub type Counted = BTreeMap<&'static str, u64>;

/// The counters at one moment, or their increase between two.
///
/// Protocol counters are of the network namespace, backlog counters of the whole machine: other processes count in
/// both.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DatagramCounters {
    pub counts: Counted,
    pub unknown: Vec<String>,
}

impl DatagramCounters {
    pub fn read(root: &SysRoot, interface: Interface<'_>) -> Self {
        let mut all = Self::default();
        all.add(protocols(root));
        all.add(backlog(root));
        match interface {
            Some(name) => {
                all.add(statistics(root, name));
                all.add(queues(root, name));
            }
            None => all.unknown.push("the interface is not known, so that its counters are not".to_owned()),
        }
        all
    }

    /// The increase since `earlier`, of counters known at both moments.
    pub fn since(&self, earlier: &Self) -> Self {
        let passed = |(name, now): (&&'static str, &u64)| {
            // A counter that decreased was reset.
            Some((*name, now.checked_sub(*earlier.counts.get(name)?)?))
        };
        let unknown =
            self.unknown.iter().chain(earlier.unknown.iter().filter(|why| !self.unknown.contains(why)));
        Self { counts: self.counts.iter().filter_map(passed).collect(), unknown: unknown.cloned().collect() }
    }

    fn add(&mut self, found: Result<Counted, ReadError>) {
        match found {
            Ok(counts) => self.counts.extend(counts),
            Err(error) => self.unknown.push(error.to_string()),
        }
    }
}

fn protocols(root: &SysRoot) -> Result<Counted, ReadError> {
    let four = root.text(SNMP)?;
    let six = match root.text(SNMP6) {
        Ok(text) => text,
        Err(error) if error.is_missing() => String::new(),
        Err(error) => return Err(error),
    };
    let mut counts = Counted::new();
    for (name, protocol, field, six_field) in PROTOCOL {
        let Some(of_four) = of_protocol(&four, protocol, field) else { continue };
        let of_six = six.lines().find_map(|line| line.strip_prefix(six_field)?.trim().parse::<u64>().ok());
        counts.insert(name, of_four.saturating_add(of_six.unwrap_or(0)));
    }
    if counts.is_empty() {
        return Err(ReadError::garbage(SNMP, &four, "lines of names and lines of numbers"));
    }
    Ok(counts)
}

/// The value of `field` in a line of numbers below the line of names.
fn of_protocol(text: &str, protocol: &str, field: &str) -> Option<u64> {
    let mut lines = text.lines().filter_map(|line| line.strip_prefix(protocol)?.strip_prefix(':'));
    let (names, numbers) = (lines.next()?, lines.next()?);
    let at = names.split_whitespace().position(|name| name == field)?;
    numbers.split_whitespace().nth(at)?.parse().ok()
}

/// Packets that found the queue of their CPU full: second column of each CPU's line, in hexadecimal
/// (net/core/net-procfs.c, `softnet_seq_show`).
fn backlog(root: &SysRoot) -> Result<Counted, ReadError> {
    let text = root.text(SOFTNET)?;
    let dropped = |line: &str| u64::from_str_radix(line.split_whitespace().nth(1)?, 16).ok();
    let all = text.lines().try_fold(0_u64, |sum, line| Some(sum.saturating_add(dropped(line)?)));
    match all {
        Some(sum) if !text.is_empty() => Ok(Counted::from([("backlog_dropped", sum)])),
        _ => Err(ReadError::garbage(SOFTNET, &text, "lines of hexadecimal numbers")),
    }
}

fn statistics(root: &SysRoot, interface: &str) -> Result<Counted, ReadError> {
    let folder = format!("/sys/class/net/{interface}/statistics");
    INTERFACE.iter().map(|(name, file)| Ok((*name, root.value(format!("{folder}/{file}"))?))).collect()
}

/// Drops by the queueing disciplines of the interface. Only netlink reports them, so only of the running kernel.
fn queues(root: &SysRoot, interface: &str) -> Result<Counted, ReadError> {
    if !root.is_live() {
        return Ok(Counted::new());
    }
    let unreadable = |errno| ReadError::Unreadable { path: format!("the queues of {interface}"), errno };
    let queues = qdiscs(interface).map_err(unreadable)?;
    // A discipline with children includes their drops in its own.
    let dropped =
        queues.iter().filter(|queue| queue.is_root).map(|queue| queue.dropped).fold(0, u64::saturating_add);
    Ok(Counted::from([("queue_dropped", dropped)]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    const FOUR: &str = "\
Ip: Forwarding DefaultTTL ReasmReqds ReasmOKs ReasmFails FragOKs FragFails FragCreates
Ip: 1 64 40 19 2 5 0 15
Udp: InDatagrams NoPorts InErrors OutDatagrams RcvbufErrors SndbufErrors InCsumErrors IgnoredMulti MemErrors
Udp: 1000 3 7 900 70 4 1 0 2
UdpLite: InDatagrams NoPorts InErrors OutDatagrams RcvbufErrors SndbufErrors InCsumErrors IgnoredMulti MemErrors
UdpLite: 0 0 0 0 9999 0 0 0 0
";
    const SIX: &str = "Ip6FragCreates                  \t5\nUdp6RcvbufErrors                \t30\n";
    const CPUS: &str = "00000010 0000000a 00000001\n00000020 00000006 00000000\n";

    fn tree(four: &str, six: Option<&str>, softnet: &str) -> (tempfile::TempDir, SysRoot) {
        let dir = tempfile::tempdir().expect("a folder");
        let net = dir.path().join("proc/thread-self/net");
        let statistics = dir.path().join("sys/class/net/eth7/statistics");
        fs::create_dir_all(&net).and_then(|()| fs::create_dir_all(&statistics)).expect("made");
        fs::write(net.join("snmp"), four).expect("written");
        fs::write(net.join("softnet_stat"), softnet).expect("written");
        if let Some(six) = six {
            fs::write(net.join("snmp6"), six).expect("written");
        }
        for (number, (_, file)) in INTERFACE.iter().enumerate() {
            fs::write(statistics.join(file), format!("{number}\n")).expect("written");
        }
        let root = SysRoot::at(dir.path());
        (dir, root)
    }

    #[test]
    fn both_protocols_the_backlog_and_the_interface_are_counted() {
        let (_dir, root) = tree(FOUR, Some(SIX), CPUS);
        let found = DatagramCounters::read(&root, Some("eth7"));
        assert_eq!(found.unknown, [""; 0]);
        assert_eq!(found.counts["udp_receive_buffer_full"], 100, "UdpLite is another protocol");
        assert_eq!((found.counts["fragments_made"], found.counts["fragments_come"]), (20, 40));
        assert_eq!(found.counts["backlog_dropped"], 16);
        assert_eq!(found.counts["interface_rx_missed"], 1);
    }

    #[test]
    fn a_kernel_without_ipv6_or_the_newest_counters_is_no_fault() {
        let old = FOUR.replace(" MemErrors", "");
        let (_dir, root) = tree(&old, None, CPUS);
        let found = DatagramCounters::read(&root, Some("eth7"));
        assert_eq!((found.counts["udp_receive_buffer_full"], found.unknown.len()), (70, 0));
        assert_eq!(found.counts.get("udp_memory_short"), None);
    }

    #[test]
    fn what_cannot_be_read_is_unknown_with_its_reason_and_never_nothing() {
        let (_dir, root) = tree("Tcp: x\n", Some(SIX), "zz\n");
        let found = DatagramCounters::read(&root, Some("eth8"));
        assert_eq!(found.counts, Counted::new());
        assert_eq!(found.unknown.len(), 3, "{:?}", found.unknown);
        assert!(found.unknown[2].starts_with("/sys/class/net/eth8/statistics/"), "{:?}", found.unknown);
        assert_eq!(DatagramCounters::read(&root, None).unknown.len(), 3);
    }

    #[test]
    fn the_difference_of_two_readings_is_what_happened_between_them() {
        let of = |pairs: &[(&'static str, u64)]| DatagramCounters {
            counts: pairs.iter().copied().collect(),
            unknown: Vec::new(),
        };
        let passed = of(&[("a", 5), ("b", 1), ("c", 9)]).since(&of(&[("a", 2), ("b", 4)]));
        assert_eq!(passed.counts, Counted::from([("a", 3)]), "one was reset, one was not known before");
    }
}
