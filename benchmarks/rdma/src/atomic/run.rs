//! Atomics on one word a queue pair, each result looked at as it comes.
//!
//! A queue pair does its atomics one after the other, in the order in which they were posted (InfiniBand Architecture
//! Specification, volume 1, "Atomic operations"). So each must find what the one before has left: a wrong result is either
//! an operation that was not atomic, or one that was lost or done twice.

use std::time::Instant;

use seatrial_model::{Cause, Reason};
use seatrial_sys::clock::now_ns;
use seatrial_sys::verbs::{Remote, SendList, Verb, VerbsError, Work, WorkCompletion};

use crate::bandwidth::counts::Tally;
use seatrial_bench::Stop;
use seatrial_bench::verbs::queue::Queue;
use seatrial_bench::verbs::{Pair, RdmaEndpoint, Side, drained, during, wait};

/// Turns between two looks at the stop.
const TURNS: u32 = 16;

/// What is done to a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    FetchAdd,
    CompareSwap,
}

/// A queue pair and its word.
struct AtomicQp {
    pair: Pair,
    /// One request for each place of a result.
    list: SendList,
    /// Operations posted since the word was 0.
    posted: u64,
    seen: u64,
}

/// The words of all queue pairs of a thread.
pub struct Words {
    operation: Operation,
    label: String,
    /// Where results are told.
    queue: Queue,
    depth: u64,
    qps: Vec<AtomicQp>,
    wrong: u64,
    first: Option<String>,
    completions: [WorkCompletion; 32],
    misses: u32,
}

impl Words {
    /// Those of the thread with this number of `endpoint`, which is connected.
    pub fn new(endpoint: &RdmaEndpoint, operation: Operation, thread: usize) -> Result<Self, Reason> {
        let label = endpoint.config.label();
        let depth = endpoint.config.depth;
        let qp = |(number, pair): (usize, &Pair)| -> Result<AtomicQp, VerbsError> {
            let word = endpoint.layout.at(pair.number, Side::In, 0);
            let remote = Remote { address: endpoint.remote.address + word, key: endpoint.remote.key };
            let results = endpoint.layout.at(pair.number, Side::Out, 0) as usize;
            let verb = match operation {
                Operation::FetchAdd => Verb::FetchAdd { add: 1 },
                Operation::CompareSwap => Verb::CompareSwap { compare: 0, swap: 1 },
            };
            let works: Vec<Work<'_>> = (0..depth)
                .map(|at| Work {
                    id: number as u64,
                    remote: Some(remote),
                    ..Work::new(verb, &endpoint.region, results + 8 * at, 8)
                })
                .collect();
            Ok(AtomicQp { pair: pair.clone(), list: SendList::new(&works)?, posted: 0, seen: 0 })
        };
        let own = endpoint.pairs.iter().filter(|pair| pair.number % endpoint.config.threads == thread);
        let qps = own.enumerate().map(qp).collect::<Result<Vec<_>, _>>();
        Ok(Self {
            operation,
            queue: endpoint.sends[thread].clone(),
            qps: qps.map_err(during(&label, "preparing requests"))?,
            label,
            depth: depth as u64,
            wrong: 0,
            first: None,
            completions: [WorkCompletion::default(); 32],
            misses: 0,
        })
    }

    /// Keeps all queue pairs full until `stop` or the clock reads `until`, and counts what was done.
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
                while self.qps[qp].posted - self.qps[qp].seen < self.depth {
                    self.post(qp)?;
                }
            }
            let count = self.reap(endpoint)?;
            if count > 0 {
                tally.add(0, count, now_ns());
            }
        }
        let deadline = drained();
        while self.qps.iter().any(|qp| qp.seen < qp.posted) {
            let count = self.reap(endpoint)?;
            if count > 0 {
                tally.add(0, count, now_ns());
            }
            if Instant::now() > deadline {
                return Err(self.silent());
            }
        }
        Ok(())
    }

    /// One operation on the first word: when it began and ended.
    pub fn one(&mut self, endpoint: &RdmaEndpoint) -> Result<(u64, u64), Reason> {
        let start = now_ns();
        self.post(0)?;
        let mut looks = 0_u32;
        while self.reap(endpoint)? == 0 {
            looks = looks.wrapping_add(1);
            // A look by events sleeps.
            if (endpoint.config.event || looks.is_multiple_of(4096)) && now_ns() - start > 5_000_000_000 {
                return Err(self.silent());
            }
        }
        Ok((start, now_ns()))
    }

    fn silent(&self) -> Reason {
        let text = format!("{}: no result came for 5 s: the peer or the path is silent", self.label);
        Reason::new(Cause::IoError, text)
    }

    #[inline]
    fn post(&mut self, number: usize) -> Result<(), Reason> {
        let qp = &mut self.qps[number];
        let at = (qp.posted % self.depth) as usize;
        if self.operation == Operation::CompareSwap {
            qp.list.set_operands(at, qp.posted, qp.posted + 1);
        }
        qp.posted += 1;
        let posted = qp.pair.qp.post_send(&mut qp.list, at..at + 1);
        posted.map_err(VerbsError::from).map_err(during(&self.label, "posting an atomic"))
    }

    /// Takes results and looks at them; how many there were.
    #[inline]
    fn reap(&mut self, endpoint: &RdmaEndpoint) -> Result<u64, Reason> {
        let count = wait(&self.queue, &mut self.completions, &mut self.misses);
        let count = count.map_err(during(&self.label, "taking results"))?;
        for completion in &self.completions[..count] {
            completion.check().map_err(during(&self.label, "an atomic"))?;
            let qp = &mut self.qps[completion.id() as usize];
            let at = qp.seen % self.depth;
            let place = endpoint.layout.at(qp.pair.number, Side::Out, 0) + 8 * at;
            let found = endpoint.region.word(place as usize);
            if found != qp.seen {
                self.wrong += 1;
                let text = format!(
                    "operation {} on the word of queue pair {} found {found}, not what the one before had left",
                    qp.seen, qp.pair.number
                );
                self.first.get_or_insert(text);
            }
            qp.seen += 1;
        }
        Ok(count as u64)
    }

    /// Operations done, wrong results, and the first of these.
    pub fn results(&self) -> (u64, u64, Option<&str>) {
        (self.qps.iter().map(|qp| qp.seen).sum(), self.wrong, self.first.as_deref())
    }
}
