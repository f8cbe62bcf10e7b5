//! Type of an interface: a port of a card, a device of a hypervisor, or a software interface.

use seatrial_model::machine::{NicKind, PciDevice};
use seatrial_sys::root::SysRoot;

/// Drivers of paravirtual devices: VMware's, Xen's (xen-netfront reports vif), Hyper-V's, and of IBM's partitions.
const PARAVIRTUAL: [&str; 6] = ["vmxnet", "vmxnet3", "vif", "hv_netvsc", "ibmveth", "ibmvnic"];

/// Drivers of clouds' devices; on rented bare metal, of the card itself.
const OF_CLOUDS: [&str; 3] = ["ena", "gve", "mana"];

/// Chips that hypervisors emulate, by driver. The same drivers serve real cards too, passed through to a virtual
/// machine or owned by Xen's first domain, so the driver alone is no proof (QEMU hw/net: eepro100.c, e1000.c,
/// e1000e.c, rtl8139.c, pcnet-pci.c, ne2000-pci.c, tulip.c; VirtualBox DevE1000.cpp, DevPCNet.cpp; VMware's vlance,
/// e1000 and e1000e; Hyper-V's legacy adapter, a 21140).
const IMITATED: [(&str, &[&str]); 8] = [
    ("e100", &["8086:1209", "8086:1229", "8086:2449"]),
    ("e1000", &["8086:1004", "8086:100c", "8086:100e", "8086:100f"]),
    ("e1000e", &["8086:10d3"]),
    ("8139cp", &["10ec:8139"]),
    ("8139too", &["10ec:8139"]),
    ("pcnet32", &["1022:2000"]),
    ("ne2k-pci", &["10ec:8029"]),
    ("tulip", &["1011:0009", "1011:0019"]),
];

/// Subsystem ids of QEMU's emulated cards without maker (linux/pci_ids.h, PCI_SUBVENDOR_ID_REDHAT_QUMRANET and
/// PCI_SUBDEVICE_ID_QEMU). They distinguish an emulated 82576 (`igb`) from a real one, which is often passed through.
const MADE_UP_BY_QEMU: &str = "1af4:1100";

const OF_VIRTUAL_FUNCTIONS: [&str; 7] =
    ["iavf", "i40evf", "ixgbevf", "igbvf", "cxgb4vf", "fm10k_vf", "liquidio_vf"];

const MELLANOX: u16 = 0x15b3;

/// Device ids of ConnectX and BlueField virtual functions, which a virtual machine sees as plain functions (Linux
/// drivers/net/ethernet/mellanox: mlx5/core/main.c, entries with `MLX5_PCI_DEV_IS_VF`; mlx4/main.c for the first
/// two).
const CONNECTX_VF: [u16; 10] =
    [0x1002, 0x1004, 0x1012, 0x1014, 0x1016, 0x1018, 0x101a, 0x101c, 0x101e, 0xa2d3];

pub(super) struct Told<'a> {
    pub root: &'a SysRoot,
    pub folder: &'a str,
    pub files: &'a [String],
    pub driver: Option<&'a str>,
    pub pci: Option<&'a PciDevice>,
    pub has_device: bool,
    /// Whether this is a virtual machine; `None` where unknown.
    pub in_virtual_machine: Option<bool>,
}

impl Told<'_> {
    pub fn kind(&self) -> NicKind {
        if self.has_device { self.of_a_device() } else { self.of_software() }
    }

    fn has(&self, file: &str) -> bool {
        self.files.iter().any(|name| name == file)
    }

    fn of_a_device(&self) -> NicKind {
        let bus = self.root.link_name(format!("{}/device/subsystem", self.folder));
        let driver = self.driver.unwrap_or_default();
        match bus.as_deref() {
            Ok("virtio") => NicKind::Virtio,
            Ok("xen" | "vmbus" | "vio") => NicKind::Paravirtual,
            _ if PARAVIRTUAL.contains(&driver) => NicKind::Paravirtual,
            _ if self.in_virtual_machine != Some(false) && OF_CLOUDS.contains(&driver) => {
                NicKind::Paravirtual
            }
            _ if self.in_virtual_machine == Some(true) && self.is_imitated(driver) => NicKind::Emulated,
            _ if self.is_virtual_function(driver) => NicKind::VirtualFunction,
            _ => NicKind::Physical,
        }
    }

    fn is_imitated(&self, driver: &str) -> bool {
        let ids = self.pci.and_then(|pci| pci.ids.known());
        // Where the chip is unknown, the driver decides.
        let is_one = |chips: &[&str]| ids.is_none_or(|ids| chips.contains(&ids.as_str()));
        let card = self.pci.and_then(|pci| pci.card_ids.known());
        card.is_some_and(|ids| ids == MADE_UP_BY_QEMU)
            || IMITATED.iter().any(|(name, chips)| *name == driver && is_one(chips))
    }

    fn is_virtual_function(&self, driver: &str) -> bool {
        let connectx = |pci: &PciDevice| {
            pci.vendor() == Some(MELLANOX) && pci.device().is_some_and(|id| CONNECTX_VF.contains(&id))
        };
        OF_VIRTUAL_FUNCTIONS.contains(&driver)
            || self.pci.is_some_and(|pci| pci.is_virtual_function || connectx(pci))
    }

    /// By the kernel's device type, by files of one kind of interface, by hardware type.
    fn of_software(&self) -> NicKind {
        let uevent = self.root.text(format!("{}/uevent", self.folder)).unwrap_or_default();
        let kind = uevent.lines().find_map(|line| line.strip_prefix("DEVTYPE=")).unwrap_or_default();
        match kind {
            "bridge" => return NicKind::Bridge,
            "bond" => return NicKind::Bond,
            "vlan" => return NicKind::Vlan,
            "macvlan" | "macvtap" | "ipvlan" => return NicKind::Macvlan,
            "vxlan" | "geneve" | "gre" | "wireguard" | "bareudp" | "macsec" | "gtp" => {
                return NicKind::Tunnel;
            }
            _ => {}
        }
        if self.has("bridge") {
            return NicKind::Bridge;
        }
        if self.has("bonding") {
            return NicKind::Bond;
        }
        if let Ok(flags) = self.root.text(format!("{}/tun_flags", self.folder)) {
            // linux/if_tun.h: IFF_TUN 0x1, IFF_TAP 0x2.
            let flags = u32::from_str_radix(flags.trim_start_matches("0x"), 16).unwrap_or_default();
            return if flags & 2 == 0 { NicKind::Tun } else { NicKind::Tap };
        }
        let number = |file: &str| self.root.value::<u32>(format!("{}/{file}", self.folder)).ok();
        match number("type") {
            // linux/if_arp.h: loopback; tunnels of IPv4, IPv6, SIT, GRE over either.
            Some(772) => NicKind::Loopback,
            Some(768 | 769 | 776 | 778 | 823) => NicKind::Tunnel,
            // One end of a pair links to the other, which is not below it and may be in another namespace.
            Some(1) => {
                let apart = number("iflink").is_some_and(|link| link != 0 && Some(link) != number("ifindex"));
                let stands_on_one = self.files.iter().any(|name| name.starts_with("lower_"));
                if apart && !stands_on_one { NicKind::Veth } else { NicKind::Software }
            }
            _ => NicKind::Software,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use seatrial_model::machine::Known;
    use std::fs;

    /// Type of an interface with a device, by bus, driver and ids: of the chip, and after a blank of the card.
    fn device(bus: &str, driver: &str, ids: &str, in_virtual_machine: impl Into<Option<bool>>) -> NicKind {
        let dir = tempfile::tempdir().expect("a folder");
        fs::create_dir_all(dir.path().join("eth0/device")).expect("made");
        let subsystem = dir.path().join("eth0/device/subsystem");
        std::os::unix::fs::symlink(format!("../../../bus/{bus}"), subsystem).expect("linked");
        let (chip, card) = ids.split_once(' ').unwrap_or((ids, ""));
        let told = |ids: &str| match ids {
            "" => Known::unknown("not told"),
            ids => Known::Known(ids.to_owned()),
        };
        let pci = PciDevice { ids: told(chip), card_ids: told(card), ..PciDevice::default() };
        let root = SysRoot::at(dir.path());
        let told = Told {
            root: &root,
            folder: "/eth0",
            files: &[],
            driver: Some(driver),
            pci: Some(&pci),
            has_device: true,
            in_virtual_machine: in_virtual_machine.into(),
        };
        told.kind()
    }

    /// Type of an interface without device, by its files.
    fn software(files: &[(&str, &str)]) -> NicKind {
        let dir = tempfile::tempdir().expect("a folder");
        for (file, text) in files {
            fs::write(dir.path().join(file), text).expect("written");
        }
        let names: Vec<String> = files.iter().map(|(file, _)| (*file).to_owned()).collect();
        let root = SysRoot::at(dir.path());
        let told = Told {
            root: &root,
            folder: "/",
            files: &names,
            driver: None,
            pci: None,
            has_device: false,
            in_virtual_machine: Some(false),
        };
        told.kind()
    }

    #[test]
    fn an_imitated_card_is_only_virtual_in_a_virtual_machine() {
        for (driver, chip) in
            IMITATED.iter().flat_map(|(driver, chips)| chips.iter().map(move |chip| (driver, chip)))
        {
            assert_eq!(device("pci", driver, chip, true), NicKind::Emulated, "{driver} {chip}");
            assert_eq!(device("pci", driver, chip, false), NicKind::Physical, "{driver} {chip}");
            assert_eq!(device("pci", driver, chip, None::<bool>), NicKind::Physical, "{driver} {chip}");
        }
        assert_eq!(device("pci", "e100", "8086:1209", true), NicKind::Emulated, "QEMU's i82551");
        assert_eq!(device("pci", "e100", "", true), NicKind::Emulated, "of a chip that is not told");
    }

    #[test]
    fn a_card_that_no_hypervisor_imitates_is_one_in_a_virtual_machine_too() {
        assert_eq!(device("pci", "e1000e", "8086:15b8 1043:8672", true), NicKind::Physical, "an I219");
        assert_eq!(device("pci", "e1000", "8086:1010 8086:1012", true), NicKind::Physical, "an 82546EB");
        assert_eq!(device("pci", "igb", "8086:10c9 8086:a03c", true), NicKind::Physical, "an 82576");
        assert_eq!(device("pci", "igb", "8086:10c9 1af4:1100", true), NicKind::Emulated, "QEMU's 82576");
        assert_eq!(device("pci", "igbvf", "8086:10ca 1af4:1100", true), NicKind::Emulated, "a share of it");
    }

    #[test]
    fn the_device_of_a_cloud_is_a_card_where_the_machine_is_rented_whole() {
        for driver in OF_CLOUDS {
            assert_eq!(device("pci", driver, "1d0f:ec20", true), NicKind::Paravirtual, "{driver}");
            assert_eq!(device("pci", driver, "1d0f:ec20", None::<bool>), NicKind::Paravirtual, "{driver}");
            assert_eq!(device("pci", driver, "1d0f:ec20", false), NicKind::Physical, "{driver}");
        }
    }

    #[test]
    fn knows_the_devices_of_hypervisors_and_clouds() {
        assert_eq!(device("virtio", "virtio_net", "1af4:1041", true), NicKind::Virtio);
        assert_eq!(device("vmbus", "hv_netvsc", "", true), NicKind::Paravirtual);
        assert_eq!(device("xen", "vif", "", true), NicKind::Paravirtual);
        assert_eq!(device("vio", "ibmvnic", "", None::<bool>), NicKind::Paravirtual);
        assert_eq!(device("pci", "vmxnet3", "15ad:07b0", true), NicKind::Paravirtual);
        assert_eq!(device("pci", "ena", "1d0f:ec20", true), NicKind::Paravirtual);
    }

    #[test]
    fn knows_a_share_of_a_card_by_its_id_where_the_card_itself_is_out_of_sight() {
        assert_eq!(device("pci", "mlx5_core", "15b3:101e", true), NicKind::VirtualFunction);
        assert_eq!(device("pci", "iavf", "8086:1889", true), NicKind::VirtualFunction);
        assert_eq!(device("pci", "mlx5_core", "15b3:101d", true), NicKind::Physical, "passed through whole");
    }

    #[test]
    fn tells_what_software_makes_by_the_files_that_only_it_has() {
        let pair = [("type", "1"), ("ifindex", "5"), ("iflink", "4")];
        assert_eq!(software(&pair), NicKind::Veth);
        assert_eq!(software(&[pair[0], pair[1], pair[2], ("lower_eth0", "")]), NicKind::Software);
        assert_eq!(software(&[("type", "1"), ("ifindex", "5"), ("iflink", "5")]), NicKind::Software);
        assert_eq!(software(&[("tun_flags", "0x1002")]), NicKind::Tap);
        assert_eq!(software(&[("tun_flags", "0x1001")]), NicKind::Tun);
        assert_eq!(software(&[("type", "776")]), NicKind::Tunnel);
        assert_eq!(software(&[("uevent", "DEVTYPE=macvlan\nIFINDEX=7")]), NicKind::Macvlan);
        assert_eq!(software(&[("bonding", "")]), NicKind::Bond);
    }
}
