//! Completion queues of a part, and waiting on them.

use seatrial_model::{Cause, Reason};
use std::sync::Arc;
use std::time::Duration;

use seatrial_sys::root::SysRoot;
use seatrial_sys::verbs::{CompletionChannel, CompletionQueue, RdmaDevice, VerbsError, WorkCompletion};

use super::{RdmaConfig, preparing};

/// How long a wait for an event may last before the stop signal is checked.
const POLL_INTERVAL: Duration = Duration::from_millis(10);

/// Looks in vain before the processor is offered to others, where the device is a card: tens to hundreds of microseconds.
/// What comes in time is not slowed down by a system call, and what else waits for the processor gets it in the end. A power
/// of two, as the other one: whether it is time is asked at every look.
const OF_A_CARD: u32 = 1 << 16;

/// The same where software plays the device: it needs the processor for its own threads, and nothing comes before it had it.
const OF_SOFTWARE: u32 = 256;

/// Looks in vain between two readings of the clock.
const CHECK_INTERVAL: u32 = 1024;

/// A completion queue, and what tells of its events where those are wanted.
#[derive(Clone)]
pub struct Queue {
    pub cq: Arc<CompletionQueue>,
    /// Looks in vain before the processor is offered to others, a power of two.
    pub patience: u32,
    channel: Option<Arc<CompletionChannel>>,
}

/// Looks in vain at a device of this name before the processor is offered to others. Soft RoCE names the interface that it
/// plays over (`parent`), and soft iWARP says what it is; cards do neither.
fn patience(root: &SysRoot, device: &str) -> u32 {
    let folder = format!("/sys/class/infiniband/{device}");
    let described = root.text(format!("{folder}/node_desc")).unwrap_or_default();
    let is_software = root.exists(format!("{folder}/parent"))
        || described == "rxe"
        || described.starts_with("Software iWARP");
    if is_software { OF_SOFTWARE } else { OF_A_CARD }
}

impl Queue {
    /// Whether who polls in vain looks at the clock: now and then, and every time where polling sleeps until an event.
    #[inline]
    pub fn is_check_due(&self, misses: u32) -> bool {
        self.channel.is_some() || misses.is_multiple_of(CHECK_INTERVAL)
    }
}

/// The queues of what is sent and of what is received, one of each a thread.
pub fn queues(config: &RdmaConfig, device: &Arc<RdmaDevice>) -> Result<(Vec<Queue>, Vec<Queue>), Reason> {
    let label = config.label();
    let of_thread = config.queue_pairs.div_ceil(config.threads);
    let failed = || preparing(&label, "making a completion queue");
    let patience = patience(&config.system.root, &config.device);
    let queue = |depth: usize| -> Result<Queue, Reason> {
        let depth = u32::try_from(depth).unwrap_or(u32::MAX);
        let channel = config.event.then(|| CompletionChannel::new(device)).transpose().map_err(failed())?;
        let cq = match &channel {
            Some(channel) => CompletionQueue::with_channel(device, depth, channel, 0),
            None => CompletionQueue::new(device, depth),
        };
        Ok(Queue { cq: cq.map_err(failed())?, patience, channel })
    };
    let (wanted, most) = (of_thread * 2 * (config.depth + 1), device.about().max_cq_depth as usize);
    if wanted > most {
        let text = format!(
            "{}: a completion queue of {wanted} entries is needed, and the device has {most} at most: lower -p depth=, or \
             measure with more threads=",
            config.label()
        );
        return Err(Reason::new(Cause::NoSpace, text));
    }
    let all = |depth: usize| (0..config.threads).map(|_| queue(depth)).collect::<Result<Vec<_>, _>>();
    Ok((all(wanted)?, all(of_thread * config.receives)?))
}

/// Asks a queue once; where it has nothing, sleeps until an event or offers the processor to others now and then.
/// `misses` counts how often it had nothing, from one call to the next.
#[inline]
pub fn wait(queue: &Queue, into: &mut [WorkCompletion], misses: &mut u32) -> Result<usize, VerbsError> {
    let mut count = queue.cq.poll(into)?;
    if count > 0 {
        *misses = 0;
        return Ok(count);
    }
    *misses = misses.wrapping_add(1);
    if let Some(channel) = &queue.channel {
        // A completion between poll and arming raises no event.
        queue.cq.arm(false)?;
        count = queue.cq.poll(into)?;
        if count == 0 {
            channel.wait(POLL_INTERVAL)?;
            count = queue.cq.poll(into)?;
        }
        if count > 0 {
            *misses = 0;
        }
    } else if *misses & (queue.patience - 1) == 0 {
        std::thread::yield_now();
    }
    Ok(count)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_card_is_waited_for_longer_than_what_software_plays() {
        let folder = tempfile::tempdir().expect("a folder");
        let class = folder.path().join("sys/class/infiniband");
        for (device, description) in
            [("mlx5_0", "n1 mlx5_0"), ("rxe0", "rxe"), ("siw0", "Software iWARP stack")]
        {
            std::fs::create_dir_all(class.join(device)).expect("made");
            std::fs::write(class.join(device).join("node_desc"), format!("{description}\n"))
                .expect("written");
        }
        std::fs::create_dir_all(class.join("rxe1")).expect("made");
        std::fs::write(class.join("rxe1/parent"), "eth0\n").expect("written");
        let root = SysRoot::at(folder.path());
        assert_eq!(patience(&root, "mlx5_0"), OF_A_CARD);
        for software in ["rxe0", "rxe1", "siw0"] {
            assert_eq!(patience(&root, software), OF_SOFTWARE, "{software}");
        }
    }
}
