//! The addresses of a port (GIDs): what its table holds, and which of them two ends take.
//!
//! On InfiniBand a GID is a subnet's prefix and a port's GUID, and peers are found by LID. On RoCE it is an IP address:
//! of IPv6, or of IPv4 in its mapped form, once for version 1 (an Ethernet type of its own, not routed) and once for
//! version 2 (UDP), so that a table has most addresses twice (InfiniBand Architecture Specification, annexes A16 and
//! A17; Linux drivers/infiniband/core/roce_gid_mgmt.c).

mod choice;
mod table;

use std::fmt;
use std::net::{Ipv4Addr, Ipv6Addr};
use std::str::FromStr;

pub use choice::{GidChoice, choose};
pub use table::GidTable;

/// An address of a port: 128 bits, as IPv6 has them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Gid(pub [u8; 16]);

impl Gid {
    /// The IPv4 address that it is the mapped form of (`::ffff:10.0.0.1`).
    pub fn ipv4(self) -> Option<Ipv4Addr> {
        Ipv6Addr::from(self.0).to_ipv4_mapped()
    }

    /// Whether it holds on one link only: `fe80::/10`. On InfiniBand that is the default subnet's prefix.
    pub fn is_link_local(self) -> bool {
        Ipv6Addr::from(self.0).is_unicast_link_local()
    }

    /// Whether it is a place of the table that nothing stands in.
    pub fn is_zero(self) -> bool {
        self.0 == [0; 16]
    }

    /// The upper half: InfiniBand's subnet prefix.
    pub const fn prefix(self) -> u64 {
        (u128::from_be_bytes(self.0) >> 64) as u64
    }

    /// As two numbers in the order of memory, as the library takes it.
    pub(super) const fn halves(self) -> [u64; 2] {
        let bits = u128::from_be_bytes(self.0);
        [((bits >> 64) as u64).to_be(), (bits as u64).to_be()]
    }
}

impl fmt::Display for Gid {
    /// As the kernel prints it: eight groups of four digits.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, pair) in self.0.chunks(2).enumerate() {
            let colon = if at == 0 { "" } else { ":" };
            write!(f, "{colon}{:02x}{:02x}", pair[0], pair[1])?;
        }
        Ok(())
    }
}

/// A text that is not a GID.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is not a GID: eight groups of hexadecimal digits were expected")]
pub struct NoGidText(String);

impl FromStr for Gid {
    type Err = NoGidText;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let address: Ipv6Addr =
            text.trim().parse().map_err(|_| NoGidText(text.chars().take(60).collect()))?;
        Ok(Self(address.octets()))
    }
}

/// How packets to an address are wrapped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum GidKind {
    InfiniBand,
    /// RoCE version 2: in UDP, which routers know.
    RoceV2,
    /// RoCE version 1: in an Ethernet type of its own, on one link only.
    RoceV1,
    /// Something that this list lacks.
    Other,
}

impl GidKind {
    pub const fn name(self) -> &'static str {
        match self {
            Self::InfiniBand => "IB",
            Self::RoceV2 => "RoCE v2",
            Self::RoceV1 => "RoCE v1",
            Self::Other => "another kind",
        }
    }

    /// The one with this name.
    pub fn of(name: &str) -> Option<Self> {
        [Self::InfiniBand, Self::RoceV2, Self::RoceV1, Self::Other]
            .into_iter()
            .find(|kind| kind.name() == name)
    }
}

/// A place of a port's table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GidEntry {
    pub index: u32,
    pub gid: Gid,
    /// How packets to it are wrapped.
    pub kind: GidKind,
    /// The network interface whose address it is.
    pub netdev: Option<String>,
    /// Bits that all addresses of its network share, where the interface's network is known: 24 for 10.0.0.0/24.
    pub prefix_bits: Option<u8>,
}

impl fmt::Display for GidEntry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: ", self.index)?;
        match self.gid.ipv4() {
            Some(four) => write!(f, "{four}")?,
            None => write!(f, "{}", self.gid)?,
        }
        write!(f, " {}", self.kind.name())?;
        match &self.netdev {
            Some(netdev) => write!(f, " {netdev}"),
            None => Ok(()),
        }
    }
}

/// A table in words.
pub(super) fn describe(entries: &[GidEntry]) -> String {
    match entries {
        [] => "nothing in it".to_owned(),
        entries => entries.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_read_and_written_as_the_kernel_does() {
        let text = "0000:0000:0000:0000:0000:ffff:0a4e:0001";
        let mapped: Gid = text.parse().expect("a GID");
        assert_eq!((mapped.to_string().as_str(), mapped.ipv4()), (text, Some(Ipv4Addr::new(10, 78, 0, 1))));
        let own: Gid = "fe80:0000:0000:0000:0c42:a103:00d4:1d2c".parse().expect("a GID");
        assert!(own.is_link_local() && own.ipv4().is_none() && own.prefix() == 0xfe80_0000_0000_0000);
        assert!(Gid::default().is_zero() && !own.is_zero());
        assert!("10.0.0.1".parse::<Gid>().is_err());
    }

    #[test]
    fn the_library_gets_the_bytes_in_their_order() {
        let gid = Gid(std::array::from_fn(|at| at as u8));
        let bytes: Vec<u8> = gid.halves().iter().flat_map(|half| half.to_ne_bytes()).collect();
        assert_eq!(bytes, gid.0);
    }
}
