//! The receiving threads: they count messages and keep receives posted, from the connection to the end of the trial,
//! so that messages between two phases find receives too.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use seatrial_model::{Cause, Reason};
use seatrial_sys::clock::now_ns;
use seatrial_sys::verbs::{
    GRH_BYTES, MemoryRegion, ReceiveList, ReceiveWork, Transport, VerbsError, WorkCompletion,
};

use super::counts::Tally;
use seatrial_bench::verbs::queue::Queue;
use seatrial_bench::verbs::{Layout, Pair, RdmaConfig, RdmaEndpoint, Side, during, preparing, wait};
use seatrial_bench::{Answers, ThreadSpec, ThreadTeam};

const LIST: usize = 16;

struct ReceiveQp {
    pair: Pair,
    list: ReceiveList,
    slot: u64,
    due: usize,
}

struct Work {
    config: RdmaConfig,
    thread: usize,
    layout: Layout,
    queue: Queue,
    qps: Vec<ReceiveQp>,
    tally: Arc<Tally>,
    over: Arc<AtomicBool>,
    /// Must stay registered while receives may write into it.
    _region: Arc<MemoryRegion>,
}

/// The threads, or their work before they are started.
pub struct ReceiverThreads {
    work: Vec<Work>,
    started: Option<(ThreadTeam<'static, Work>, Answers<()>)>,
    tallies: Vec<Arc<Tally>>,
    over: Arc<AtomicBool>,
}

impl ReceiverThreads {
    pub fn prepare(endpoint: &RdmaEndpoint) -> Result<Self, Reason> {
        let over = Arc::new(AtomicBool::new(false));
        let mut receivers = Self { work: Vec::new(), started: None, tallies: Vec::new(), over };
        for thread in 0..endpoint.config.threads {
            let tally = Arc::new(Tally::new(endpoint.config.sizes.len()));
            receivers.tallies.push(Arc::clone(&tally));
            let qps = endpoint.pairs_of(thread);
            let qps = qps.map(|pair| ReceiveQp::new(endpoint, pair)).collect::<Result<Vec<_>, VerbsError>>();
            let mut work = Work {
                config: endpoint.config.clone(),
                thread,
                layout: endpoint.layout,
                _region: Arc::clone(&endpoint.region),
                queue: endpoint.receives[thread].clone(),
                qps: qps.map_err(preparing(&endpoint.config.label(), "preparing receives"))?,
                tally,
                over: Arc::clone(&receivers.over),
            };
            work.post_all().map_err(preparing(&endpoint.config.label(), "posting receives"))?;
            receivers.work.push(work);
        }
        Ok(receivers)
    }

    pub fn start(&mut self) -> Result<(), Reason> {
        let threads = self.work.drain(..).map(|work| {
            let spec = ThreadSpec::new(format!("take-{}", work.thread), work.config.cpu(work.thread));
            (spec, move || Ok(work))
        });
        let team = ThreadTeam::start(threads, "-p threads=")?;
        let ended = team.begin(0..team.len(), |_, work: &mut Work| work.run());
        self.started = Some((team, ended));
        Ok(())
    }

    pub fn tallies(&self) -> &[Arc<Tally>] {
        &self.tallies
    }

    pub fn total(&self) -> u64 {
        self.tallies.iter().map(|tally| tally.total()).sum()
    }

    pub fn check(&self) -> Result<(), Reason> {
        self.started.as_ref().map_or(Ok(()), |(_, ended)| ended.check(Duration::ZERO))
    }
}

impl Drop for ReceiverThreads {
    fn drop(&mut self) {
        self.over.store(true, Ordering::Relaxed);
    }
}

impl ReceiveQp {
    fn new(endpoint: &RdmaEndpoint, pair: &Pair) -> Result<Self, VerbsError> {
        let at = endpoint.layout.at(pair.number, Side::In, 0) as usize;
        let (id, bytes) = ((pair.number / endpoint.config.threads) as u64, endpoint.layout.stride as u32);
        let work = || ReceiveWork { id, memory: &endpoint.region, offset: at, bytes };
        let list = ReceiveList::new(&(0..LIST).map(|_| work()).collect::<Vec<_>>())?;
        Ok(Self { pair: pair.clone(), list, slot: 0, due: 0 })
    }

    fn post(&mut self, layout: &Layout, count: usize) -> Result<(), VerbsError> {
        if layout.slots > 1 {
            for at in 0..count {
                self.list.aim(at, layout.at(self.pair.number, Side::In, self.slot) as usize);
                self.slot = (self.slot + 1) % layout.slots;
            }
        }
        self.pair.qp.post_receive(&mut self.list, 0..count)?;
        Ok(())
    }
}

impl Work {
    fn post_all(&mut self) -> Result<(), VerbsError> {
        for qp in &mut self.qps {
            let mut left = self.config.receives;
            while left > 0 {
                let count = left.min(LIST);
                qp.post(&self.layout, count)?;
                left -= count;
            }
        }
        Ok(())
    }

    fn run(&mut self) -> Result<(), Reason> {
        let label = self.config.label();
        let list = LIST.min(self.config.receives / 2).max(1);
        let header = if self.config.transport == Transport::Ud { GRH_BYTES as u64 } else { 0 };
        let mut counts = vec![0_u64; self.config.sizes.len()];
        let mut completions = [WorkCompletion::default(); 32];
        let mut misses = 0;
        while !self.over.load(Ordering::Relaxed) {
            let count = wait(&self.queue, &mut completions, &mut misses)
                .map_err(during(&label, "taking messages"))?;
            for completion in &completions[..count] {
                completion.check().map_err(during(&label, "taking messages"))?;
                let bytes = u64::from(completion.bytes()).saturating_sub(header);
                let Ok(size) = self.config.sizes.binary_search(&bytes) else {
                    let text = format!("{label}: a message of {bytes} B arrived, a size that was not sent");
                    return Err(Reason::new(Cause::CorruptData, text));
                };
                counts[size] += 1;
                let qp = &mut self.qps[completion.id() as usize];
                qp.due += 1;
                if qp.due >= list {
                    qp.due = 0;
                    qp.post(&self.layout, list).map_err(during(&label, "posting receives"))?;
                }
            }
            if count > 0 {
                let now = now_ns();
                for (size, count) in counts.iter_mut().enumerate().filter(|(_, count)| **count > 0) {
                    self.tally.add(size, std::mem::take(count), now);
                }
            }
        }
        Ok(())
    }
}
