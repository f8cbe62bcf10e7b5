//! Memory that is registered for one message and deregistered after it, as a program without a registration cache
//! does.

use std::collections::VecDeque;
use std::sync::Arc;

use seatrial_model::{Cause, Reason};
use seatrial_sys::memory::{Mapping, Pages};
use seatrial_sys::verbs::{Access, MemoryRegion, SendList, VerbsError};

use super::message::message;
use super::passes;
use seatrial_bench::Held;
use seatrial_bench::verbs::{Pair, RdmaEndpoint};

/// Memory of one queue pair: a piece for each message in flight.
pub struct OnDemandMr {
    bytes: u32,
    idle: Vec<Mapping>,
    /// In posting order, which is the order of completions.
    busy: VecDeque<(SendList, Arc<MemoryRegion>)>,
}

impl OnDemandMr {
    /// Allocates and fills memory for messages of `bytes`, without registering it.
    pub fn new(endpoint: &RdmaEndpoint, pair: &Pair, bytes: u32) -> Result<Self, Reason> {
        let node = endpoint.config.bindings.first().and_then(|binding| binding.memory);
        let stamp = endpoint.stamp(true, pair.number, 0, passes::FIRST);
        // Base pages: one page of 2 MiB per message would take far more memory than the plan allows.
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

    pub fn post(
        &mut self,
        endpoint: &RdmaEndpoint,
        pair: &Pair,
        post: impl FnOnce(&mut SendList) -> Result<(), VerbsError>,
    ) -> Result<(), VerbsError> {
        let map = self
            .idle
            .pop()
            .ok_or_else(|| broken("more messages are in flight than there are pieces of memory"))?;
        let region = Arc::new(MemoryRegion::register(endpoint.pd(), map, Access::default())?);
        let mut list = SendList::new(&[message(endpoint, pair, self.bytes, &region, 0)])?;
        post(&mut list)?;
        self.busy.push_back((list, region));
        Ok(())
    }

    pub fn done(&mut self, messages: u64) -> Result<(), VerbsError> {
        for _ in 0..messages {
            let (list, region) = self.busy.pop_front().ok_or_else(|| broken("no message was in flight"))?;
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
