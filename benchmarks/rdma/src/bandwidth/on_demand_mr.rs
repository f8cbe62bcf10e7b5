//! Memory that is registered for one message and given back after it, as a program without a cache of registrations
//! does.

use std::collections::VecDeque;
use std::sync::Arc;

use seatrial_model::{Cause, Reason};
use seatrial_sys::memory::{Mapping, Pages};
use seatrial_sys::verbs::{Access, MemoryRegion, SendList, VerbsError, Work};

use super::check;
use super::message::message;
use seatrial_bench::Held;
use seatrial_bench::verbs::{Pair, RdmaEndpoint};

/// The memory of one queue pair: as many pieces as messages may be under way.
pub struct OnDemandMr {
    bytes: u32,
    idle: Vec<Mapping>,
    /// In the order in which they were posted, which is that of their completions.
    busy: VecDeque<(SendList, Arc<MemoryRegion>)>,
}

impl OnDemandMr {
    /// Takes the memory for messages of so many bytes and fills it; nothing is registered yet.
    pub fn new(endpoint: &RdmaEndpoint, pair: &Pair, bytes: u32) -> Result<Self, Reason> {
        let node = endpoint.config.bindings.first().and_then(|binding| binding.memory);
        let stamp = endpoint.stamp(true, pair.number, 0, check::FIRST);
        // Small pages: one of 2 MiB for each message would be far more memory than the plan has left free.
        let piece = || -> Result<Mapping, Reason> {
            let held = Held::take(bytes as usize, &[Pages::Base], node)
                .map_err(|error| Reason::new(Cause::NoSpace, format!("memory for a message: {error}")))?;
            let mut map = held.map;
            stamp.fill(&mut map.as_mut_slice::<u8>()[..bytes as usize]);
            Ok(map)
        };
        let idle = (0..endpoint.config.depth).map(|_| piece()).collect::<Result<_, _>>()?;
        Ok(Self { bytes, idle, busy: VecDeque::with_capacity(endpoint.config.depth) })
    }

    /// Registers a piece and posts a message from it, or into it.
    pub fn post(&mut self, endpoint: &RdmaEndpoint, pair: &Pair, id: u64) -> Result<(), VerbsError> {
        let map =
            self.idle.pop().ok_or_else(|| broken("more messages are under way than there are pieces"))?;
        let region = Arc::new(MemoryRegion::register(endpoint.pd(), map, Access::default())?);
        let work = Work { id, signalled: true, ..message(endpoint, pair, self.bytes, &region, 0) };
        let mut list = SendList::new(&[work])?;
        pair.qp.post_send(&mut list, 0..1)?;
        self.busy.push_back((list, region));
        Ok(())
    }

    /// Gives back what the oldest so many messages were posted from.
    pub fn done(&mut self, messages: u64) -> Result<(), VerbsError> {
        for _ in 0..messages {
            let (list, region) = self.busy.pop_front().ok_or_else(|| broken("no message was under way"))?;
            drop(list);
            let region =
                Arc::into_inner(region).ok_or_else(|| broken("a message's memory is still in use"))?;
            self.idle.push(region.release()?.0);
        }
        Ok(())
    }
}

fn broken(why: &str) -> VerbsError {
    VerbsError::Config { why: why.to_owned() }
}
