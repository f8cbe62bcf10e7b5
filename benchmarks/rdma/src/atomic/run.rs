//! Atomics on the words of each queue pair in turn, with a check of each result.
//!
//! A queue pair executes its atomics in posting order (InfiniBand Architecture Specification, volume 1, "Atomic
//! operations"). So each must return what the previous one on its word has left: a wrong result means an operation that
//! was not atomic, was lost, or was executed twice.

use seatrial_model::Reason;
use seatrial_sys::clock::now_ns;
use seatrial_sys::tsc::FastClock;
use seatrial_sys::verbs::{Remote, SendList, Verb, VerbsError, Work};

use crate::bandwidth::counts::Tally;
use seatrial_bench::Stop;
use seatrial_bench::verbs::{Pair, RdmaEndpoint, SendQueue, Side, during};

/// Bytes of a word.
pub const WORD: u64 = 8;

const TURNS: u32 = 16;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    FetchAdd,
    CompareSwap,
}

struct AtomicQp {
    number: usize,
    list: SendList,
    /// Address of the first word.
    remote: u64,
    /// Operations posted since all words were 0.
    posted: u64,
    seen: u64,
}

/// Offset of the result of the operation in this place of the queue.
fn result(endpoint: &RdmaEndpoint, pair: usize, at: u64) -> usize {
    (endpoint.layout.at(pair, Side::Out, 0) + WORD * at) as usize
}

pub struct Words {
    operation: Operation,
    label: String,
    queue: SendQueue,
    depth: u64,
    words: u64,
    qps: Vec<AtomicQp>,
    wrong: u64,
    first: Option<String>,
}

impl Words {
    pub fn new(endpoint: &RdmaEndpoint, operation: Operation, thread: usize) -> Result<Self, Reason> {
        let label = endpoint.config.label();
        let depth = endpoint.config.depth;
        let qp = |pair: &Pair| -> Result<AtomicQp, VerbsError> {
            let word = endpoint.layout.at(pair.number, Side::In, 0);
            let memory = pair.far.memory;
            let remote = Remote { address: memory.address + word, key: memory.key };
            let verb = match operation {
                Operation::FetchAdd => Verb::FetchAdd { add: 1 },
                Operation::CompareSwap => Verb::CompareSwap { compare: 0, swap: 1 },
            };
            let works: Vec<Work<'_>> = (0..depth as u64)
                .map(|at| Work {
                    remote: Some(remote),
                    ..Work::new(verb, &endpoint.region, result(endpoint, pair.number, at), WORD as u32)
                })
                .collect();
            let list = SendList::new(&works)?;
            Ok(AtomicQp { number: pair.number, list, remote: remote.address, posted: 0, seen: 0 })
        };
        let qps = endpoint.pairs_of(thread).map(qp).collect::<Result<Vec<_>, _>>();
        Ok(Self {
            operation,
            queue: SendQueue::new(endpoint, thread, endpoint.config.moderation(WORD) as u64, "result"),
            qps: qps.map_err(during(&label, "preparing requests"))?,
            label,
            depth: depth as u64,
            words: endpoint.config.words,
            wrong: 0,
            first: None,
        })
    }

    /// Runs all queue pairs at full depth until `stop` or the clock reaches `until`, and counts operations.
    pub fn many(
        &mut self,
        endpoint: &RdmaEndpoint,
        stop: &Stop,
        until: u64,
        tally: &Tally,
    ) -> Result<(), Reason> {
        let mut turn = 0_u32;
        loop {
            turn = turn.wrapping_add(1);
            if turn.is_multiple_of(TURNS) && (stop.is_over() || now_ns() >= until) {
                break;
            }
            for qp in 0..self.qps.len() {
                while self.queue.room(qp) > 0 {
                    self.post(endpoint, qp, false)?;
                }
            }
            self.tallied(endpoint, tally)?;
        }
        for qp in 0..self.qps.len() {
            // One more, whose completion covers all before it.
            while self.queue.ends_unsignalled(qp) {
                match self.queue.room(qp) {
                    0 => self.tallied(endpoint, tally)?,
                    _ => self.post(endpoint, qp, true)?,
                }
            }
        }
        while !self.queue.is_idle() {
            self.tallied(endpoint, tally)?;
        }
        Ok(())
    }

    #[inline]
    fn tallied(&mut self, endpoint: &RdmaEndpoint, tally: &Tally) -> Result<(), Reason> {
        let count = self.wait(endpoint, || ())?;
        if count > 0 {
            tally.add(0, count, now_ns());
        }
        Ok(())
    }

    pub fn one(&mut self, endpoint: &RdmaEndpoint, clock: &FastClock) -> Result<(u64, u64), Reason> {
        let (start, mut end) = (clock.start_ns(), None);
        self.post(endpoint, 0, true)?;
        // Before the result is checked.
        while self.wait(endpoint, || end = Some(clock.end_ns()))? == 0 {}
        Ok((start, end.unwrap_or(start)))
    }

    #[inline]
    fn post(&mut self, endpoint: &RdmaEndpoint, number: usize, signalled: bool) -> Result<(), Reason> {
        let qp = &mut self.qps[number];
        let at = (qp.posted % self.depth) as usize;
        let (round, word) = (qp.posted / self.words, qp.posted % self.words);
        if self.words > 1 {
            qp.list.aim(at, result(endpoint, qp.number, at as u64), qp.remote + WORD * word);
        }
        if self.operation == Operation::CompareSwap {
            qp.list.set_operands(at, round, round + 1);
        }
        qp.posted += 1;
        self.queue.add(number, &mut qp.list, at, signalled);
        self.queue.post(number, &mut qp.list, at..at + 1).map_err(during(&self.label, "posting an atomic"))
    }

    /// Polls completions, calls `at` for each, and checks the results; returns their number.
    #[inline]
    fn wait(&mut self, endpoint: &RdmaEndpoint, mut at: impl FnMut()) -> Result<u64, Reason> {
        let Self { queue, qps, depth, words, wrong, first, .. } = self;
        queue.wait("an atomic", |qp, completed| {
            at();
            let qp = &mut qps[qp];
            for _ in 0..completed {
                let found = endpoint.region.word(result(endpoint, qp.number, qp.seen % *depth));
                let (round, word) = (qp.seen / *words, qp.seen % *words);
                if found != round {
                    *wrong += 1;
                    let text = format!(
                        "operation {round} on word {word} of queue pair {} found {found}, not the value of the previous \
                         operation",
                        qp.number
                    );
                    first.get_or_insert(text);
                }
                qp.seen += 1;
            }
            Ok(())
        })
    }

    pub fn results(&self) -> (u64, u64, Option<&str>) {
        (self.qps.iter().map(|qp| qp.seen).sum(), self.wrong, self.first.as_deref())
    }
}
