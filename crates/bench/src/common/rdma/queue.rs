//! Completion queues of a part, and waiting on them.

use std::sync::Arc;
use std::time::Duration;

use seatrial_sys::verbs::{Completion, CompletionChannel, CompletionQueue, Device, VerbsError};

use super::{Terms, preparing};
use crate::Error;

/// How long a wait for an event may last before stop is looked at.
const LOOK: Duration = Duration::from_millis(10);

/// Times a queue is asked in vain before the processor is offered to others: some microseconds. Where others wait for it,
/// such as the threads of a device that software plays, nothing would come before they have had it.
const SPINS: u32 = 256;

/// A completion queue, and what tells of its events where those are wanted.
#[derive(Clone)]
pub struct Queue {
    /// The queue.
    pub cq: Arc<CompletionQueue>,
    channel: Option<Arc<CompletionChannel>>,
}

/// The queues of what is sent and of what is received, one of each a thread.
///
/// # Errors
/// When the device has not got so many.
pub fn queues(terms: &Terms, device: &Arc<Device>) -> Result<(Vec<Queue>, Vec<Queue>), Error> {
    let label = terms.label();
    let of_thread = terms.queue_pairs.div_ceil(terms.threads);
    let failed = || preparing(&label, "making a completion queue");
    let queue = |depth: usize| -> Result<Queue, Error> {
        let depth = u32::try_from(depth).unwrap_or(u32::MAX);
        let channel = terms.event.then(|| CompletionChannel::new(device)).transpose().map_err(failed())?;
        let cq = match &channel {
            Some(channel) => CompletionQueue::with_channel(device, depth, channel, 0),
            None => CompletionQueue::new(device, depth),
        };
        Ok(Queue { cq: cq.map_err(failed())?, channel })
    };
    let all = |depth: usize| (0..terms.threads).map(|_| queue(depth)).collect::<Result<Vec<_>, _>>();
    Ok((all(of_thread * 2 * (terms.depth + 1))?, all(of_thread * terms.receives)?))
}

/// Asks a queue once; where it has nothing, sleeps until an event or offers the processor to others now and then.
/// `misses` counts how often it had nothing, from one call to the next.
///
/// # Errors
/// When the device fails.
#[inline]
pub fn wait(queue: &Queue, into: &mut [Completion], misses: &mut u32) -> Result<usize, VerbsError> {
    let mut count = queue.cq.poll(into)?;
    if count > 0 {
        *misses = 0;
        return Ok(count);
    }
    if let Some(channel) = &queue.channel {
        // What came between the poll and the arming raises no event.
        queue.cq.arm(false)?;
        count = queue.cq.poll(into)?;
        if count == 0 {
            channel.wait(LOOK)?;
            count = queue.cq.poll(into)?;
        }
    } else {
        *misses = misses.wrapping_add(1);
        if misses.is_multiple_of(SPINS) {
            std::thread::yield_now();
        }
    }
    Ok(count)
}
