//! Some rounds at one pace, with all threads.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use seatrial_model::{Cause, Nanos, Params, Quantity, Reason, Sample, Unit, Value};
use seatrial_sys::clock;
use seatrial_sys::sched::cpu_ns;

use super::layout::Group;
use super::queue::{Next, Queue, Tally, span};
use super::scenario::Step;
use super::shared::Shared;
use seatrial_bench::{Latencies, Sink, Stop, ThreadTeam};

/// Time from the start command to the first block, in which all threads receive the command and sleep.
const HEAR: Nanos = Nanos::millis(20);

/// Longest sleep of a thread before it checks for the end of the phase; longer than any sleep at the scenario's own
/// pace, so it causes no extra wake-ups.
const LONGEST_SLEEP: Nanos = Nanos::millis(50);

#[derive(Clone, Copy, Debug)]
pub struct Pace {
    /// The scenario's round at its own pace.
    pub round: Nanos,
    pub pace: f64,
}

pub fn rounds_within(time: Duration, pace: &Pace) -> u64 {
    let time = Nanos::from(time).since(Nanos(LEAD.get() / 2));
    // One nanosecond more per round, because the whole is rounded up.
    (time.get() as f64 / (pace.round.get() as f64 / pace.pace + 1.0)) as u64
}

pub struct Window {
    pace: f64,
    start: Nanos,
    end: Nanos,
    tallies: Vec<Tally>,
    pub lateness: Latencies,
    /// CPU time of all threads, by node.
    ran: BTreeMap<u32, Nanos>,
}

impl Window {
    /// Runs `rounds` rounds with all threads; `None` when `stop` came in between.
    pub fn run(
        team: &ThreadTeam<'static, ()>,
        shared: &Arc<Shared>,
        pace: &Pace,
        rounds: u64,
        stop: &Stop,
    ) -> Result<Option<Self>, Reason> {
        let start = Nanos(clock::now_ns()).plus(HEAR);
        let span = span(rounds, pace.round, pace.pace);
        let periods: Vec<Nanos> = shared.scenario.steps.iter().map(Step::period).collect();
        let queue = |group: &Group| {
            let of = group.streams.iter().map(|stream| periods[shared.layout.streams[*stream].step]);
            Mutex::new(Queue::new(of, pace.pace, start, span))
        };
        let queues: Arc<Vec<_>> = Arc::new(shared.layout.groups.iter().map(queue).collect());
        let served = {
            let (shared, queues, stop) = (Arc::clone(shared), Arc::clone(&queues), stop.clone());
            team.all(move |thread, ()| {
                let group = shared.group_of(thread);
                let before = cpu_ns();
                let streams = &shared.layout.groups[group].streams;
                let done = serve(&shared, streams, &queues[group], &stop);
                Ok((group, done, Nanos(cpu_ns() - before)))
            })?
        };
        if served.iter().any(|(_, done, _)| !done) {
            return Ok(None);
        }
        let mut window = Self {
            pace: pace.pace,
            start,
            end: start.plus(span),
            tallies: vec![Tally::default(); shared.layout.streams.len()],
            lateness: Latencies::default(),
            ran: BTreeMap::new(),
        };
        for (number, (group, queue)) in shared.layout.groups.iter().zip(queues.iter()).enumerate() {
            let own = served.iter().filter(|(of, ..)| *of == number);
            window.add(group, lock(queue).clone(), Nanos(own.map(|(.., ran)| ran.get()).sum()));
        }
        Ok(Some(window))
    }

    fn add(&mut self, group: &Group, queue: Queue, ran: Nanos) {
        let (tallies, lateness) = queue.close();
        for (stream, tally) in group.streams.iter().zip(tallies) {
            self.tallies[*stream] = tally;
        }
        self.lateness.add(&lateness);
        let sum = self.ran.entry(group.node).or_default();
        *sum = sum.plus(ran);
    }

    pub fn late_percent(&self) -> f64 {
        let (due, late) =
            self.tallies.iter().fold((0, 0), |(due, late), tally| (due + tally.due, late + tally.late));
        100.0 * late as f64 / due.max(1) as f64
    }

    pub fn done_share(&self, shared: &Shared) -> f64 {
        let counted = |blocks: fn(&Tally) -> u64| -> f64 {
            let streams = shared.layout.streams.iter().zip(&self.tallies);
            streams
                .map(|(at, tally)| (shared.scenario.steps[at.step].counted_bytes() * blocks(tally)) as f64)
                .sum()
        };
        counted(|tally| tally.done) / counted(|tally| tally.due).max(1.0)
    }

    /// Emits samples per step and node (counted bytes done, blocks due, blocks late), and per node the mean number of
    /// CPUs in use.
    pub fn tell(&self, shared: &Shared, out: &mut dyn Sink) -> Result<(), Reason> {
        let mut cells: BTreeMap<(u32, usize), Tally> = BTreeMap::new();
        for (at, tally) in shared.layout.streams.iter().zip(&self.tallies) {
            let cell = cells.entry((at.node, at.step)).or_default();
            *cell = Tally {
                due: cell.due + tally.due,
                done: cell.done + tally.done,
                late: cell.late + tally.late,
            };
        }
        for ((node, step), tally) in cells {
            let step = &shared.scenario.steps[step];
            let mut at = self.at(node);
            at.set("step", step.id.as_str());
            let bytes = (tally.done * step.counted_bytes()) as f64;
            for (channel, amount, unit) in [
                ("done", bytes, Unit::Byte),
                ("due", tally.due as f64, Unit::Count),
                ("late", tally.late as f64, Unit::Count),
            ] {
                out.sample(self.sample(channel, at.clone(), amount, unit)?);
            }
        }
        for (node, ran) in &self.ran {
            let cpus = ran.as_secs() / self.end.since(self.start).as_secs();
            out.sample(self.sample("cpus", self.at(*node), cpus, Unit::Count)?);
        }
        Ok(())
    }

    fn at(&self, node: u32) -> Params {
        let mut at = Params::default();
        at.set("pace", Value::Number(self.pace));
        at.set("node", u64::from(node));
        at
    }

    fn sample(&self, channel: &str, at: Params, amount: f64, unit: Unit) -> Result<Sample, Reason> {
        let amount =
            Quantity::new(amount, unit).map_err(|error| Reason::new(Cause::Protocol, error.to_string()))?;
        Ok(Sample { channel: channel.to_owned(), at, start: self.start, end: self.end, amount })
    }
}

/// Works until nothing is left to do; false when `stop` came before.
fn serve(shared: &Shared, streams: &[usize], queue: &Mutex<Queue>, stop: &Stop) -> bool {
    let now = || Nanos(clock::now_ns());
    loop {
        let next = lock(queue).next(now());
        match next {
            Next::Over => return true,
            _ if stop.is_over() => return false,
            Next::Wait(until) => clock::sleep_until_ns(until.min(now().plus(LONGEST_SLEEP)).get()),
            Next::Run(index) => {
                shared.work(streams[index]);
                lock(queue).finished(index, now());
            }
        }
    }
}

fn lock(queue: &Mutex<Queue>) -> MutexGuard<'_, Queue> {
    queue.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Time of a phase besides its rounds: from the start command until all threads have it, and from the end until the
/// samples are emitted.
pub const LEAD: Nanos = Nanos::millis(100);
