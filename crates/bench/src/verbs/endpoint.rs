//! One end, ready to work: the device, registered memory, completion queues, queue pairs, and their connection.

use std::sync::Arc;
use std::time::Duration;

use seatrial_model::{Cause, Reason};
use seatrial_sys::clock::now_ns;
use seatrial_sys::memory::Pages;
use seatrial_sys::verbs::{
    GidEntry, LinkLayer, MemoryRegion, PortAbout, ProtectionDomain, RdmaDevice, ReceiveList, ReceiveWork,
    Remote, VerbKind, VerbsError,
};
use serde_json::json;

use super::connection_info::GidInfo;
use super::group::{self, Groups};
use super::pair::Pair;
use super::pairs::queue_pair;
use super::pattern::{POISON, SlotStamp};
use super::queue::{Queue, queues};
use super::registered::registered;
use super::{ConnectionInfo, Layout, RdmaConfig, Side, during, preparing};
use crate::Offer;
use seatrial_stats::mix;

/// Bytes that memory is written or looked at in one go.
const PIECE: usize = 64 << 10;

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
    pub nonce: u64,
    pub facts: serde_json::Map<String, serde_json::Value>,
    /// How long it took to make memory of a message known, each time it was done.
    pub registrations: Vec<Duration>,
    /// Those that our queue pairs take messages of.
    pub(super) groups: Groups,
    pub(super) port: PortAbout,
    pub(super) device: Arc<RdmaDevice>,
    pub(super) pd: Arc<ProtectionDomain>,
    pub(super) gids: Vec<GidEntry>,
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
        if config.queue_pairs > device.about().max_qp as usize {
            let (wanted, there) = (config.queue_pairs, device.about().max_qp);
            let text =
                format!("{label}: {wanted} queue pairs are needed, and the device has {there} at most");
            return Err(Reason::new(Cause::NoSpace, text));
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
            endpoint.pairs.push(Pair::new(number, qp));
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
        ConnectionInfo {
            lid: self.port.lid,
            ethernet: self.port.link_layer == LinkLayer::Ethernet,
            mtu: self.port.active_mtu.bytes(),
            reads_in: self.device.about().max_reads_in,
            gids: self.gids.iter().map(GidInfo::from).collect(),
            nonce: self.nonce,
            address: here.address,
            key: here.key,
            pairs: self.pairs.iter().map(|pair| pair.qp.number()).collect(),
        }
    }

    /// The memory of the only peer.
    pub fn remote(&self) -> Remote {
        self.pairs.first().map_or(Remote { address: 0, key: 0 }, |pair| pair.far.memory)
    }

    /// The queue pairs that this thread serves.
    pub fn pairs_of(&self, thread: usize) -> impl Iterator<Item = &Pair> {
        self.pairs.iter().filter(move |pair| pair.number % self.config.threads == thread)
    }

    /// Those of them over which data goes to a peer.
    pub fn targets_of(&self, thread: usize) -> impl Iterator<Item = &Pair> {
        self.pairs_of(thread).filter(|pair| pair.far.is_target)
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
        let far = &self.pairs[pair].far;
        let (nonce, pair) = if ours { (self.nonce, pair) } else { (far.nonce, far.number) };
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
