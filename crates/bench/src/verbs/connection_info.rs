//! What an end tells the other before they connect, as its offer carries it.

use seatrial_model::{Cause, Reason};
use seatrial_sys::verbs::{Gid, GidEntry, GidKind};
use serde::{Deserialize, Serialize};

/// The address, memory and queue pairs of an end, as the other needs them to connect.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ConnectionInfo {
    /// Its local identifier in the subnet; 0 on Ethernet.
    pub lid: u16,
    /// Whether its port is one of Ethernet.
    pub ethernet: bool,
    /// Its active MTU in bytes.
    pub mtu: u32,
    /// Reads that a queue pair of it answers at the same time.
    pub reads_in: u8,
    /// Its GIDs, or the one that was asked for.
    pub gids: Vec<GidInfo>,
    /// What its messages are made of.
    pub nonce: u64,
    /// Where its memory begins.
    pub address: u64,
    /// The key to it.
    pub key: u32,
    /// The numbers of its queue pairs on its device, in their order. As text of ranges: each of a thousand peers gets those
    /// of a thousand queue pairs, and most devices number what one process makes consecutively.
    #[serde(with = "ranges")]
    pub pairs: Vec<u32>,
}

/// Numbers as `17-20 35`.
mod ranges {
    use serde::{Deserialize, Deserializer, Serializer, de};

    pub fn serialize<S: Serializer>(numbers: &[u32], serializer: S) -> Result<S::Ok, S::Error> {
        let runs = numbers.chunk_by(|one, next| one.checked_add(1) == Some(*next));
        let texts: Vec<String> = runs
            .map(|run| match run {
                [one] => one.to_string(),
                run => format!("{}-{}", run[0], run[run.len() - 1]),
            })
            .collect();
        serializer.serialize_str(&texts.join(" "))
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<u32>, D::Error> {
        let text = String::deserialize(deserializer)?;
        let mut numbers = Vec::new();
        for run in text.split_whitespace() {
            let (first, last) = run.split_once('-').unwrap_or((run, run));
            let number = |text: &str| text.parse::<u32>().map_err(de::Error::custom);
            let (first, last) = (number(first)?, number(last)?);
            if first > last || last - first >= MOST {
                return Err(de::Error::custom(format!("{run} is not a range of queue pair numbers")));
            }
            numbers.extend(first..=last);
        }
        Ok(numbers)
    }

    /// More queue pairs than a case has.
    const MOST: u32 = 1 << 20;
}

/// An entry of a table of GIDs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GidInfo {
    index: u32,
    gid: String,
    kind: String,
    netdev: Option<String>,
    prefix_bits: Option<u8>,
}

const KINDS: [GidKind; 4] = [GidKind::InfiniBand, GidKind::RoceV1, GidKind::RoceV2, GidKind::Other];

impl From<&GidEntry> for GidInfo {
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

impl GidInfo {
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

impl ConnectionInfo {
    /// The GIDs as entries of a table.
    pub fn entries(&self) -> Result<Vec<GidEntry>, Reason> {
        let read = |gid: &GidInfo| {
            gid.entry()
                .ok_or_else(|| Reason::new(Cause::Protocol, format!("'{}' is not a GID of a peer", gid.gid)))
        };
        self.gids.iter().map(read).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Offer;

    fn connection_info() -> ConnectionInfo {
        let entry = GidEntry {
            index: 3,
            gid: "0000:0000:0000:0000:0000:ffff:0a4d:0001".parse().expect("a GID"),
            kind: GidKind::RoceV2,
            netdev: Some("eth0".to_owned()),
            prefix_bits: Some(24),
        };
        ConnectionInfo {
            lid: 0,
            ethernet: true,
            mtu: 1024,
            reads_in: 16,
            gids: vec![GidInfo::from(&entry)],
            nonce: u64::MAX,
            address: 0x7f00_dead_beef_0000,
            key: u32::MAX,
            pairs: vec![17, 18, 19, 0xff_ffff, 5],
        }
    }

    #[test]
    fn connection_info_survives_the_wire_with_all_of_its_numbers() {
        let place = seatrial_model::PartPlacement::new("server", 1, "n2", Vec::new());
        let offer = Offer::new(&place, serde_json::to_value(connection_info()).expect("serialises"));
        let wire = serde_json::to_string(&offer).expect("serialises");
        assert!(wire.contains(r#""pairs":"17-19 16777215 5""#), "{wire}");
        let offers = [serde_json::from_str(&wire).expect("reads")];
        let read: ConnectionInfo = Offer::of_other(&offers, 0).expect("connection info");
        assert_eq!(read, connection_info());
        let entries = read.entries().expect("entries");
        assert_eq!((entries[0].index, entries[0].kind.name()), (3, GidKind::RoceV2.name()));
    }

    #[test]
    fn what_is_no_connection_info_is_told() {
        let none = Offer::of_other::<ConnectionInfo>(&[], 0).expect_err("none");
        assert_eq!(none.cause, Cause::Protocol);
        for pairs in ["17-", "20-17", "a", "0-4294967295"] {
            let mut wire = serde_json::to_value(connection_info()).expect("serialises");
            wire["pairs"] = pairs.into();
            assert!(serde_json::from_value::<ConnectionInfo>(wire).is_err(), "{pairs}");
        }
        let mut odd = connection_info();
        odd.gids[0].gid = "not a gid".to_owned();
        assert!(odd.entries().expect_err("none").text.contains("not a gid"));
    }
}
