//! What an end tells the other before they connect, as it stands in its offer.

use seatrial_model::Cause;
use seatrial_sys::verbs::{Gid, GidEntry, GidKind};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::{Error, Offer};

/// An end as the other must know it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Hand {
    /// Its local identifier in the subnet; 0 on Ethernet.
    pub lid: u16,
    /// Whether its port is one of Ethernet.
    pub ethernet: bool,
    /// Its active MTU in bytes.
    pub mtu: u32,
    /// Reads that a queue pair of it answers at the same time.
    pub reads_in: u8,
    /// Its GIDs, or the one that was asked for.
    pub gids: Vec<HandGid>,
    /// What its messages are made of.
    pub nonce: u64,
    /// Where its memory begins.
    pub address: u64,
    /// The key to it.
    pub key: u32,
    /// Its queue pairs, in their order.
    pub pairs: Vec<PeerPair>,
}

/// A queue pair as the other end must know it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PeerPair {
    /// Its number on its device.
    pub number: u32,
    /// The number of the first packet that it sends.
    pub psn: u32,
}

/// An entry of a table of GIDs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HandGid {
    index: u32,
    gid: String,
    kind: String,
    netdev: Option<String>,
    prefix_bits: Option<u8>,
}

const KINDS: [GidKind; 4] = [GidKind::InfiniBand, GidKind::RoceV1, GidKind::RoceV2, GidKind::Other];

impl From<&GidEntry> for HandGid {
    fn from(entry: &GidEntry) -> Self {
        Self {
            index: entry.index,
            gid: entry.gid.to_string(),
            kind: entry.kind.name().to_owned(),
            netdev: entry.netdev.clone(),
            prefix_bits: entry.prefix_bits,
        }
    }
}

impl HandGid {
    fn entry(&self) -> Option<GidEntry> {
        Some(GidEntry {
            index: self.index,
            gid: self.gid.parse::<Gid>().ok()?,
            kind: KINDS.into_iter().find(|kind| kind.name() == self.kind)?,
            netdev: self.netdev.clone(),
            prefix_bits: self.prefix_bits,
        })
    }
}

impl Hand {
    /// That of the part at `index`, from its offer.
    ///
    /// # Errors
    /// When there is none, or it is none of this version.
    pub fn read(peers: &[Offer], index: u32) -> Result<Self, Error> {
        read(peers, index)
    }

    /// Those of the part at `index` with several ports, in their order.
    ///
    /// # Errors
    /// As [`Self::read`].
    pub fn read_all(peers: &[Offer], index: u32) -> Result<Vec<Self>, Error> {
        read(peers, index)
    }

    /// The GIDs as entries of a table.
    ///
    /// # Errors
    /// When one of them is none.
    pub fn entries(&self) -> Result<Vec<GidEntry>, Error> {
        let read = |gid: &HandGid| {
            gid.entry()
                .ok_or_else(|| Error::new(Cause::Protocol, format!("'{}' is no GID of a peer", gid.gid)))
        };
        self.gids.iter().map(read).collect()
    }
}

/// What the part at `index` tells in its offer.
fn read<T: DeserializeOwned>(peers: &[Offer], index: u32) -> Result<T, Error> {
    let offer = peers.iter().find(|offer| offer.index == index);
    let offer =
        offer.ok_or_else(|| Error::new(Cause::Protocol, format!("no part {index} among the peers")))?;
    serde_json::from_value(offer.data.clone())
        .map_err(|error| Error::new(Cause::Protocol, format!("the offer of part {index} is none: {error}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hand() -> Hand {
        let entry = GidEntry {
            index: 3,
            gid: "0000:0000:0000:0000:0000:ffff:0a4d:0001".parse().expect("a GID"),
            kind: GidKind::RoceV2,
            netdev: Some("eth0".to_owned()),
            prefix_bits: Some(24),
        };
        Hand {
            lid: 0,
            ethernet: true,
            mtu: 1024,
            reads_in: 16,
            gids: vec![HandGid::from(&entry)],
            nonce: u64::MAX,
            address: 0x7f00_dead_beef_0000,
            key: u32::MAX,
            pairs: vec![PeerPair { number: 17, psn: 0xff_ffff }],
        }
    }

    #[test]
    fn a_hand_survives_the_wire_with_all_of_its_numbers() {
        let place =
            seatrial_model::Place { part: "server".into(), index: 1, node: "n2".into(), seats: Vec::new() };
        let offer = Offer::new(&place, serde_json::to_value(hand()).expect("serialises"));
        let wire = serde_json::to_string(&offer).expect("serialises");
        let offers = [serde_json::from_str(&wire).expect("reads")];
        let read = Hand::read(&offers, 1).expect("a hand");
        assert_eq!(read, hand());
        let entries = read.entries().expect("entries");
        assert_eq!((entries[0].index, entries[0].kind.name()), (3, GidKind::RoceV2.name()));
    }

    #[test]
    fn what_is_no_hand_is_told() {
        assert_eq!(Hand::read(&[], 0).expect_err("none").cause, Cause::Protocol);
        let mut odd = hand();
        odd.gids[0].gid = "not a gid".to_owned();
        assert!(odd.entries().expect_err("none").text.contains("not a gid"));
    }
}
