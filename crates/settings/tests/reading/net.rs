//! Buffers and queues of the network stack, and TCP settings.

use crate::tree::Tree;

const CORE: &str = "/proc/sys/net/core";
const IPV4: &str = "/proc/sys/net/ipv4";

#[test]
fn sizes_are_bytes_and_set_as_bytes() {
    for name in ["rmem_max", "rmem_default", "wmem_max", "wmem_default"] {
        let (setting, tree) =
            (format!("net.core.{name}"), Tree::new().file(&format!("{CORE}/{name}"), "212992\n"));
        assert_eq!(tree.line(&setting), "node: 208 KiB");
        let command = tree.command(&setting, "16 MiB").expect("a way");
        assert_eq!(command, format!("sysctl -w net.core.{name}=16777216"));
    }
}

#[test]
fn counts_and_words_are_told_as_they_are() {
    let tree = Tree::new().files(CORE, &[("netdev_max_backlog", "1000\n"), ("default_qdisc", "fq_codel\n")]);
    assert_eq!(tree.line("net.core.netdev_max_backlog"), "node: 1000");
    assert_eq!(tree.line("net.core.default_qdisc"), "node: fq_codel");
    let tree = Tree::new().file(&format!("{IPV4}/tcp_congestion_control"), "bbr\n");
    assert_eq!(tree.line("net.ipv4.tcp_congestion_control"), "node: bbr");
}

#[test]
fn three_values_stay_in_their_order() {
    let tree = Tree::new().files(
        IPV4,
        &[
            ("udp_mem", "262144\t327680\t393216\n"),
            ("tcp_rmem", "4096\t131072\t6291456\n"),
            ("tcp_wmem", "4096 16384 4194304"),
        ],
    );
    assert_eq!(tree.line("net.ipv4.udp_mem"), "node: 262144, 327680, 393216");
    assert_eq!(tree.line("net.ipv4.tcp_rmem"), "node: 4 KiB, 128 KiB, 6 MiB");
    assert_eq!(tree.line("net.ipv4.tcp_wmem"), "node: 4 KiB, 16 KiB, 4 MiB");
    assert_eq!(
        tree.command("net.ipv4.udp_mem", "262144 327680 393216").as_deref(),
        Some("sysctl -w net.ipv4.udp_mem='262144 327680 393216'")
    );
    assert_eq!(
        tree.command("net.ipv4.tcp_rmem", "4 KiB, 128 KiB, 16 MiB").as_deref(),
        Some("sysctl -w net.ipv4.tcp_rmem='4096 131072 16777216'")
    );
}

#[test]
fn switches_of_tcp_are_numbers_or_flags_as_the_kernel_has_them() {
    let tree = Tree::new()
        .files(IPV4, &[("tcp_timestamps", "0\n"), ("tcp_sack", "1\n"), ("tcp_window_scaling", "0\n")])
        .file("/proc/sys/net/mptcp/enabled", "1\n");
    // The limit of a TCP stream looks for this number.
    assert_eq!(tree.line("net.ipv4.tcp_timestamps"), "node: 0");
    assert_eq!(tree.line("net.ipv4.tcp_sack"), "node: true");
    assert_eq!(tree.line("net.ipv4.tcp_window_scaling"), "node: false");
    assert_eq!(tree.line("net.mptcp.enabled"), "node: true");
    assert_eq!(tree.command("net.ipv4.tcp_sack", "true").as_deref(), Some("sysctl -w net.ipv4.tcp_sack=1"));
    let wrong = Tree::new().file(&format!("{IPV4}/tcp_sack"), "2\n").line("net.ipv4.tcp_sack");
    assert!(wrong.contains("expected 0 or 1"), "{wrong}");
    assert!(Tree::new().line("net.mptcp.enabled").starts_with("node: absent"));
}

#[test]
fn two_values_where_three_belong_are_garbage() {
    for wrong in ["", "1 2\n", "1 2 3 4\n", "1 2 x\n", "1 2 -3\n"] {
        let line = Tree::new().file(&format!("{IPV4}/udp_mem"), wrong).line("net.ipv4.udp_mem");
        assert!(line.contains("expected a whole number for each of min, pressure, max"), "{line}");
    }
}

#[test]
fn a_default_above_the_most_is_inconsistent() {
    let with =
        |default: &str, most: &str| Tree::new().files(CORE, &[("rmem_default", default), ("rmem_max", most)]);
    assert_eq!(with("212992\n", "212992\n").line("net.rmem_consistent"), "node: true");
    let wrong = with("16777216\n", "212992\n");
    assert_eq!(wrong.line("net.rmem_consistent"), "node: false (the default is 16 MiB, the maximum 208 KiB)");
    assert_eq!(
        wrong.command("net.rmem_consistent", "true").as_deref(),
        Some("sysctl -w net.core.rmem_max=$(sysctl -n net.core.rmem_default)")
    );
    assert!(with("212992\n", "").line("net.rmem_consistent").starts_with("node: unreadable"));
    assert!(with("212992\n", "1\n").line("net.wmem_consistent").starts_with("node: absent"));
}

#[test]
fn a_receive_buffer_below_the_send_buffer_is_told_with_the_pair_that_is_wrong() {
    let id = "net.rcvbuf_at_least_sndbuf";
    let with = |read: &str, written: &str, tcp_read: &str, tcp_written: &str| {
        let tcp = [("tcp_rmem", tcp_read), ("tcp_wmem", tcp_written)];
        Tree::new().files(CORE, &[("rmem_max", read), ("wmem_max", written)]).files(IPV4, &tcp)
    };
    let (more, less) = ("4096\t131072\t6291456\n", "4096\t16384\t4194304\n");
    assert_eq!(with("212992\n", "212992\n", more, less).line(id), "node: true");
    let core = with("212992\n", "4194304\n", less, more);
    assert_eq!(core.line(id), "node: false (wmem_max is 4 MiB, rmem_max 208 KiB)");
    let command = "sysctl -w net.core.rmem_max=$(sysctl -n net.core.wmem_max)";
    assert_eq!(core.command(id, "true").as_deref(), Some(command));
    let tcp = with("212992\n", "212992\n", less, more);
    assert_eq!(tcp.line(id), "node: false (the maximum of tcp_wmem is 6 MiB, that of tcp_rmem 4 MiB)");
    let command = tcp.command(id, "true").expect("a command");
    assert!(command.starts_with("sysctl -w net.ipv4.tcp_rmem="), "{command}");
    assert!(with("1\n", "1\n", "4096 131072\n", less).line(id).starts_with("node: unreadable"));
    assert!(with("", "1\n", more, less).line(id).starts_with("node: unreadable"));
}
