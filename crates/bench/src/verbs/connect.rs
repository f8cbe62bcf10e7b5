//! Connects the queue pairs of an end with those of its peer, or of several peers.

use std::sync::Arc;

use seatrial_model::{Cause, Reason};
use seatrial_stats::mix;
use seatrial_sys::verbs::{
    AddressHandle, Connection, GROUP_QP, GidEntry, Global, LinkLayer, Mtu, Path, Remote, Retry, Transport,
    VerbKind, choose,
};
use serde_json::{Value, json};

use super::group::{self, Groups};
use super::{ConnectionInfo, RdmaEndpoint, preparing};

/// How packets get to a peer.
struct Route {
    path: Path,
    /// Our own GID, where one is used.
    source: Option<GidEntry>,
    mtu: Mtu,
    reads_out: u8,
}

impl RdmaEndpoint {
    /// Connects all queue pairs with those of the peer.
    ///
    /// # Errors
    /// When the two have no address in common, or the device refuses.
    pub fn connect(&mut self, theirs: &ConnectionInfo) -> Result<(), Reason> {
        let label = self.config.label();
        if theirs.pairs.len() != self.pairs.len() {
            let text = format!("the peer has {} queue pairs, not {}", theirs.pairs.len(), self.pairs.len());
            return Err(Reason::new(Cause::Protocol, text));
        }
        let route = self.route(theirs, self.config.index == 0)?;
        let mut handles = self.handles(theirs, route.path)?.into_iter();
        for number in 0..self.pairs.len() {
            self.pairs[number].handle = handles.next();
            self.connect_pair(number, theirs, number, &route)?;
        }
        if let (true, Some(own)) = (self.config.multicast && self.config.answers(), route.source) {
            let root = &self.config.system.root;
            let (groups, told) = Groups::join(&self.pairs, self.nonce, &own, root, &label)?;
            self.groups = groups;
            let first = group::of(self.nonce, 0, own.gid).to_string();
            self.facts.insert("group".to_owned(), json!({ "gid": first, "joined": told }));
        }
        Ok(())
    }

    /// Connects one queue pair with that of the position `far` at one of several peers, whose name is set.
    /// `own_first`: the order of the two ends, on which both agree.
    ///
    /// # Errors
    /// When the two have no address in common, or the device refuses.
    pub fn connect_with(
        &mut self,
        number: usize,
        theirs: &ConnectionInfo,
        far: usize,
        own_first: bool,
    ) -> Result<(), Reason> {
        let route = self.route(theirs, own_first)?;
        self.connect_pair(number, theirs, far, &route)
    }

    fn connect_pair(
        &mut self,
        number: usize,
        theirs: &ConnectionInfo,
        far: usize,
        route: &Route,
    ) -> Result<(), Reason> {
        let label = self.config.label();
        let missing = || Reason::new(Cause::Protocol, format!("the peer has no queue pair {far}"));
        let qp_number = *theirs.pairs.get(far).ok_or_else(missing)?;
        let pair = &mut self.pairs[number];
        pair.far.memory = Remote { address: theirs.address, key: theirs.key };
        (pair.far.nonce, pair.far.number) = (theirs.nonce, far);
        let connected = match &pair.handle {
            Some(_) => pair.qp.ready(),
            None => pair.qp.connect(&Connection {
                path: route.path,
                qp_number,
                our_psn: psn(self.nonce, number),
                their_psn: psn(theirs.nonce, far),
                mtu: route.mtu,
                // As perftest has it: 67 ms, which cards may stretch up to four times, and seven times more before
                // a silent path is given up. Soft-RoCE takes 7 for as often as need be (Linux
                // drivers/infiniband/sw/ rxe/rxe_comp.c), so that who waits looks at the clock too. A receiver that
                // is late is waited for, up to the end of the phase.
                retry: Retry { rnr_retries: 7, ..Retry::default() },
                reads_out: route.reads_out,
                reads_in: self.device.about().max_reads_in,
            }),
        };
        connected.map_err(preparing(&pair.outgoing(&label), "connecting a queue pair"))
    }

    /// How packets get to the peer.
    fn route(&mut self, theirs: &ConnectionInfo, own_first: bool) -> Result<Route, Reason> {
        let label = self.config.label();
        let theirs_mtu = Mtu::of_bytes(theirs.mtu).unwrap_or(Mtu::B256);
        let mtu = self.port.active_mtu.min(theirs_mtu);
        if let Some(asked) = self.config.mtu.filter(|asked| *asked > mtu) {
            let text = format!("{label}: mtu={asked}: the other end has {theirs_mtu} active");
            return Err(Reason::new(Cause::Contradiction, text));
        }
        let mtu = self.config.mtu.unwrap_or(mtu);
        if self.config.transport == Transport::Ud && self.config.largest() > u64::from(mtu.bytes()) {
            let text = format!("{label}: a datagram holds {mtu} bytes at most on this path: lower -p size=");
            return Err(Reason::new(Cause::Contradiction, text));
        }
        let (path, source) = self.path(theirs, own_first)?;
        let asked = self.config.outstanding.unwrap_or(u8::MAX);
        let reads_out = self.device.about().max_reads_out.min(theirs.reads_in).min(asked);
        // That of all peers is the smallest.
        let before = self.facts.get("mtu").and_then(Value::as_u64).unwrap_or(u64::MAX);
        self.facts.insert("mtu".to_owned(), json!(before.min(mtu.bytes().into())));
        if matches!(self.config.method.verb, VerbKind::Read | VerbKind::Atomic) {
            self.facts.insert("outstanding".to_owned(), json!(reads_out));
        }
        Ok(Route { path, source, mtu, reads_out })
    }

    /// Where the datagrams of each queue pair go to; none for a connection.
    fn handles(&self, theirs: &ConnectionInfo, path: Path) -> Result<Vec<(Arc<AddressHandle>, u32)>, Reason> {
        if self.config.transport != Transport::Ud {
            return Ok(Vec::new());
        }
        let label = self.config.label();
        let to = |path: &Path| {
            AddressHandle::new(&self.pd, path).map_err(preparing(&label, "making an address handle"))
        };
        let Some(global) = path.global.filter(|_| self.config.multicast) else {
            let handle = to(&path)?;
            return Ok(theirs.pairs.iter().map(|number| (Arc::clone(&handle), *number)).collect());
        };
        let of_pair = |pair: usize| {
            let global = Global { to: group::of(theirs.nonce, pair, global.to), ..global };
            Ok((to(&Path { global: Some(global), ..path })?, GROUP_QP))
        };
        (0..theirs.pairs.len()).map(of_pair).collect()
    }

    /// The path to the peer: by GIDs on Ethernet, and where one was asked for; else by the local identifier. And our
    /// own GID, where one is used.
    fn path(&mut self, theirs: &ConnectionInfo, own_first: bool) -> Result<(Path, Option<GidEntry>), Reason> {
        let label = self.config.label();
        let ethernet = self.port.link_layer == LinkLayer::Ethernet;
        if ethernet != theirs.ethernet {
            let text = format!("{label}: one end is a port of Ethernet and the other of InfiniBand");
            return Err(Reason::new(Cause::Contradiction, text));
        }
        let (mut global, mut source) = (None, None);
        let (ours, others) = (&self.gids, theirs.entries()?);
        // InfiniBand needs the global header only between subnets, which have prefixes of their own.
        let prefix = |gids: &[GidEntry]| gids.first().map(|entry| entry.gid.prefix());
        let is_routed = prefix(ours) != prefix(&others);
        if ethernet || is_routed || self.config.gid_index.is_some() {
            let (first, second) = if own_first { (ours, &others) } else { (&others, ours) };
            let choice = choose(first, second).map_err(|error| {
                Reason::new(
                    Cause::Missing,
                    format!("{label}: choosing a GID: {error}; name one with -p gid_index="),
                )
            })?;
            let (own, other) =
                if own_first { (&choice.first, &choice.second) } else { (&choice.second, &choice.first) };
            let gid = json!({ "index": own.index, "gid": own.gid.to_string(), "kind": own.kind.name(), "why": choice.why });
            self.facts.insert("gid".to_owned(), gid);
            let traffic_class = self.config.traffic_class;
            let source_index = u8::try_from(own.index).unwrap_or(u8::MAX);
            global =
                Some(Global { source_index, to: other.gid, traffic_class, flow_label: 0, hop_limit: 64 });
            source = Some(own.clone());
        } else if self.config.traffic_class > 0 {
            let text = format!(
                "{label}: traffic_class={} stands in the global header, which packets inside a subnet of InfiniBand do \
                 without; gid_index= puts one in, service_level= needs none",
                self.config.traffic_class
            );
            return Err(Reason::new(Cause::Contradiction, text));
        }
        let to_lid = if ethernet { 0 } else { theirs.lid };
        let path = Path { port: self.config.port, service_level: self.config.service_level, to_lid, global };
        Ok((path, source))
    }
}

/// The number of the first packet of a queue pair: 24 bits.
fn psn(nonce: u64, pair: usize) -> u32 {
    (mix(nonce ^ pair as u64) & 0xff_ffff) as u32
}
