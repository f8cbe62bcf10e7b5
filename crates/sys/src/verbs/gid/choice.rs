//! Chooses the GIDs of two ports.

use super::{GidEntry, GidKind, describe};
use crate::verbs::VerbsError;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GidChoice {
    pub first: GidEntry,
    pub second: GidEntry,
    pub why: String,
}

/// How well two GIDs fit, best first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Fit {
    InfiniBand,
    SameFour,
    SameSix,
    /// IPv4 in two subnets, with routers between.
    RoutedFour,
    RoutedSix,
    /// Link-local: works where both ends are on one link.
    Link,
}

/// Chooses a GID from each of two tables, from the tables alone, so that both ends choose the same.
///
/// RoCE v2 precedes v1, as routers and switches with lossless queues support it; both ends must use the same version.
/// Then IPv4 precedes IPv6, one subnet precedes two, and link-local GIDs come last.
pub fn choose(first: &[GidEntry], second: &[GidEntry]) -> Result<GidChoice, VerbsError> {
    let pairs = first.iter().flat_map(|one| second.iter().map(move |other| (one, other)));
    let fitting = pairs.filter_map(|(one, other)| Some((rank(one, other)?, one, other)));
    let best = fitting.min_by_key(|(rank, one, other)| (*rank, one.index, other.index));
    let Some(((kind, fit), one, other)) = best else {
        return Err(VerbsError::NoCommonGid { first: describe(first), second: describe(second) });
    };
    let why = match fit {
        Fit::InfiniBand => "the first of each port; InfiniBand finds the peer by its LID".to_owned(),
        Fit::SameFour => {
            format!("{}: IPv4 addresses of one network of {} bits", kind.name(), bits(one, other))
        }
        Fit::SameSix => {
            format!("{}: IPv6 addresses of one network of {} bits", kind.name(), bits(one, other))
        }
        Fit::RoutedFour => {
            format!("{}: IPv4 addresses; none of the two are known to be of one network", kind.name())
        }
        Fit::RoutedSix => {
            format!("{}: IPv6 addresses; none of the two are known to be of one network", kind.name())
        }
        Fit::Link => format!("{}: there are addresses of the link only", kind.name()),
    };
    let why = format!("GID {one} to GID {other}; {why}");
    Ok(GidChoice { first: one.clone(), second: other.clone(), why })
}

fn rank(one: &GidEntry, other: &GidEntry) -> Option<(GidKind, Fit)> {
    if one.kind != other.kind {
        return None;
    }
    let fit = match (one.kind, one.gid.ipv4(), other.gid.ipv4()) {
        (GidKind::Other, ..) => return None,
        (GidKind::InfiniBand, ..) => Fit::InfiniBand,
        (_, Some(_), Some(_)) if is_one_network(one, other) => Fit::SameFour,
        (GidKind::RoceV2, Some(_), Some(_)) => Fit::RoutedFour,
        (_, None, None) => match (one.gid.is_link_local(), other.gid.is_link_local()) {
            (true, true) => Fit::Link,
            (false, false) if is_one_network(one, other) => Fit::SameSix,
            (false, false) if one.kind == GidKind::RoceV2 => Fit::RoutedSix,
            _ => return None,
        },
        // RoCE v1 is not routed, and IPv4 and IPv6 do not mix.
        _ => return None,
    };
    Some((one.kind, fit))
}

/// Whether both are in one subnet, as far as either end knows its own.
fn is_one_network(one: &GidEntry, other: &GidEntry) -> bool {
    let bits = bits(one, other);
    // IPv4-mapped GIDs have 96 bits before the address.
    let front = if one.gid.ipv4().is_some() { 96 } else { 0 };
    let differing = u128::from_be_bytes(one.gid.0) ^ u128::from_be_bytes(other.gid.0);
    bits > 0 && differing.leading_zeros() >= front + u32::from(bits)
}

/// The longer prefix; 0 where neither is known.
fn bits(one: &GidEntry, other: &GidEntry) -> u8 {
    one.prefix_bits.max(other.prefix_bits).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(index: u32, gid: &str, kind: GidKind, bits: Option<u8>) -> GidEntry {
        let gid = gid.parse().expect("a GID");
        GidEntry { index, gid, kind, netdev: Some("eth0".to_owned()), prefix_bits: bits }
    }

    fn table(four: &str, bits: u8) -> Vec<GidEntry> {
        let (link, four) = ("fe80::1", format!("::ffff:{four}"));
        vec![
            entry(0, link, GidKind::RoceV1, Some(64)),
            entry(1, link, GidKind::RoceV2, Some(64)),
            entry(2, &four, GidKind::RoceV1, Some(bits)),
            entry(3, &four, GidKind::RoceV2, Some(bits)),
        ]
    }

    fn indices(first: &[GidEntry], second: &[GidEntry]) -> (u32, u32) {
        let choice = choose(first, second).expect("a choice");
        (choice.first.index, choice.second.index)
    }

    #[test]
    fn version_2_of_the_same_network_is_taken_and_explained() {
        let choice = choose(&table("10.0.0.1", 24), &table("10.0.0.2", 24)).expect("a choice");
        assert_eq!((choice.first.index, choice.second.index), (3, 3));
        assert_eq!(
            choice.why,
            "GID 3: 10.0.0.1 RoCE v2 eth0 to GID 3: 10.0.0.2 RoCE v2 eth0; RoCE v2: IPv4 addresses of one network of \
             24 bits"
        );
    }

    #[test]
    fn the_network_that_both_have_wins_over_the_first_in_the_table() {
        let mut first = table("10.0.0.1", 24);
        first.push(entry(5, "::ffff:192.168.7.1", GidKind::RoceV2, Some(24)));
        assert_eq!(indices(&first, &table("192.168.7.2", 24)), (5, 3));
        assert_eq!(indices(&table("192.168.7.2", 24), &first), (3, 5), "the other end comes to the same");
    }

    #[test]
    fn every_link_a_network_of_its_own_is_routed_and_not_tried_by_link_addresses() {
        assert_eq!(indices(&table("10.0.0.0", 31), &table("10.0.0.2", 31)), (3, 3));
    }

    #[test]
    fn a_peer_without_version_2_is_met_in_version_1_on_one_network_only() {
        let old = vec![entry(0, "::ffff:10.0.0.2", GidKind::RoceV1, Some(24))];
        assert_eq!(indices(&table("10.0.0.1", 24), &old), (2, 0));
        let error = choose(&table("10.9.0.1", 24), &old).expect_err("version 1 is not routed").to_string();
        assert!(
            error.contains("here 0: fe80:") && error.contains("there 0: 10.0.0.2 RoCE v1 eth0"),
            "{error}"
        );
    }

    #[test]
    fn infiniband_takes_the_first_of_each_port() {
        let port = |gid: &str| {
            vec![entry(0, gid, GidKind::InfiniBand, None), entry(1, gid, GidKind::InfiniBand, None)]
        };
        let choice = choose(&port("fe80::1"), &port("fe80::2")).expect("a choice");
        assert_eq!((choice.first.index, choice.second.index), (0, 0));
        assert!(choice.why.contains("by its LID"));
        assert!(
            choose(&port("fe80::1"), &table("10.0.0.1", 24)).is_err(),
            "an InfiniBand port and an Ethernet one"
        );
    }

    #[test]
    fn one_port_with_itself_is_the_same_address_twice() {
        let own = table("10.0.0.1", 24);
        assert_eq!(indices(&own, &own), (3, 3));
    }
}
