//! State that the threads of an end share in a phase.

use std::sync::atomic::{AtomicU8, AtomicU64, AtomicUsize, Ordering};

const RUNNING: u8 = 0;
const ENDED: u8 = 1;
const HALTED: u8 = 2;

#[derive(Debug)]
pub struct Shared {
    state: AtomicU8,
    ended_ns: AtomicU64,
    sent: Vec<AtomicU64>,
    ready: AtomicUsize,
}

impl Shared {
    pub fn new(flows: usize) -> Self {
        Self {
            state: AtomicU8::new(RUNNING),
            ended_ns: AtomicU64::new(0),
            sent: (0..flows).map(|_| AtomicU64::new(0)).collect(),
            ready: AtomicUsize::new(0),
        }
    }

    pub fn is_ready(&self) {
        self.ready.fetch_add(1, Ordering::AcqRel);
    }

    pub fn ready(&self) -> usize {
        self.ready.load(Ordering::Acquire)
    }

    pub fn end(&self, sent: &[u64], now_ns: u64) {
        for (counter, sent) in self.sent.iter().zip(sent) {
            counter.store(*sent, Ordering::Relaxed);
        }
        self.ended_ns.store(now_ns, Ordering::Relaxed);
        // A thread that sees the state sees the counts.
        self.state.store(ENDED, Ordering::Release);
    }

    pub fn halt(&self) {
        self.state.store(HALTED, Ordering::Release);
    }

    pub fn is_halted(&self) -> bool {
        self.state.load(Ordering::Acquire) == HALTED
    }

    /// When the other end reported that it sends no more; `None` before.
    pub fn ended_ns(&self) -> Option<u64> {
        (self.state.load(Ordering::Acquire) == ENDED).then(|| self.ended_ns.load(Ordering::Relaxed))
    }

    /// Datagrams sent of a flow; 0 before the end.
    pub fn sent(&self, flow: usize) -> u64 {
        self.sent.get(flow).map_or(0, |sent| sent.load(Ordering::Relaxed))
    }
}
