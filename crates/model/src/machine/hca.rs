//! RDMA devices: InfiniBand, RoCE and iWARP adapters.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::facts::Facts;
use super::{Known, PciDevice};
use crate::param::Params;

/// An RDMA device with its ports.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Hca {
    /// Name in the kernel: `mlx5_0`.
    pub name: String,
    /// Whether it is a software device over a network interface (rxe, siw).
    pub is_software: bool,
    /// Node GUID: `0c42:a103:00d4:1d2c`.
    pub node_guid: Known<String>,
    /// System image GUID, the same for all devices of one card.
    pub sys_image_guid: Known<String>,
    /// Firmware version.
    pub firmware: Known<String>,
    /// Model code of the device, such as `MT4123`.
    pub model: Known<String>,
    /// Board id (PSID): `MT_0000000223`.
    pub board_id: Known<String>,
    /// Name of the kernel driver.
    pub driver: Known<String>,
    /// PCI function of the device.
    pub pci: Known<PciDevice>,
    /// Whether Relaxed Ordering is enabled for its PCI function (PCI Express Device Control). When disabled, memory
    /// regions with relaxed ordering gain nothing.
    pub relaxed_ordering: Known<bool>,
    /// Ports, numbered from 1.
    pub ports: Vec<HcaPort>,
}

/// A port of an RDMA device.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct HcaPort {
    /// Port number, from 1.
    pub number: u32,
    /// Logical state, as the kernel names it: `ACTIVE`, `INIT`, `DOWN`.
    pub state: Known<String>,
    /// Physical state: `LinkUp`, `Polling`, `Disabled`.
    pub physical_state: Known<String>,
    /// Link layer of the port: `InfiniBand` or `Ethernet`.
    pub link_layer: Known<String>,
    /// Rate as the kernel writes it: `200 Gb/sec (4X HDR)`.
    pub rate_text: Known<String>,
    /// The rate in Gbit/s. Up to QDR it includes the line coding.
    pub rate_gbit_s: Known<f64>,
    /// Lanes of the link in use.
    pub lanes: Known<u32>,
    /// Speed of a lane: `SDR`, `DDR`, `QDR`, `FDR10`, `FDR`, `EDR`, `HDR`, `NDR`, `XDR`.
    pub speed_class: Known<String>,
    /// LID; 0 on Ethernet, and before a subnet manager has configured the port.
    pub lid: Known<u32>,
    /// Active MTU in bytes.
    pub active_mtu: Known<u32>,
    /// Largest MTU of the port in bytes.
    pub max_mtu: Known<u32>,
    /// GID table without empty entries.
    pub gids: Known<Vec<HcaGid>>,
    /// Network interfaces on this port.
    pub netdevs: Vec<String>,
}

/// A GID of a port.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct HcaGid {
    /// Index in the GID table.
    pub index: u32,
    /// The GID as the kernel writes it: `0000:0000:0000:0000:0000:ffff:0a4e:0001`.
    pub gid: String,
    /// `IB`, `RoCE v1` or `RoCE v2`.
    pub kind: String,
    /// Network interface that has the address.
    pub netdev: Option<String>,
}

impl HcaPort {
    /// Whether the port is active.
    pub fn is_active(&self) -> Known<bool> {
        self.state.as_ref().map(|state| state == "ACTIVE")
    }
}

impl Hca {
    /// NUMA node of the device.
    pub fn numa_node(&self) -> Known<u32> {
        self.pci.as_ref().and_then(|pci| pci.numa_node.clone())
    }

    /// The port with this number.
    pub fn port(&self, number: u32) -> Option<&HcaPort> {
        self.ports.iter().find(|port| port.number == number)
    }

    /// PCI address of the card: domain, bus and device, without the function; `None` where it is unknown.
    pub fn card(&self) -> Option<&str> {
        Some(self.pci.known()?.address.rsplit_once('.')?.0)
    }

    /// Stable key of the device: the node GUID, else the PCI function, else the name. A GUID of zeros, as on
    /// unconfigured virtual functions, does not count.
    pub fn key(&self) -> String {
        let guid =
            self.node_guid.known().filter(|guid| guid.bytes().any(|byte| !matches!(byte, b'0' | b':')));
        match (guid, self.pci.known()) {
            (Some(guid), _) if !self.is_software => format!("guid:{guid}"),
            (_, Some(pci)) if !self.is_software => format!("pci:{}", pci.address),
            _ => format!("name:{}", self.name),
        }
    }

    /// Names of the facts besides `kind`.
    pub const FACTS: &'static [&'static str] = &[
        "name",
        "port",
        "virtual",
        "model",
        "board_id",
        "driver",
        "firmware",
        "link_layer",
        "speed",
        "speed_class",
        "lanes",
        "state",
        "up",
        "numa_node",
    ];

    /// Facts that a profile may select a port by.
    pub fn facts(&self, port: &HcaPort) -> Params {
        Facts::of("hca")
            .text("name", Some(&self.name))
            .count("port", Some(port.number.into()))
            .flag("virtual", Some(self.is_software))
            .known("model", &self.model)
            .known("board_id", &self.board_id)
            .known("driver", &self.driver)
            .known("firmware", &self.firmware)
            .known("link_layer", &port.link_layer)
            .rate("speed", port.rate_gbit_s.known().map(|gbit| gbit * 1000.0))
            .known("speed_class", &port.speed_class)
            .count("lanes", port.lanes.known().map(|&lanes| lanes.into()))
            .known("state", &port.state)
            .flag("up", port.is_active().known().copied())
            .count("numa_node", self.numa_node().known().map(|&node| node.into()))
            .done()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_guid_that_nobody_set_is_no_key() {
        let pci = Known::Known(PciDevice { address: "0000:5e:00.0".to_owned(), ..PciDevice::default() });
        let hca =
            |guid: &str| Hca { node_guid: Known::Known(guid.to_owned()), pci: pci.clone(), ..Hca::default() };
        assert_eq!(hca("0c42:a103:00d4:1d2c").key(), "guid:0c42:a103:00d4:1d2c");
        assert_eq!(hca("0000:0000:0000:0000").key(), "pci:0000:5e:00.0");
        assert_eq!(Hca { name: "rxe0".to_owned(), is_software: true, ..hca("1:2") }.key(), "name:rxe0");
    }

    #[test]
    fn functions_of_one_card_share_their_place() {
        let at = |address: &str| Hca {
            pci: Known::Known(PciDevice { address: address.to_owned(), ..PciDevice::default() }),
            ..Hca::default()
        };
        assert_eq!(at("0000:5e:00.0").card(), Some("0000:5e:00"));
        assert_eq!(at("0000:5e:00.0").card(), at("0000:5e:00.1").card());
        assert_eq!(Hca::default().card(), None);
    }

    #[test]
    fn facts_are_of_one_port() {
        let port = HcaPort {
            number: 1,
            state: Known::Known("ACTIVE".to_owned()),
            rate_gbit_s: Known::Known(200.0),
            ..HcaPort::default()
        };
        let facts = Hca::default().facts(&port);
        assert_eq!(facts.flag("up"), Ok(true));
        assert_eq!(facts.text("speed"), Ok("200 Gbit/s"));
        assert!(facts.get("lanes").is_none());
    }
}
