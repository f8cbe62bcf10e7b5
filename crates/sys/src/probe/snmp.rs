//! Protocol counters: datagrams without buffer space, retransmitted segments, fragments.

use std::collections::BTreeMap;

use super::{Counters, Counting};
use crate::root::{ReadError, SysRoot};

/// Of the network namespace of the calling thread, which may differ from the process's.
const SNMP: &str = "/proc/thread-self/net/snmp";
const NETSTAT: &str = "/proc/thread-self/net/netstat";
const SNMP6: &str = "/proc/thread-self/net/snmp6";
const SCTP: &str = "/proc/thread-self/net/sctp/snmp";

/// Our name, then the file, protocol and field (Documentation/networking/snmp_counter.rst). IPv6 has counters of its
/// own, which are added under the field of `snmp6`; TCP's counters cover both.
const FIELDS: &[(&str, &str, &str, &str, &str)] = &[
    ("udp_in_errors", SNMP, "Udp", "InErrors", "Udp6InErrors"),
    ("udp_receive_buffer_full", SNMP, "Udp", "RcvbufErrors", "Udp6RcvbufErrors"),
    ("udp_send_buffer_full", SNMP, "Udp", "SndbufErrors", "Udp6SndbufErrors"),
    ("udp_checksum_wrong", SNMP, "Udp", "InCsumErrors", "Udp6InCsumErrors"),
    ("udp_no_port", SNMP, "Udp", "NoPorts", "Udp6NoPorts"),
    ("ip_in_discarded", SNMP, "Ip", "InDiscards", "Ip6InDiscards"),
    ("ip_out_discarded", SNMP, "Ip", "OutDiscards", "Ip6OutDiscards"),
    ("fragments_made", SNMP, "Ip", "FragCreates", "Ip6FragCreates"),
    ("fragmenting_failed", SNMP, "Ip", "FragFails", "Ip6FragFails"),
    ("fragments_come", SNMP, "Ip", "ReasmReqds", "Ip6ReasmReqds"),
    ("reassembly_failed", SNMP, "Ip", "ReasmFails", "Ip6ReasmFails"),
    ("tcp_segments_out", SNMP, "Tcp", "OutSegs", ""),
    ("tcp_retransmits", SNMP, "Tcp", "RetransSegs", ""),
    ("tcp_in_errors", SNMP, "Tcp", "InErrs", ""),
    ("tcp_resets_sent", SNMP, "Tcp", "OutRsts", ""),
    ("tcp_timeouts", NETSTAT, "TcpExt", "TCPTimeouts", ""),
    ("tcp_fast_retransmits", NETSTAT, "TcpExt", "TCPFastRetrans", ""),
    ("tcp_spurious_timeouts", NETSTAT, "TcpExt", "TCPSpuriousRTOs", ""),
    ("tcp_out_of_order", NETSTAT, "TcpExt", "TCPOFOQueue", ""),
    ("tcp_receive_queue_full", NETSTAT, "TcpExt", "TCPRcvQDrop", ""),
    ("tcp_backlog_dropped", NETSTAT, "TcpExt", "TCPBacklogDrop", ""),
    ("tcp_pruned", NETSTAT, "TcpExt", "PruneCalled", ""),
    ("tcp_collapsed", NETSTAT, "TcpExt", "TCPRcvCollapsed", ""),
    ("tcp_memory_pressures", NETSTAT, "TcpExt", "TCPMemoryPressures", ""),
    ("listen_overflows", NETSTAT, "TcpExt", "ListenOverflows", ""),
    ("listen_drops", NETSTAT, "TcpExt", "ListenDrops", ""),
    ("congestion_marks", NETSTAT, "IpExt", "InCEPkts", ""),
];

/// Our name and the fields of [`SCTP`] that it sums up (net/sctp/proc.c).
const OF_SCTP: &[(&str, &[&str])] = &[
    ("sctp_timeouts", &["SctpT3RtxExpireds"]),
    ("sctp_receive_queue_full", &["SctpInPktDiscards", "SctpInDataChunkDiscards"]),
];

/// Counters of IP, UDP, TCP and SCTP of the network namespace, of all its processes.
pub(super) struct Snmp;

impl Counting for Snmp {
    fn id(&self) -> &'static str {
        "snmp"
    }

    fn read(&self, root: &SysRoot) -> Counters {
        let mut counters = Counters::default();
        // A kernel may have no IPv6 and no SCTP.
        let mut if_there = |path| {
            root.text(path).unwrap_or_else(|error| {
                if !error.is_missing() {
                    counters.unreadable(error);
                }
                String::new()
            })
        };
        let (six, sctp) = (if_there(SNMP6), if_there(SCTP));
        let sctp = pairs(&sctp);
        for (name, fields) in OF_SCTP.iter().filter(|_| !sctp.is_empty()) {
            counters.count(*name, fields.iter().filter_map(|field| sctp.get(field)).sum());
        }
        let six = pairs(&six);
        for path in [SNMP, NETSTAT] {
            match root.text(path).and_then(|text| table(path, &text)) {
                Ok(table) => {
                    for (name, _, protocol, field, of_six) in FIELDS.iter().filter(|row| row.1 == path) {
                        if let Some(count) = table.get(&(*protocol, *field)) {
                            let more = six.get(of_six).copied().unwrap_or(0);
                            counters.count(*name, count.saturating_add(more));
                        }
                    }
                }
                Err(error) => counters.unreadable(error),
            }
        }
        counters
    }
}

/// Each line of names is followed by one of numbers: `Udp: InDatagrams NoPorts`, `Udp: 7 0`. A few fields, none of
/// ours, may be negative.
fn table<'a>(path: &str, text: &'a str) -> Result<BTreeMap<(&'static str, &'static str), u64>, ReadError> {
    let garbage = || ReadError::garbage(path, text, "lines of names, each with a line of numbers behind it");
    let mut found: BTreeMap<(&'a str, &'a str), &'a str> = BTreeMap::new();
    let lines: Vec<&str> = text.lines().collect();
    for pair in lines.chunks(2) {
        let [names, numbers] = pair else { return Err(garbage()) };
        let (protocol, names) = names.split_once(':').ok_or_else(garbage)?;
        let numbers = numbers.strip_prefix(protocol).and_then(|rest| rest.strip_prefix(':'));
        let numbers: Vec<&str> = numbers.ok_or_else(garbage)?.split_whitespace().collect();
        let names: Vec<&str> = names.split_whitespace().collect();
        if names.len() != numbers.len() {
            return Err(garbage());
        }
        found.extend(names.into_iter().map(|name| (protocol, name)).zip(numbers));
    }
    let mut table = BTreeMap::new();
    for (_, _, protocol, field, _) in FIELDS {
        if let Some(number) = found.get(&(*protocol, *field)) {
            table.insert((*protocol, *field), number.parse().map_err(|_| garbage())?);
        }
    }
    if table.is_empty() { Err(garbage()) } else { Ok(table) }
}

fn pairs(text: &str) -> BTreeMap<&str, u64> {
    text.lines()
        .filter_map(|line| {
            let (name, number) = line.split_once(char::is_whitespace)?;
            Some((name, number.trim().parse().ok()?))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    const FOUR: &str = "\
Ip: Forwarding DefaultTTL InDiscards ReasmReqds ReasmFails FragFails FragCreates
Ip: 2 64 0 40 2 1 15
Tcp: RtoAlgorithm RtoMin RtoMax MaxConn OutSegs RetransSegs InErrs OutRsts
Tcp: 1 200 120000 -1 9000 12 0 3
Udp: InDatagrams NoPorts InErrors RcvbufErrors SndbufErrors
Udp: 1000 3 70 70 4
UdpLite: InDatagrams NoPorts InErrors RcvbufErrors SndbufErrors
UdpLite: 0 0 999 999 0
";
    const MORE: &str = "TcpExt: SyncookiesSent TCPTimeouts TCPFastRetrans\nTcpExt: 0 5 7\nIpExt: InNoRoutes InCEPkts\nIpExt: 0 0\n";
    const SCTP_COUNTS: &str = "SctpT3RtxExpireds               \t4\nSctpInPktDiscards               \t3\nSctpInDataChunkDiscards         \t2\n";
    const SIX: &str = "Ip6FragCreates                  \t5\nUdp6RcvbufErrors                \t30\n";

    fn tree(four: &str, more: &str, six: Option<&str>) -> (tempfile::TempDir, SysRoot) {
        let dir = tempfile::tempdir().expect("a folder");
        let net = dir.path().join("proc/thread-self/net");
        fs::create_dir_all(&net).expect("made");
        fs::write(net.join("snmp"), four).expect("written");
        fs::write(net.join("netstat"), more).expect("written");
        if let Some(six) = six {
            fs::write(net.join("snmp6"), six).expect("written");
        }
        let root = SysRoot::at(dir.path());
        (dir, root)
    }

    #[test]
    fn counters_of_both_files_and_both_protocols_are_found_by_their_names() {
        let (_dir, root) = tree(FOUR, MORE, Some(SIX));
        let found = Snmp.read(&root);
        assert_eq!(found.unreadable, [""; 0]);
        assert_eq!(found.counts["udp_receive_buffer_full"], 100, "UdpLite is another protocol");
        assert_eq!((found.counts["fragments_made"], found.counts["fragments_come"]), (20, 40));
        assert_eq!((found.counts["tcp_retransmits"], found.counts["tcp_timeouts"]), (12, 5));
        assert_eq!(found.counts.get("tcp_pruned"), None, "this kernel does not count it");
    }

    #[test]
    fn a_kernel_without_ipv6_is_no_fault() {
        let (_dir, root) = tree(FOUR, MORE, None);
        let found = Snmp.read(&root);
        assert_eq!((found.counts["udp_receive_buffer_full"], found.unreadable.len()), (70, 0));
    }

    #[test]
    fn packets_that_sctp_found_no_room_for_are_counted_in_one() {
        let (dir, root) = tree(FOUR, MORE, None);
        assert_eq!(Snmp.read(&root).counts.get("sctp_timeouts"), None, "no SCTP in this kernel");
        let sctp = dir.path().join("proc/thread-self/net/sctp");
        fs::create_dir_all(&sctp).expect("made");
        fs::write(sctp.join("snmp"), SCTP_COUNTS).expect("written");
        let counts = Snmp.read(&root).counts;
        assert_eq!((counts["sctp_timeouts"], counts["sctp_receive_queue_full"]), (4, 5));
    }

    #[test]
    fn names_without_as_many_numbers_are_garbage_and_count_nothing() {
        for four in ["", "Tcp: RetransSegs\n", "Tcp: RetransSegs OutSegs\nTcp: 5\n", "Tcp: OutSegs\nUdp: 5\n"]
        {
            let (_dir, root) = tree(four, MORE, None);
            let found = Snmp.read(&root);
            assert!(found.unreadable.iter().any(|why| why.contains("/snmp holds")), "{four:?}: {found:?}");
            assert!(!found.counts.contains_key("tcp_retransmits") && found.counts["tcp_timeouts"] == 5);
        }
    }
}
