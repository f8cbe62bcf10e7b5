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
    /// Name in the kernel: `eth0`, `ens1f0np0`.
    pub name: String,
    /// Type: a card, a bridge, a bond or another virtual interface.
    pub kind: NicKind,
    /// MAC address in use. All members of a bond have the bond's.
    pub mac: Known<String>,
    /// Permanent MAC address, if the kernel tells it apart from a random or configured one. Of IP over InfiniBand,
    /// the port GUID in it, the only part that lasts.
    pub permanent_mac: Known<String>,
    /// Link layer by ARP hardware type: `ethernet`, `infiniband`, `loopback`, else the number.
    pub link_layer: Known<String>,
    /// Name of the kernel driver.
    pub driver: Known<String>,
    /// Firmware version.
    pub firmware: Known<String>,
    /// Negotiated speed in Mbit/s.
    pub speed_mbit_s: Known<u64>,
    /// Duplex mode: `full` or `half`.
    pub duplex: Known<String>,
    /// MTU in bytes, without the link-layer header.
    pub mtu: Known<u64>,
    /// Operational state (RFC 2863): `up`, `down`, `dormant`, `lowerlayerdown`, `unknown`.
    pub state: Known<String>,
    /// Whether packets can pass: the state is `up`, or it is `unknown` and there is a carrier.
    pub up: Known<bool>,
    /// The bond or bridge that the interface is a member of.
    pub master: Option<String>,
    /// Lower interfaces: members of a bond or bridge, the parent of a VLAN.
    pub lower: Vec<String>,
    /// Networks of its addresses, as `10.0.0.0/24`; two interfaces in one network need no router between them.
    /// Without link-local networks.
    pub networks: Known<Vec<String>>,
    /// Mode and members; only of bonds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bond: Option<Bond>,
    /// `datagram` or `connected`; only of IP over InfiniBand.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ipoib_mode: Option<Known<String>>,
    /// Queueing disciplines (qdiscs) of the interface.
    pub queueing: Known<Vec<Queueing>>,
    /// Number of receive queues.
    pub rx_queues: Known<u32>,
    /// Number of transmit queues.
    pub tx_queues: Known<u32>,
    /// CPUs that serve the interrupts of the device's queues now, ascending; irqbalance may change it.
    pub irq_cpus: Known<Vec<u32>>,
    /// Port of the device, where one PCI function has several.
    pub port: Option<u32>,
    /// PCI function of the device.
    pub pci: Known<PciDevice>,
}

/// Type of a network interface.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum NicKind {
    /// A port of a card.
    Physical,
    /// A virtual function (SR-IOV).
    VirtualFunction,
    /// A virtio device of a virtual machine.
    Virtio,
    /// A paravirtual device of a hypervisor: vmxnet3, Hyper-V, Xen, a cloud's.
    Paravirtual,
    /// An emulated card: e1000 and others in a virtual machine.
    Emulated,
    /// The loopback interface `lo`.
    Loopback,
    /// A kernel bridge.
    Bridge,
    /// A bond of several interfaces.
    Bond,
    /// A VLAN on another interface.
    Vlan,
    /// Another address on an interface: macvlan, ipvlan.
    Macvlan,
    /// One end of a veth pair.
    Veth,
    /// A TUN interface: packets to and from a program.
    Tun,
    /// A TAP interface: frames to and from a program.
    Tap,
    /// A tunnel: VXLAN, GRE, WireGuard and others.
    Tunnel,
    /// A software interface of a kind that sysfs does not tell: dummy, ifb and others.
    #[default]
    #[serde(other)]
    Software,
}

impl NicKind {
    /// Name of the type.
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

    /// Whether no physical port is behind the interface, so that its speed has no meaning.
    pub const fn is_virtual(self) -> bool {
        !matches!(self, Self::Physical | Self::VirtualFunction)
    }

    /// Whether the interface is a device, of hardware or of a hypervisor. A software interface has the MAC address of
    /// the interface below, or a random one.
    pub const fn is_device(self) -> bool {
        !self.is_virtual() || matches!(self, Self::Virtio | Self::Paravirtual | Self::Emulated)
    }
}

impl Nic {
    /// Speed in Gbit/s.
    pub fn speed_gbit_s(&self) -> Known<f64> {
        self.speed_mbit_s.as_ref().map(|&mbit| mbit as f64 / 1000.0)
    }

    /// NUMA node of the device.
    pub fn numa_node(&self) -> Known<u32> {
        self.pci.as_ref().and_then(|pci| pci.numa_node.clone())
    }

    /// Stable key of the interface: the permanent MAC address, else the PCI function, else the name.
    pub fn key(&self) -> String {
        match (self.permanent_mac.known(), self.pci.known()) {
            (Some(mac), _) if self.kind.is_device() => format!("mac:{mac}"),
            (_, Some(pci)) => format!("pci:{}/{}", pci.address, self.port.unwrap_or(0)),
            _ => format!("name:{}", self.name),
        }
    }

    /// Names of the facts besides `kind`.
    pub const FACTS: &'static [&'static str] = &[
        "name",
        "type",
        "virtual",
        "link_layer",
        "driver",
        "ids",
        "speed",
        "duplex",
        "mtu",
        "up",
        "master",
        "members",
        "numa_node",
    ];

    /// Facts that a profile may select by.
    pub fn facts(&self) -> Params {
        Facts::of("nic")
            .text("name", Some(&self.name))
            .text("type", Some(self.kind.word()))
            .flag("virtual", Some(self.kind.is_virtual()))
            .known("link_layer", &self.link_layer)
            .known("driver", &self.driver)
            .text("ids", self.pci.known().and_then(|pci| pci.ids.known()).map(String::as_str))
            .rate("speed", self.speed_mbit_s.known().map(|&mbit| mbit as f64))
            .known("duplex", &self.duplex)
            .count("mtu", self.mtu.known().copied())
            .flag("up", self.up.known().copied())
            .text("master", self.master.as_deref())
            .count("members", (self.kind == NicKind::Bond).then_some(self.lower.len() as u64))
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
