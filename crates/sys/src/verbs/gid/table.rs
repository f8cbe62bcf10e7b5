//! The GID table of a port (ABI/stable/sysfs-class-infiniband).

use std::net::Ipv4Addr;

use super::{Gid, GidEntry, GidKind, describe};
use crate::root::{ReadError, SysRoot};
use crate::verbs::VerbsError;

const CLASS: &str = "/sys/class/infiniband";

/// The GIDs of a port, without empty entries.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GidTable {
    pub device: String,
    pub port: u8,
    pub entries: Vec<GidEntry>,
}

impl GidTable {
    pub fn read(root: &SysRoot, device: &str, port: u8) -> Result<Self, VerbsError> {
        let folder = format!("{CLASS}/{device}/ports/{port}");
        let is_infiniband = root.text(format!("{folder}/link_layer"))? == "InfiniBand";
        let networks = Networks::read(root);
        let mut entries = Vec::new();
        for index in root.numbered(format!("{folder}/gids"), "")? {
            let path = format!("{folder}/gids/{index}");
            let gid = match root.text(&path) {
                Ok(text) => text.parse::<Gid>().map_err(|_| ReadError::garbage(&path, &text, "a GID"))?,
                // Some drivers refuse to read empty entries.
                Err(ReadError::Unreadable { .. }) => continue,
                Err(error) => return Err(error.into()),
            };
            if gid.is_zero() {
                continue;
            }
            let kind = match root.text(format!("{folder}/gid_attrs/types/{index}")).as_deref() {
                Ok("RoCE v2") => GidKind::RoceV2,
                _ if is_infiniband => GidKind::InfiniBand,
                // Kernels without the file (before 4.5) had RoCE v1 only.
                Ok("IB/RoCE v1" | "RoCE v1") | Err(_) => GidKind::RoceV1,
                Ok(_) => GidKind::Other,
            };
            let netdev = root.text(format!("{folder}/gid_attrs/ndevs/{index}")).ok();
            let netdev = netdev.filter(|name| !name.is_empty());
            let prefix_bits = netdev.as_deref().and_then(|netdev| networks.prefix_bits(netdev, gid));
            entries.push(GidEntry { index, gid, kind, netdev, prefix_bits });
        }
        Ok(Self { device: device.to_owned(), port, entries })
    }

    /// The GID at `index`; the error lists the table.
    pub fn asked(&self, index: u32) -> Result<&GidEntry, VerbsError> {
        self.entries.iter().find(|entry| entry.index == index).ok_or_else(|| VerbsError::NoGid {
            device: self.device.clone(),
            port: self.port,
            asked: index,
            table: self.describe(),
        })
    }

    /// `0: fe80:... RoCE v2 eth0; 1: 10.78.0.1 RoCE v2 eth0`.
    pub fn describe(&self) -> String {
        describe(&self.entries)
    }
}

/// Subnets of interfaces: `/proc/net/route` and `/proc/net/if_inet6` (proc(5)); empty where unreadable.
struct Networks {
    routes: String,
    six: String,
}

impl Networks {
    fn read(root: &SysRoot) -> Self {
        let text = |path: &str| root.text(path).unwrap_or_default();
        Self { routes: text("/proc/net/route"), six: text("/proc/net/if_inet6") }
    }

    fn prefix_bits(&self, netdev: &str, gid: Gid) -> Option<u8> {
        match gid.ipv4() {
            Some(four) => self.four(netdev, four),
            None => self.six(netdev, gid),
        }
    }

    /// The longest prefix without a gateway that contains the address. Numbers are hexadecimal, in host byte order.
    fn four(&self, netdev: &str, address: Ipv4Addr) -> Option<u8> {
        let number = |text: &str| u32::from_str_radix(text, 16).ok();
        let bits = self.routes.lines().skip(1).filter_map(|line| {
            let fields: Vec<&str> = line.split_whitespace().collect();
            let [interface, destination, gateway, _, _, _, _, mask, ..] = fields.as_slice() else {
                return None;
            };
            let (network, mask) = (u32::from_be(number(destination)?), u32::from_be(number(mask)?));
            let fits = *interface == netdev && number(gateway)? == 0 && mask != 0;
            (fits && u32::from(address) & mask == network).then(|| mask.leading_ones())
        });
        bits.max().and_then(|bits| u8::try_from(bits).ok())
    }

    fn six(&self, netdev: &str, gid: Gid) -> Option<u8> {
        self.six.lines().find_map(|line| {
            let fields: Vec<&str> = line.split_whitespace().collect();
            let [address, _, bits, _, _, interface] = fields.as_slice() else { return None };
            let is_it =
                u128::from_str_radix(address, 16).ok()? == u128::from_be_bytes(gid.0) && *interface == netdev;
            is_it.then(|| u8::from_str_radix(bits, 16).ok()).flatten()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn tree(types: &[&str]) -> (tempfile::TempDir, SysRoot) {
        let dir = tempfile::tempdir().expect("a folder");
        let root = SysRoot::at(dir.path());
        let write = |path: &str, text: &str| {
            let path = root.locate(path);
            fs::create_dir_all(path.parent().expect("a folder")).expect("made");
            fs::write(path, format!("{text}\n")).expect("written");
        };
        let port = format!("{CLASS}/rxe0/ports/1");
        write(&format!("{port}/link_layer"), "Ethernet");
        let gids = [
            "fe80:0000:0000:0000:5054:00ff:fe12:3456",
            "0000:0000:0000:0000:0000:ffff:0a4e:0001",
            "fd00:0000:0000:0000:0000:0000:0000:0002",
            "0000:0000:0000:0000:0000:0000:0000:0000",
        ];
        for (index, gid) in gids.iter().enumerate() {
            write(&format!("{port}/gids/{index}"), gid);
        }
        for (index, word) in types.iter().enumerate() {
            write(&format!("{port}/gid_attrs/types/{index}"), word);
            write(&format!("{port}/gid_attrs/ndevs/{index}"), "eth0");
        }
        write(
            "/proc/net/route",
            "Iface Destination Gateway Flags RefCnt Use Metric Mask MTU Window IRTT\n\
             eth0 00000000 FE004E0A 0003 0 0 0 00000000 0 0 0\n\
             eth1 00004E0A 00000000 0001 0 0 0 0000FFFF 0 0 0\n\
             eth0 00004E0A 00000000 0001 0 0 0 00FFFFFF 0 0 0",
        );
        write(
            "/proc/net/if_inet6",
            "fd000000000000000000000000000002 02 38 00 80     eth0\n\
             fe80000000000000505400fffe123456 02 40 20 80     eth0",
        );
        (dir, root)
    }

    #[test]
    fn a_table_tells_address_version_interface_and_network() {
        let (_dir, root) = tree(&["RoCE v2"; 3]);
        let table = GidTable::read(&root, "rxe0", 1).expect("a table");
        let bits: Vec<_> = table.entries.iter().map(|entry| (entry.index, entry.prefix_bits)).collect();
        assert_eq!(bits, [(0, Some(64)), (1, Some(24)), (2, Some(56))]);
        assert!(table.entries.iter().all(|entry| entry.kind == GidKind::RoceV2));
        assert_eq!(
            table.describe(),
            "0: fe80:0000:0000:0000:5054:00ff:fe12:3456 RoCE v2 eth0; 1: 10.78.0.1 RoCE v2 eth0; \
             2: fd00:0000:0000:0000:0000:0000:0000:0002 RoCE v2 eth0"
        );
    }

    #[test]
    fn a_place_that_is_empty_is_refused_with_the_table() {
        let (_dir, root) = tree(&["IB/RoCE v1", "RoCE v2"]);
        let table = GidTable::read(&root, "rxe0", 1).expect("a table");
        assert_eq!(table.asked(1).map(|entry| entry.kind), Ok(GidKind::RoceV2));
        assert_eq!((table.entries[0].kind, table.entries[2].kind), (GidKind::RoceV1, GidKind::RoceV1));
        let error = table.asked(3).expect_err("empty").to_string();
        assert!(error.starts_with("port 1 of rxe0 has no GID 3; its table has 0: fe80:"), "{error}");
        assert!(error.contains("1: 10.78.0.1 RoCE v2 eth0"), "{error}");
    }

    #[test]
    fn a_port_that_is_not_there_and_a_text_that_is_none_are_errors() {
        let (_dir, root) = tree(&[]);
        assert!(GidTable::read(&root, "rxe0", 2).is_err_and(|error| error.to_string().contains("ports/2")));
        fs::write(root.locate(format!("{CLASS}/rxe0/ports/1/gids/0")), "many\n").expect("written");
        assert!(
            GidTable::read(&root, "rxe0", 1).is_err_and(|error| error.to_string().contains("expected a GID"))
        );
        fs::write(root.locate(format!("{CLASS}/rxe0/ports/1/gids/0")), "::\n").expect("written");
        fs::write(root.locate(format!("{CLASS}/rxe0/ports/1/link_layer")), "InfiniBand\n").expect("written");
        let table = GidTable::read(&root, "rxe0", 1).expect("a table");
        assert_eq!(
            table.entries.iter().map(|entry| entry.kind).collect::<Vec<_>>(),
            [GidKind::InfiniBand; 2]
        );
    }
}
