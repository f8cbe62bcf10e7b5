//! One end, ready to work: the device, registered memory, completion queues, queue pairs, and their connection.

use std::sync::Arc;
use std::time::Duration;

use seatrial_model::{Cause, Reason};
use seatrial_sys::clock::now_ns;
use seatrial_sys::memory::Pages;
use seatrial_sys::verbs::{
    AddressHandle, Connection, GROUP_QP, GidEntry, Global, LinkLayer, MemoryRegion, Mtu, Path, PortAbout,
    ProtectionDomain, QueuePair, RdmaDevice, ReceiveList, ReceiveWork, Remote, Retry, Transport, VerbKind,
    VerbsError, choose,
};
use serde_json::json;

use super::connection_info::GidInfo;
use super::group::{self, Groups};
use super::pairs::queue_pair;
use super::pattern::{POISON, SlotStamp};
use super::queue::{Queue, queues};
use super::registered::registered;
use super::{ConnectionInfo, Layout, PeerPair, RdmaConfig, Side, during, preparing};
use crate::Offer;
use seatrial_stats::mix;

/// Bytes that memory is written or looked at in one go.
const PIECE: usize = 64 << 10;

/// A queue pair of this end.
#[derive(Clone)]
pub struct Pair {
    /// Its position among all.
    pub number: usize,
    pub qp: Arc<QueuePair>,
    /// Where datagrams go to: the peer's end, or a group that it is in.
    pub handle: Option<(Arc<AddressHandle>, u32)>,
}

/// The opened device of one port of an end, with its memory and queue pairs.
pub struct RdmaEndpoint {
    /// What it is for.
    pub config: RdmaConfig,
    pub region: Arc<MemoryRegion>,
    /// How it is cut.
    pub layout: Layout,
    /// The queues of what is sent, one a thread.
    pub sends: Vec<Queue>,
    /// The queues of what is received, one a thread.
    pub receives: Vec<Queue>,
    pub pairs: Vec<Pair>,
    /// The peer's memory; before [`Self::connect`] its address is 0.
    pub remote: Remote,
    /// What the peer's messages are made of.
    pub their_nonce: u64,
    pub nonce: u64,
    pub facts: serde_json::Map<String, serde_json::Value>,
    /// How long it took to make memory of a message known, each time it was done.
    pub registrations: Vec<Duration>,
    /// Those that our queue pairs take messages of.
    groups: Groups,
    port: PortAbout,
    device: Arc<RdmaDevice>,
    pd: Arc<ProtectionDomain>,
    gids: Vec<GidEntry>,
}

impl RdmaEndpoint {
    /// Opens the device and makes everything up to the connection.
    ///
    /// # Errors
    /// When the library, the device, or what is asked of it cannot be had.
    pub fn open(config: &RdmaConfig, pages: &[Pages]) -> Result<Self, Reason> {
        let label = config.label();
        let failed = |what: &'static str| preparing(&label, what);
        let verbs = config.system.verbs().map_err(failed("opening libibverbs"))?;
        let device = verbs.open_device(&config.device).map_err(failed("opening the device"))?;
        let port = device.port(config.port).map_err(failed("asking for the port"))?;
        port.require_active(&config.device, config.port).map_err(failed("looking at the port"))?;
        if config.method.verb == VerbKind::Atomic {
            device.require_atomics().map_err(failed("asking for atomics"))?;
        }
        // Devices of iWARP, which have no partitions, tell a table of none.
        if config.pkey_index > 0 && config.pkey_index >= port.pkeys {
            let (asked, there) = (config.pkey_index, port.pkeys);
            let text = format!("pkey_index={asked}: the port has {there} partition keys, counted from 0");
            return Err(Reason::new(Cause::Missing, format!("{label}: {text}")));
        }
        if config.multicast && port.link_layer != LinkLayer::Ethernet {
            return Err(group::no_manager(&label));
        }
        if let Some(mtu) = config.mtu.filter(|mtu| *mtu > port.active_mtu) {
            let text = format!("mtu={mtu}: the port has {} active", port.active_mtu);
            return Err(Reason::new(Cause::Contradiction, format!("{label}: {text}")));
        }
        let table = device.gids(&config.system.root, config.port).map_err(failed("reading its GIDs"))?;
        let gids = match config.gid_index {
            Some(index) => {
                let entry = table.asked(index).map_err(|error| {
                    Reason::new(Cause::Missing, format!("{label}: gid_index={index}: {error}"))
                })?;
                vec![entry.clone()]
            }
            None => table.entries.clone(),
        };
        let pd = ProtectionDomain::new(&device).map_err(failed("making a protection domain"))?;
        let layout = Layout::of(config);
        let (region, registrations, facts) = registered(config, &pd, &layout, pages)?;
        let (sends, receives) = queues(config, &device)?;
        let mut endpoint = Self {
            config: config.clone(),
            region,
            layout,
            sends,
            receives,
            pairs: Vec::new(),
            remote: Remote { address: 0, key: 0 },
            their_nonce: 0,
            nonce: mix(now_ns() ^ u64::from(std::process::id()) << 32),
            facts,
            registrations,
            groups: Groups::default(),
            port,
            device,
            pd,
            gids,
        };
        for number in 0..config.queue_pairs {
            let thread = number % config.threads;
            let qp = queue_pair(config, &endpoint.pd, &endpoint.sends[thread], &endpoint.receives[thread])?;
            endpoint.pairs.push(Pair { number, qp, handle: None });
        }
        let about = endpoint.device.about();
        let granted = endpoint.pairs.first().map(|pair| pair.qp.inline_bytes());
        endpoint.facts.insert("port".to_owned(), json!(label));
        endpoint.facts.insert("firmware".to_owned(), json!(about.firmware));
        endpoint.facts.insert("inline".to_owned(), json!(granted));
        Ok(endpoint)
    }

    /// Where its memory is registered.
    pub fn pd(&self) -> &Arc<ProtectionDomain> {
        &self.pd
    }

    /// What the other end must know.
    pub fn connection_info(&self) -> ConnectionInfo {
        let here = self.region.remote(0);
        let pair = |pair: &Pair| PeerPair { number: pair.qp.number(), psn: psn(self.nonce, pair.number) };
        ConnectionInfo {
            lid: self.port.lid,
            ethernet: self.port.link_layer == LinkLayer::Ethernet,
            mtu: self.port.active_mtu.bytes(),
            reads_in: self.device.about().max_reads_in,
            gids: self.gids.iter().map(GidInfo::from).collect(),
            nonce: self.nonce,
            address: here.address,
            key: here.key,
            pairs: self.pairs.iter().map(pair).collect(),
        }
    }

    /// Connects all queue pairs with those of the peer.
    ///
    /// # Errors
    /// When the two have no address in common, or the device refuses.
    pub fn connect(&mut self, theirs: &ConnectionInfo) -> Result<(), Reason> {
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
        let (path, own) = self.path(theirs)?;
        let about = self.device.about();
        let asked = self.config.outstanding.unwrap_or(u8::MAX);
        let reads_out = about.max_reads_out.min(theirs.reads_in).min(asked);
        if theirs.pairs.len() != self.pairs.len() {
            let text = format!("the peer has {} queue pairs, not {}", theirs.pairs.len(), self.pairs.len());
            return Err(Reason::new(Cause::Protocol, text));
        }
        let handles = self.handles(theirs, path)?;
        for (at, (pair, peer)) in self.pairs.iter_mut().zip(&theirs.pairs).enumerate() {
            let connected = match handles.get(at) {
                Some(handle) => {
                    pair.handle = Some(handle.clone());
                    pair.qp.ready()
                }
                None => pair.qp.connect(&Connection {
                    path,
                    qp_number: peer.number,
                    our_psn: psn(self.nonce, pair.number),
                    their_psn: peer.psn,
                    mtu,
                    // As perftest has it: 67 ms, which cards may stretch up to four times, and seven times more before
                    // a silent path is given up. Soft-RoCE takes 7 for as often as need be (Linux
                    // drivers/infiniband/sw/ rxe/rxe_comp.c), so that who waits looks at the clock too. A receiver that
                    // is late is waited for, up to the end of the phase.
                    retry: Retry { rnr_retries: 7, ..Retry::default() },
                    reads_out,
                    reads_in: about.max_reads_in,
                }),
            };
            connected.map_err(preparing(&label, "connecting a queue pair"))?;
        }
        if let (true, Some(own)) = (self.config.multicast && self.config.answers(), own) {
            let root = &self.config.system.root;
            let (groups, told) = Groups::join(&self.pairs, self.nonce, &own, root, &label)?;
            self.groups = groups;
            let first = group::of(self.nonce, 0, own.gid).to_string();
            self.facts.insert("group".to_owned(), json!({ "gid": first, "joined": told }));
        }
        self.remote = Remote { address: theirs.address, key: theirs.key };
        self.their_nonce = theirs.nonce;
        self.facts.insert("mtu".to_owned(), json!(mtu.bytes()));
        if matches!(self.config.method.verb, VerbKind::Read | VerbKind::Atomic) {
            self.facts.insert("outstanding".to_owned(), json!(reads_out));
        }
        Ok(())
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
            return Ok(theirs.pairs.iter().map(|peer| (Arc::clone(&handle), peer.number)).collect());
        };
        let of_pair = |pair: usize| {
            let global = Global { to: group::of(theirs.nonce, pair, global.to), ..global };
            Ok((to(&Path { global: Some(global), ..path })?, GROUP_QP))
        };
        (0..theirs.pairs.len()).map(of_pair).collect()
    }

    /// The path to the peer: by GIDs on Ethernet, and where one was asked for; else by the local identifier. And our
    /// own GID, where one is used.
    fn path(&mut self, theirs: &ConnectionInfo) -> Result<(Path, Option<GidEntry>), Reason> {
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
            let own_first = self.config.index == 0;
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

    /// The queue pairs that this thread serves.
    pub fn pairs_of(&self, thread: usize) -> impl Iterator<Item = &Pair> {
        self.pairs.iter().filter(move |pair| pair.number % self.config.threads == thread)
    }

    /// Posts as many receives as the case has, each of `bytes` at `offset`, to the first queue pair; must be called before
    /// the far end may send. Returns the request, to post it again.
    pub fn post_receives(&self, offset: usize, bytes: u32) -> Result<ReceiveList, Reason> {
        let label = self.config.label();
        let work = ReceiveWork { id: 0, memory: &self.region, offset, bytes };
        let mut list = ReceiveList::new(&[work]).map_err(preparing(&label, "preparing receives"))?;
        for _ in 0..self.config.receives {
            let posted = self.pairs[0].qp.post_receive(&mut list, 0..1).map_err(VerbsError::from);
            posted.map_err(preparing(&label, "posting receives"))?;
        }
        Ok(list)
    }

    /// The content of a slot of this end's own, or of the peer's.
    pub fn stamp(&self, ours: bool, pair: usize, slot: u64, generation: u64) -> SlotStamp {
        let nonce = if ours { self.nonce } else { self.their_nonce };
        SlotStamp { nonce, pair: pair as u64, slot, generation }
    }

    /// Writes the content of this generation into the first `slots` that each queue pair of this end sends from; `of`
    /// says of which slot's content.
    pub fn fill_out(&self, generation: u64, slots: u64, of: impl Fn(u64) -> u64) -> Result<(), Reason> {
        let mut bytes = vec![0; self.layout.stride as usize];
        for pair in 0..self.pairs.len() {
            for slot in 0..slots {
                self.stamp(true, pair, of(slot), generation).fill(&mut bytes);
                self.put(self.layout.at(pair, Side::Out, slot), &bytes)?;
            }
        }
        Ok(())
    }

    /// Marks everything that comes to this end as not come.
    pub fn poison_in(&self) -> Result<(), Reason> {
        let bytes = [POISON; PIECE];
        for pair in 0..self.pairs.len() {
            let (mut at, end) =
                (self.layout.at(pair, Side::In, 0), self.layout.at(pair, Side::In, 0) + self.layout.side());
            while at < end {
                let count = (end - at).min(PIECE as u64);
                self.put(at, &bytes[..count as usize])?;
                at += count;
            }
        }
        Ok(())
    }

    fn put(&self, at: u64, bytes: &[u8]) -> Result<(), Reason> {
        self.region.write(at as usize, bytes).map_err(during(&self.config.label(), "writing to its memory"))
    }

    /// The bytes of a slot that came to this end, behind the first `skip`.
    pub fn came(&self, pair: usize, slot: u64, skip: usize, bytes: usize) -> Result<Vec<u8>, Reason> {
        let mut found = vec![0; bytes];
        let at = self.layout.at(pair, Side::In, slot) as usize + skip;
        self.region.read(at, &mut found).map_err(during(&self.config.label(), "reading its memory"))?;
        Ok(found)
    }
}

impl Drop for RdmaEndpoint {
    fn drop(&mut self) {
        // All of them before the first is destroyed: over a dead path each of the others would go on sending again what
        // is outstanding, and where software plays the device, with the time that destroying takes.
        for pair in &self.pairs {
            let _ = pair.qp.fail();
        }
    }
}

/// The number of the first packet of a queue pair: 24 bits.
fn psn(nonce: u64, pair: usize) -> u32 {
    (mix(nonce ^ pair as u64) & 0xff_ffff) as u32
}

/// Pages of a part's parameters; those of benchmarks without the parameter are the system's own.
pub fn pages_of(params: &seatrial_model::Params) -> Result<Vec<Pages>, Reason> {
    match params.get(crate::PAGES.name) {
        Some(_) => crate::pages(params),
        None => Ok(vec![Pages::Base]),
    }
}

/// Pins the calling thread where the plan has placed it.
pub fn pin(config: &RdmaConfig, thread: usize) -> Result<(), Reason> {
    config.cpu(thread).map_or(Ok(()), crate::pin)
}

/// What a part tells the other: how each of its ports is reached, in their order.
pub fn connection_infos<'a>(endpoints: impl Iterator<Item = &'a RdmaEndpoint>) -> Vec<ConnectionInfo> {
    endpoints.map(RdmaEndpoint::connection_info).collect()
}

/// Connects the ports of the part of this index, one by one, with those of the other part of the case.
///
/// # Errors
/// When the other's offer cannot be parsed, or two ports cannot be connected.
pub fn connect_all<'a>(
    endpoints: impl ExactSizeIterator<Item = &'a mut RdmaEndpoint>,
    index: u32,
    peers: &[Offer],
) -> Result<(), Reason> {
    let theirs: Vec<ConnectionInfo> = Offer::of_other(peers, index)?;
    if theirs.len() != endpoints.len() {
        let text = format!("the peer has {} ports, not {}", theirs.len(), endpoints.len());
        return Err(Reason::new(Cause::Protocol, text));
    }
    endpoints.zip(&theirs).try_for_each(|(endpoint, theirs)| endpoint.connect(theirs))
}

/// For the record: what is known of each port, by itself where there is one.
pub fn facts<'a>(endpoints: impl Iterator<Item = &'a RdmaEndpoint>) -> serde_json::Value {
    let mut all: Vec<serde_json::Value> = endpoints.map(|endpoint| json!(endpoint.facts)).collect();
    if all.len() == 1 { all.swap_remove(0) } else { json!(all) }
}
