//! Speed and limit of IP over InfiniBand, from composed trees of `/sys`.

use seatrial_inventory::{Links, Load};
use seatrial_inventory::{nic_limit_under, part_limits, read};
use seatrial_model::machine::Machine;
use seatrial_model::{Better, Limit};
use seatrial_sys::root::{SysRoot, Tree};

const FUNCTION: &str = "/sys/devices/pci0000:80/0000:80:02.0/0000:81:00.0";

/// With the GUID of the second port at its end.
const ADDRESS: &str = "80:00:02:08:fe:80:00:00:00:00:00:00:00:02:c9:03:00:aa:bb:02";

/// A card in `0000:81:00.0` with two ports, `DOWN` and of this rate, and `ib1` on the second.
fn card(rate: &str) -> Tree {
    let mut tree = Tree::default();
    let mut add = |path: &str, text: &str| tree.file(&format!("{FUNCTION}/{path}"), text.as_bytes());
    for (number, state, rate) in [(1, "1: DOWN", "10 Gb/sec (4X)"), (2, "4: ACTIVE", rate)] {
        let port = format!("infiniband/mlx4_0/ports/{number}");
        add(&format!("{port}/state"), state);
        add(&format!("{port}/link_layer"), "InfiniBand");
        add(&format!("{port}/rate"), rate);
        add(&format!("{port}/gids/0"), &format!("fe80:0000:0000:0000:0002:c903:00aa:bb0{number}"));
    }
    for (file, text) in [("type", "32"), ("operstate", "up"), ("mtu", "65520"), ("mode", "connected")] {
        add(&format!("net/ib1/{file}"), text);
    }
    tree.link("/sys/class/net/ib1", "../../devices/pci0000:80/0000:80:02.0/0000:81:00.0/net/ib1");
    tree.link(
        "/sys/class/infiniband/mlx4_0",
        "../../devices/pci0000:80/0000:80:02.0/0000:81:00.0/infiniband/mlx4_0",
    );
    tree.link(&format!("{FUNCTION}/net/ib1/device"), "../../../0000:81:00.0");
    tree.link(&format!("{FUNCTION}/infiniband/mlx4_0/device"), "../../../0000:81:00.0");
    tree
}

/// The machine with these files of `ib1` as well.
fn with(mut tree: Tree, files: &[(&str, &str)]) -> Machine {
    for (file, text) in files {
        tree.file(&format!("{FUNCTION}/net/ib1/{file}"), text.as_bytes());
    }
    read(&SysRoot::of(tree))
}

/// Speed in Mbit/s and limit of `ib1`.
fn ib1(machine: &Machine) -> (Option<u64>, String) {
    let nic = machine.nics.known().expect("interfaces").iter().find(|nic| nic.name == "ib1").expect("ib1");
    let limit = nic_limit_under(nic, Links::of(machine), Load::BEST);
    let told = match limit.tightest(Better::Higher) {
        Some(bound) => format!("{:.3} by {}", bound.value, bound.formula),
        None => match limit {
            Limit::Unknown { reason } => reason,
            other => panic!("{other:?}"),
        },
    };
    (nic.speed_mbit_s.known().copied(), told)
}

#[test]
fn the_limit_is_what_the_line_code_of_the_port_leaves() {
    for (rate, kernel, limit) in [
        (
            "56 Gb/sec (4X FDR)",
            "56000",
            "54.545 Gbit/s by 4 lanes x 14.0625 Gbit/s x 64/66 (FDR) of port 2 of mlx4_0",
        ),
        (
            "40 Gb/sec (4X QDR)",
            "40000",
            "32.000 Gbit/s by 4 lanes x 10 Gbit/s x 8/10 (QDR) of port 2 of mlx4_0",
        ),
        (
            "200 Gb/sec (4X HDR)",
            "200000",
            "200.000 Gbit/s by 4 lanes x 53.125 Gbit/s x 256/257 x 514/544 (HDR) of port 2 of mlx4_0",
        ),
    ] {
        // Most kernels tell no speed; the port is found by its GUID, or by its number.
        let ways = [
            vec![("address", ADDRESS), ("speed", kernel)],
            vec![("address", ADDRESS)],
            vec![("dev_port", "1")],
            vec![("dev_id", "0x1")],
        ];
        for files in ways {
            let machine = with(card(rate), &files);
            assert_eq!(ib1(&machine), (kernel.parse().ok(), limit.to_owned()), "{files:?}");
            let parts = part_limits(&machine);
            let of = |subject: &str| {
                let part = parts.iter().find(|part| part.subject.to_string() == subject).expect("a part");
                part.limit.tightest(Better::Higher).map(|bound| bound.value)
            };
            assert_eq!(of("nic:ib1"), of("hca:mlx4_0/2"));
        }
    }
}

#[test]
fn an_interface_on_a_port_that_is_down_has_no_speed_and_no_limit() {
    let machine = with(card("56 Gb/sec (4X FDR)"), &[("dev_port", "0")]);
    assert_eq!(ib1(&machine), (None, "the port is DOWN, so no rate is negotiated".to_owned()));
}
