//! Network interfaces.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::facts::Facts;
use super::{Bond, Known, PciDevice, Queueing};
use crate::param::Params;

/// A network interface of this process's network namespace.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Nic {
    /// The kernel's name: `eth0`, `ens1f0np0`.
    pub name: String,
    /// Whether it is a card, a bridge, a bond or another virtual interface.
    pub kind: NicKind,
    /// Hardware address in use now. Members of a bond all carry the bond's.
    pub mac: Known<String>,
    /// Hardware address that the device came with, if the kernel tells it apart from one that was made up or set. Of
    /// IP over InfiniBand it is the port's GUID, the only part that lasts.
    pub permanent_mac: Known<String>,
    /// Link layer by the kernel's ARP hardware type: `ethernet`, `infiniband`, `loopback`, else the number.
    pub link_layer: Known<String>,
    /// Name of the kernel's driver.
    pub driver: Known<String>,
    /// Version of the device's firmware.
    pub firmware: Known<String>,
    /// Rate the port has negotiated, in Mbit/s.
    pub speed_mbit_s: Known<u64>,
    /// Duplex mode: `full` or `half`.
    pub duplex: Known<String>,
    /// Largest packet in bytes, without the link layer's own header.
    pub mtu: Known<u64>,
    /// The kernel's word for its state (RFC 2863): `up`, `down`, `dormant`, `lowerlayerdown`, `unknown`.
    pub state: Known<String>,
    /// Whether packets can pass: the state is `up`, or it is `unknown` to the driver and there is a carrier.
    pub up: Known<bool>,
    /// The bond or bridge that it is a member of.
    pub master: Option<String>,
    /// Interfaces that it stands on: members of a bond or bridge, the parent of a VLAN.
    pub lower: Vec<String>,
    /// Networks of which it has an address, as `10.0.0.0/24`: two interfaces with one in common can talk without a
    /// router between them. Link-local ones are not counted.
    pub networks: Known<Vec<String>>,
    /// How it uses its members; of bonds only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bond: Option<Bond>,
    /// `datagram` or `connected`; of IP over InfiniBand only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ipoib_mode: Option<Known<String>>,
    /// What its packets wait in on their way out.
    pub queueing: Known<Vec<Queueing>>,
    /// Number of receive queues.
    pub rx_queues: Known<u32>,
    /// Number of transmit queues.
    pub tx_queues: Known<u32>,
    /// CPUs that serve the interrupts of its device's queues now, in rising order; what moves interrupts may change it.
    pub irq_cpus: Known<Vec<u32>>,
    /// Which port of the device it is, where one PCI function has several.
    pub port: Option<u32>,
    /// The PCI function behind it.
    pub pci: Known<PciDevice>,
}

/// What a network interface is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum NicKind {
    /// A port of a card.
    Physical,
    /// A share of a card: a virtual function of SR-IOV.
    VirtualFunction,
    /// A virtio device of a virtual machine.
    Virtio,
    /// A hypervisor's own device: vmxnet3, Hyper-V, Xen, a cloud's.
    Paravirtual,
    /// A card that a hypervisor imitates: e1000 and its like in a virtual machine.
    Emulated,
    /// The loopback interface `lo`.
    Loopback,
    /// A bridge of the kernel.
    Bridge,
    /// A bond of several interfaces.
    Bond,
    /// A VLAN on another interface.
    Vlan,
    /// Another address on an interface: macvlan, ipvlan.
    Macvlan,
    /// One end of a pair, the other of which is in some other namespace.
    Veth,
    /// Packets to and from a program.
    Tun,
    /// Frames to and from a program.
    Tap,
    /// Packets in packets: VXLAN, GRE, WireGuard and others.
    Tunnel,
    /// Made by software, of a kind that sysfs does not tell: dummy, ifb and others.
    #[default]
    #[serde(other)]
    Software,
}

impl NicKind {
    /// The word for it.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Physical => "physical",
            Self::VirtualFunction => "virtual_function",
            Self::Virtio => "virtio",
            Self::Paravirtual => "paravirtual",
            Self::Emulated => "emulated",
            Self::Loopback => "loopback",
            Self::Bridge => "bridge",
            Self::Bond => "bond",
            Self::Vlan => "vlan",
            Self::Macvlan => "macvlan",
            Self::Veth => "veth",
            Self::Tun => "tun",
            Self::Tap => "tap",
            Self::Tunnel => "tunnel",
            Self::Software => "software",
        }
    }

    /// Whether no port of a card stands behind it, so that its speed is a word without a wire.
    pub const fn is_virtual(self) -> bool {
        !matches!(self, Self::Physical | Self::VirtualFunction)
    }

    /// Whether the kernel has a device for it, of hardware or of a hypervisor. What software makes carries the address
    /// of the interface below, or one that was made up.
    pub const fn is_device(self) -> bool {
        !self.is_virtual() || matches!(self, Self::Virtio | Self::Paravirtual | Self::Emulated)
    }
}

impl Nic {
    /// The rate in Gbit/s.
    pub fn speed_gbit_s(&self) -> Known<f64> {
        self.speed_mbit_s.as_ref().map(|&mbit| mbit as f64 / 1000.0)
    }

    /// The NUMA node it is next to.
    pub fn numa_node(&self) -> Known<u32> {
        self.pci.as_ref().and_then(|pci| pci.numa_node.clone())
    }

    /// What stays the same when the kernel names it otherwise: the address it came with, else its PCI function, else
    /// the name.
    pub fn key(&self) -> String {
        match (self.permanent_mac.known(), self.pci.known()) {
            (Some(mac), _) if self.kind.is_device() => format!("mac:{mac}"),
            (_, Some(pci)) => format!("pci:{}/{}", pci.address, self.port.unwrap_or(0)),
            _ => format!("name:{}", self.name),
        }
    }

    /// What a profile may select by.
    pub fn facts(&self) -> Params {
        Facts::of("nic")
            .text("name", Some(&self.name))
            .text("type", Some(self.kind.word()))
            .flag("virtual", Some(self.kind.is_virtual()))
            .known("link_layer", &self.link_layer)
            .known("driver", &self.driver)
            .rate("speed", self.speed_mbit_s.known().map(|&mbit| mbit as f64))
            .known("duplex", &self.duplex)
            .count("mtu", self.mtu.known().copied())
            .flag("up", self.up.known().copied())
            .text("master", self.master.as_deref())
            .count("numa_node", self.numa_node().known().map(|&node| node.into()))
            .done()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::Requirement;

    fn nic() -> Nic {
        Nic {
            name: "eth0".to_owned(),
            kind: NicKind::Physical,
            speed_mbit_s: Known::Known(10_000),
            up: Known::Known(true),
            mtu: Known::Known(9000),
            ..Nic::default()
        }
    }

    fn selected(wanted: &[(&str, &str)]) -> bool {
        let wanted: Params =
            wanted.iter().map(|(name, value)| ((*name).to_owned(), (*value).into())).collect();
        Requirement::selects(&wanted, &nic().facts())
    }

    #[test]
    fn is_selected_by_what_it_is() {
        assert!(selected(&[("kind", "nic"), ("speed", "10 Gbit/s"), ("up", "true"), ("virtual", "false")]));
        assert!(selected(&[("speed", "10000 Mbit/s"), ("mtu", "9000")]));
        assert!(!selected(&[("speed", "25 Gbit/s")]));
        assert!(!selected(&[("driver", "mlx5_core")]), "what is not known is not selected by");
    }

    #[test]
    fn its_key_outlives_a_new_name() {
        let pci = Known::Known(PciDevice { address: "0000:3b:00.1".to_owned(), ..PciDevice::default() });
        let with_mac = Nic { permanent_mac: Known::Known("aa:bb".to_owned()), pci: pci.clone(), ..nic() };
        assert_eq!(with_mac.key(), "mac:aa:bb");
        assert_eq!(Nic { pci, port: Some(1), ..nic() }.key(), "pci:0000:3b:00.1/1");
        assert_eq!(nic().key(), "name:eth0");
        let vlan = Nic { kind: NicKind::Vlan, permanent_mac: Known::Known("aa:bb".to_owned()), ..nic() };
        assert_eq!(vlan.key(), "name:eth0", "a VLAN carries the address of the card");
    }

    #[test]
    fn reads_a_kind_that_a_newer_version_wrote() {
        let nic: Nic = serde_json::from_str(r#"{"kind": "entangled"}"#).expect("reads");
        assert_eq!(nic.kind, NicKind::Software);
    }
}
