//! The path of a queue pair to its peer.

use std::fmt;

use super::abi::{AhAttr, Plain, QpAttr, mask};
use super::{Gid, GidEntry, LinkLayer, Mtu, PortAbout, VerbsError};

/// Fields of the routing header (InfiniBand Architecture Specification, volume 1, "Global Route Header"); on RoCE v2
/// of the IP header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Global {
    pub source_index: u8,
    pub to: Gid,
    /// On RoCE v2 the IP header's DSCP (upper six bits) and ECN.
    pub traffic_class: u8,
    /// 20 bits; on RoCE v2 the UDP source port derives from it, which switches use for ECMP.
    pub flow_label: u32,
    pub hop_limit: u8,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Path {
    /// From 1.
    pub port: u8,
    /// Service level, 0 to 15; on RoCE the VLAN priority.
    pub service_level: u8,
    /// The peer's LID; 0 on Ethernet.
    pub to_lid: u16,
    /// Required on Ethernet and between InfiniBand subnets.
    pub global: Option<Global>,
}

const HOPS: u8 = 64;

impl Path {
    /// The path from a port to a peer: by LID inside an InfiniBand subnet, else by GID.
    pub fn between(
        own: &PortAbout,
        port: u8,
        source: &GidEntry,
        to_gid: Gid,
        to_lid: u16,
    ) -> Result<Self, VerbsError> {
        let config = |why: String| Err(VerbsError::Config { why });
        let Ok(source_index) = u8::try_from(source.index) else {
            return config(format!("GID {} is beyond 255, which a path cannot name", source.index));
        };
        let global = Global { source_index, to: to_gid, traffic_class: 0, flow_label: 0, hop_limit: HOPS };
        if own.link_layer == LinkLayer::Ethernet {
            return Ok(Self { port, service_level: 0, to_lid: 0, global: Some(global) });
        }
        if own.lid == 0 || to_lid == 0 {
            let whose = if own.lid == 0 { "this port" } else { "the peer's port" };
            return config(format!("{whose} has no LID: no subnet manager has configured it"));
        }
        let is_routed = source.gid.prefix() != to_gid.prefix();
        Ok(Self { port, service_level: 0, to_lid, global: is_routed.then_some(global) })
    }

    pub(super) fn attributes(&self) -> Result<AhAttr, VerbsError> {
        if self.service_level > 15 {
            return Err(VerbsError::TooMuch {
                what: "a service level",
                asked: self.service_level.into(),
                most: 15,
            });
        }
        let mut attr = AhAttr::zeroed();
        (attr.port_num, attr.sl, attr.dlid) = (self.port, self.service_level, self.to_lid);
        if let Some(global) = &self.global {
            if global.flow_label >= 1 << 20 {
                let (asked, most) = (global.flow_label.into(), (1 << 20) - 1);
                return Err(VerbsError::TooMuch { what: "a flow label", asked, most });
            }
            attr.is_global = 1;
            attr.grh.dgid = global.to.halves();
            attr.grh.flow_label = global.flow_label;
            attr.grh.sgid_index = global.source_index;
            attr.grh.hop_limit = global.hop_limit;
            attr.grh.traffic_class = global.traffic_class;
        }
        Ok(attr)
    }
}

impl fmt::Display for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "port {}", self.port)?;
        if self.to_lid != 0 {
            write!(f, " to LID {}", self.to_lid)?;
        }
        match &self.global {
            Some(global) => write!(f, " from GID {} to {}", global.source_index, global.to),
            None => Ok(()),
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Retry {
    /// Acknowledgement timeout: 4.096 us times 2 to this power, 1 to 31. Devices have a minimum of their own.
    pub timeout: u8,
    /// Retransmissions after a timeout, at most 7.
    pub retries: u8,
    /// Retries while the peer has no receive posted, at most 7; 7 is unlimited.
    pub rnr_retries: u8,
    /// Delay of such a retry, as an index into a table of 32 (12 is 0.64 ms; ibv_modify_qp(3)).
    pub rnr_timer: u8,
}

impl Default for Retry {
    /// 67 ms timeout, seven retries; six retries of 0.64 ms for a peer that is not ready.
    fn default() -> Self {
        Self { timeout: 14, retries: 7, rnr_retries: 6, rnr_timer: 12 }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Connection {
    pub path: Path,
    pub qp_number: u32,
    /// Our first packet sequence number, 24 bits; the peer needs it.
    pub our_psn: u32,
    pub their_psn: u32,
    /// Path MTU: the same at both ends, and at most each port's active MTU.
    pub mtu: Mtu,
    /// Reliable connections only.
    pub retry: Retry,
    pub reads_out: u8,
    pub reads_in: u8,
}

const PSN: u32 = (1 << 24) - 1;

impl Connection {
    fn check(&self) -> Result<(), VerbsError> {
        let bounds = [
            ("a retry count", u64::from(self.retry.retries), 7),
            ("a count of retries for receivers that are not ready", self.retry.rnr_retries.into(), 7),
            ("a timer for receivers that are not ready", self.retry.rnr_timer.into(), 31),
            ("a timeout of acknowledgements", self.retry.timeout.into(), 31),
            ("a packet sequence number", self.our_psn.max(self.their_psn).into(), PSN.into()),
        ];
        if let Some(&(what, asked, most)) = bounds.iter().find(|(_, asked, most)| asked > most) {
            return Err(VerbsError::TooMuch { what, asked, most });
        }
        if self.retry.timeout == 0 {
            let why = "a timeout of 0 waits for acknowledgements for ever".to_owned();
            return Err(VerbsError::Config { why });
        }
        Ok(())
    }

    /// INIT to RTR (ibv_modify_qp(3), the table of required attributes).
    pub(super) fn receiving(&self, is_reliable: bool) -> Result<(QpAttr, i32), VerbsError> {
        self.check()?;
        let mut attr = QpAttr::zeroed();
        attr.qp_state = super::pair::READY_TO_RECEIVE;
        attr.ah_attr = self.path.attributes()?;
        attr.path_mtu = self.mtu.code();
        attr.dest_qp_num = self.qp_number;
        attr.rq_psn = self.their_psn;
        let mut what = mask::STATE | mask::AV | mask::PATH_MTU | mask::DEST_QPN | mask::RQ_PSN;
        if is_reliable {
            attr.max_dest_rd_atomic = self.reads_in;
            attr.min_rnr_timer = self.retry.rnr_timer;
            what |= mask::MAX_DEST_RD_ATOMIC | mask::MIN_RNR_TIMER;
        }
        Ok((attr, what))
    }

    /// RTR to RTS.
    pub(super) fn sending(&self, is_reliable: bool) -> (QpAttr, i32) {
        let mut attr = QpAttr::zeroed();
        attr.qp_state = super::pair::READY_TO_SEND;
        attr.sq_psn = self.our_psn;
        let mut what = mask::STATE | mask::SQ_PSN;
        if is_reliable {
            attr.timeout = self.retry.timeout;
            attr.retry_cnt = self.retry.retries;
            attr.rnr_retry = self.retry.rnr_retries;
            attr.max_rd_atomic = self.reads_out;
            what |= mask::TIMEOUT | mask::RETRY_CNT | mask::RNR_RETRY | mask::MAX_QP_RD_ATOMIC;
        }
        (attr, what)
    }
}

#[cfg(test)]
mod tests {
    use super::super::{GidKind, PortState};
    use super::*;

    fn port(link_layer: LinkLayer, lid: u16) -> PortAbout {
        PortAbout {
            state: PortState::Active,
            link_layer,
            lid,
            sm_lid: 1,
            max_mtu: Mtu::B4096,
            active_mtu: Mtu::B4096,
            gids: 1,
            pkeys: 1,
            max_message_bytes: 1 << 30,
        }
    }

    fn own(gid: &str) -> GidEntry {
        let gid = gid.parse().expect("a GID");
        GidEntry { index: 3, gid, kind: GidKind::RoceV2, netdev: None, prefix_bits: None }
    }

    fn gid(text: &str) -> Gid {
        text.parse().expect("a GID")
    }

    #[test]
    fn ethernet_goes_by_address_and_infiniband_by_lid_inside_its_subnet() {
        let roce = Path::between(
            &port(LinkLayer::Ethernet, 0),
            1,
            &own("::ffff:10.0.0.1"),
            gid("::ffff:10.0.0.2"),
            0,
        );
        let attr = roce.expect("a path").attributes().expect("attributes");
        assert_eq!((attr.is_global, attr.grh.sgid_index, attr.grh.hop_limit, attr.dlid), (1, 3, 64, 0));
        let near = Path::between(&port(LinkLayer::InfiniBand, 5), 2, &own("fe80::1"), gid("fe80::2"), 9);
        let attr = near.expect("a path").attributes().expect("attributes");
        assert_eq!((attr.is_global, attr.dlid, attr.port_num), (0, 9, 2));
        let far = Path::between(&port(LinkLayer::InfiniBand, 5), 1, &own("fe80::1"), gid("fec0:0:0:1::2"), 9);
        let attr = far.expect("a path").attributes().expect("attributes");
        assert_eq!((attr.is_global, attr.dlid), (1, 9), "another subnet is reached through a router");
    }

    #[test]
    fn a_port_without_lid_is_told_from_a_peer_without() {
        let path = |lid, to_lid| {
            Path::between(&port(LinkLayer::InfiniBand, lid), 1, &own("fe80::1"), gid("fe80::2"), to_lid)
        };
        assert!(path(0, 9).is_err_and(|error| error.to_string().starts_with("this port has no LID")));
        assert!(path(5, 0).is_err_and(|error| error.to_string().starts_with("the peer's port has no LID")));
    }

    #[test]
    fn nothing_that_would_wait_for_ever_or_does_not_fit_is_taken() {
        let path = Path { port: 1, service_level: 0, to_lid: 1, global: None };
        let connection = Connection {
            path,
            qp_number: 17,
            our_psn: 1,
            their_psn: 2,
            mtu: Mtu::B1024,
            retry: Retry::default(),
            reads_out: 4,
            reads_in: 8,
        };
        let (attr, what) = connection.receiving(true).expect("fits");
        assert_eq!((attr.dest_qp_num, attr.rq_psn, attr.path_mtu, attr.max_dest_rd_atomic), (17, 2, 3, 8));
        assert_eq!(what, 1 | 1 << 7 | 1 << 8 | 1 << 12 | 1 << 15 | 1 << 17 | 1 << 20);
        let (attr, what) = connection.sending(false);
        assert_eq!((attr.sq_psn, attr.retry_cnt, what), (1, 0, 1 | 1 << 16));
        let endless = Connection { retry: Retry { timeout: 0, ..Retry::default() }, ..connection };
        assert!(endless.receiving(true).is_err_and(|error| error.to_string().contains("for ever")));
        let eight = Connection { retry: Retry { retries: 8, ..Retry::default() }, ..connection };
        assert!(matches!(eight.receiving(true), Err(VerbsError::TooMuch { asked: 8, most: 7, .. })));
        let odd = Connection { path: Path { service_level: 16, ..path }, ..connection };
        assert!(odd.receiving(true).is_err());
    }
}
