//! GIDs: the table of a port, and the choice of a GID for each of two ends.
//!
//! An InfiniBand GID is a subnet prefix and a port GUID, and peers are found by LID. A RoCE GID is an IPv6 or
//! IPv4-mapped address, listed for version 1 (an Ethernet type of its own, not routed) and for version 2 (UDP), so
//! that most addresses appear twice (InfiniBand Architecture Specification, annexes A16 and A17; Linux
//! drivers/infiniband/core/roce_gid_mgmt.c).

mod choice;
mod table;

use std::fmt;
use std::net::{Ipv4Addr, Ipv6Addr};
use std::str::FromStr;

pub use choice::{GidChoice, choose};
pub use table::GidTable;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Gid(pub [u8; 16]);

impl Gid {
    /// The address of an IPv4-mapped GID (`::ffff:10.0.0.1`).
    pub fn ipv4(self) -> Option<Ipv4Addr> {
        Ipv6Addr::from(self.0).to_ipv4_mapped()
    }

    /// `fe80::/10`, on InfiniBand the default subnet prefix.
    pub fn is_link_local(self) -> bool {
        Ipv6Addr::from(self.0).is_unicast_link_local()
    }

    pub fn is_zero(self) -> bool {
        self.0 == [0; 16]
    }

    /// The upper half: InfiniBand's subnet prefix.
    pub const fn prefix(self) -> u64 {
        (u128::from_be_bytes(self.0) >> 64) as u64
    }

    /// Two numbers in memory order, as the library takes them.
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

/// Encapsulation of packets to a GID.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum GidKind {
    InfiniBand,
    /// RoCE v2: in UDP, routable.
    RoceV2,
    /// RoCE v1: an Ethernet type of its own, on one link only.
    RoceV1,
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

    pub fn of(name: &str) -> Option<Self> {
        [Self::InfiniBand, Self::RoceV2, Self::RoceV1, Self::Other]
            .into_iter()
            .find(|kind| kind.name() == name)
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GidEntry {
    pub index: u32,
    pub gid: Gid,
    pub kind: GidKind,
    pub netdev: Option<String>,
    /// Prefix length of the interface's subnet, where known: 24 for 10.0.0.0/24.
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
