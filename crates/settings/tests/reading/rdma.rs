//! RDMA ports.

use seatrial_model::machine::{Hca, HcaPort, Known, Machine};

use crate::tree::Tree;

fn word(text: &str) -> Known<String> {
    Known::Known(text.to_owned())
}

fn card(machine: &mut Machine) {
    let port = HcaPort {
        number: 1,
        state: word("ACTIVE"),
        link_layer: word("InfiniBand"),
        rate_text: word("50 Gb/sec (1X HDR)"),
        rate_gbit_s: Known::Known(50.0),
        active_mtu: Known::Known(2048),
        max_mtu: Known::Known(4096),
        ..HcaPort::default()
    };
    let down = HcaPort { number: 2, state: word("DOWN"), ..port.clone() };
    machine.hcas = Known::Known(vec![Hca {
        name: "mlx5_0".to_owned(),
        model: word("MT4123"),
        firmware: word("20.39.1002"),
        board_id: word("MT_0000000223"),
        relaxed_ordering: Known::unknown("config ends at 64 bytes: run as root to read the rest"),
        ports: vec![port, down],
        ..Hca::default()
    }]);
}

#[test]
fn every_port_has_its_own_reading_with_what_its_adapter_could_do() {
    let tree = Tree::new().machine(card);
    assert_eq!(tree.lines("rdma.port_state"), ["hca:mlx5_0/1: ACTIVE", "hca:mlx5_0/2: DOWN"]);
    let rates = tree.read("rdma.port_rate");
    assert_eq!(
        rates[0].note.as_deref(),
        Some(
            "'50 Gb/sec (1X HDR)'; cards of ConnectX-6 have up to 200 Gbit/s per port, depending on the \
              model"
        )
    );
    let lines = tree.lines("rdma.port_rate");
    assert!(lines[0].starts_with("hca:mlx5_0/1: 50"), "{lines:?}");
    assert!(lines[1].contains("unreadable: the port is not active"), "{lines:?}");
    assert_eq!(tree.read("rdma.mtu")[0].note.as_deref(), Some("the port supports 4096"));
    assert!(tree.lines("rdma.firmware")[0].starts_with("hca:mlx5_0/1: 20.39.1002"));
    assert!(tree.lines("rdma.relaxed_ordering")[0].contains("unreadable: config ends at 64 bytes"));
    assert_eq!(rates[0].facts.text("kind"), Ok("hca"));
}

#[test]
fn software_has_neither_rate_nor_firmware() {
    let tree = Tree::new().machine(|machine| {
        card(machine);
        let Known::Known(hcas) = &mut machine.hcas else { return };
        hcas[0].is_software = true;
    });
    for setting in ["rdma.port_rate", "rdma.firmware"] {
        let lines = tree.lines(setting);
        assert!(lines[0].contains("unreadable: a software device"), "{lines:?}");
    }
}

#[test]
fn ports_that_nobody_could_list_are_unreadable_and_none_are_absent() {
    let none = Tree::new().machine(|machine| machine.hcas = Known::Known(Vec::new()));
    assert_eq!(none.line("rdma.mtu"), "hca: absent: there is no RDMA port");
    let unlisted = Tree::new().machine(|machine| machine.hcas = Known::unknown("Permission denied"));
    assert_eq!(unlisted.line("rdma.mtu"), "hca: unreadable: Permission denied");
}

#[test]
fn errors_that_ports_count_are_told_by_the_days_since_the_boot() {
    let counters = |port: u32| format!("/sys/class/infiniband/mlx5_0/ports/{port}/counters");
    let tree = Tree::new()
        .machine(card)
        .file("/proc/uptime", "345600.00 1.00\n")
        .files(&counters(1), &[("link_downed", "8\n"), ("symbol_error", "0\n")]);
    let lines = tree.lines("state.rdma_link_downed");
    assert_eq!(lines[0], "hca:mlx5_0/1: 2 (mlx5_0/1 8, in 4.0 days)");
    assert!(lines[1].starts_with("hca:mlx5_0/2: absent: "), "{lines:?}");
    assert_eq!(tree.lines("state.rdma_symbol_errors")[0], "hca:mlx5_0/1: 0");
}
