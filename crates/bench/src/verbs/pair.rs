//! A queue pair of an end, and who it is connected with.

use std::sync::Arc;

use seatrial_sys::verbs::{AddressHandle, QueuePair, Remote};

/// A queue pair of this end.
#[derive(Clone)]
pub struct Pair {
    /// Its position among all.
    pub number: usize,
    pub qp: Arc<QueuePair>,
    /// Where datagrams go to: the peer's end, or a group that it is in.
    pub handle: Option<(Arc<AddressHandle>, u32)>,
    /// Who it is connected with.
    pub far: FarEnd,
}

/// The far end of a queue pair.
#[derive(Clone, Debug)]
pub struct FarEnd {
    /// The peer's memory; before the connection its address is 0.
    pub memory: Remote,
    /// What the peer's messages are made of.
    pub nonce: u64,
    /// The position of the queue pair among those of the peer.
    pub number: usize,
    /// The peer, where an end has several.
    pub peer: Option<String>,
    /// Whether data goes to the peer.
    pub is_target: bool,
    /// Whether data comes from the peer.
    pub is_source: bool,
}

impl Pair {
    pub(super) fn new(number: usize, qp: Arc<QueuePair>) -> Self {
        let memory = Remote { address: 0, key: 0 };
        let far = FarEnd { memory, nonce: 0, number, peer: None, is_target: true, is_source: true };
        Self { number, qp, handle: None, far }
    }

    /// What comes over it, in an error: the flow where an end has several peers.
    pub fn incoming(&self) -> String {
        match &self.far.peer {
            Some(peer) => format!("the flow from {peer}"),
            None => format!("queue pair {}", self.number),
        }
    }

    /// The device in an error of what is sent over it, with the flow where an end has several peers.
    pub fn outgoing(&self, label: &str) -> String {
        self.far.peer.as_ref().map_or_else(|| label.to_owned(), |peer| format!("{label}: flow to {peer}"))
    }
}
