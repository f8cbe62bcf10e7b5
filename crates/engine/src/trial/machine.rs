//! The trial as a state machine: notices in, commands out, without a clock and without waiting.
//!
//! Between two phases is a barrier: no part continues before all parts answered. After any failure, the trial kills
//! the remaining workers and waits, for a bounded time, until they are gone.

use seatrial_cluster::{Command, FromWorker, NodeIndex, Offers, Offset, ToWorker, WorkerEnd, WorkerId};
use seatrial_model::{Case, Cause, Nanos, PartRecord, Phase, Reason};

use super::Deadlines;
use super::worker::Worker;
use crate::together::Together;

/// Workers that hang in the same way and are named.
const NAMED: usize = 8;

#[derive(Clone, Debug, PartialEq)]
pub enum Action {
    Send(NodeIndex, Command),
    Entered(Phase),
}

#[derive(Debug)]
pub struct Trial {
    number: u32,
    workers: Vec<Worker>,
    /// Of `workers`: those that have not answered in this phase, and those that are not gone. A message of one of
    /// thousands of workers is not worth a look at all.
    open: usize,
    left: usize,
    has_failed: bool,
    together: Option<Together>,
    /// Whether the trial waits for [`Self::go`] before it warms up and before it measures: its case is a step of a
    /// pattern whose cases are measured at the same time.
    holds: bool,
    /// The phase to enter once the other trials of the group are there.
    held: Option<Phase>,
    stage: Stage,
    until: Nanos,
    allowed: Nanos,
    deadlines: Deadlines,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    In(Phase),
    /// All done, waiting for the workers to exit.
    Finishing,
    /// After a failure, waiting for the workers to be gone.
    Killing,
}

#[derive(Debug)]
pub struct TrialEnd {
    /// The reports of every part, complete or not.
    pub parts: Vec<PartRecord>,
    pub reason: Option<Reason>,
    /// The nodes that vanished during the trial, each once.
    pub lost: Vec<String>,
}

impl Trial {
    /// Starts a trial of `case` whose parts run as workers `first`, `first + 1`, … on `nodes` (by place); returns the
    /// commands.
    pub fn start(
        case: &Case,
        number: u32,
        first: WorkerId,
        nodes: &[NodeIndex],
        clocks: &[Option<Offset>],
        now: Nanos,
        deadlines: Deadlines,
    ) -> (Self, Vec<Action>) {
        let ids = (first.0..).map(WorkerId);
        let workers: Vec<_> = ids
            .zip(nodes)
            .zip(&case.places)
            .map(|((id, node), place)| Worker::new(id, *node, place.clone()))
            .collect();
        let mut actions = Vec::new();
        for worker in &workers {
            let (case, place) = (Box::new(case.for_part(&worker.place)), worker.place.index);
            let spawn = Command::Spawn { worker: worker.id, case, place, trial: number };
            actions.push(Action::Send(worker.node, spawn));
        }
        let stage = Stage::In(Phase::Prepare);
        let together = Together::new(nodes, clocks);
        let mut trial = Self {
            number,
            open: workers.len(),
            left: workers.len(),
            has_failed: false,
            workers,
            together,
            holds: case.origin.is_concurrent(),
            held: None,
            stage,
            until: now,
            allowed: Nanos(0),
            deadlines,
        };
        actions.extend(trial.enter(case, Phase::Prepare, now));
        (trial, actions)
    }

    pub fn held(&self) -> Option<Phase> {
        self.held
    }

    /// Time from an order to the start of measuring; `None` where parts begin on receipt of the order.
    pub fn lead(&self) -> Option<Nanos> {
        self.together.as_ref().map(Together::lead)
    }

    /// Lets the trial into its next phase; parts on several nodes begin to measure `at` that moment.
    pub fn go(&mut self, case: &Case, now: Nanos, at: Nanos) -> Vec<Action> {
        match self.held.take() {
            Some(Phase::Measure) => {
                self.begin(case, Phase::Measure, now);
                self.measure(case, now, at)
            }
            Some(phase) => self.enter(case, phase, now),
            None => Vec::new(),
        }
    }

    /// When [`Self::tick`] must be called at the latest.
    pub fn deadline(&self) -> Nanos {
        self.until
    }

    pub fn is_over(&self) -> bool {
        self.left == 0
    }

    pub fn said(&mut self, case: &Case, worker: WorkerId, message: FromWorker, now: Nanos) -> Vec<Action> {
        let stage = self.stage;
        if let Stage::In(phase) = stage {
            self.with(worker, |worker| worker.hear(phase, message));
        }
        self.proceed(case, now)
    }

    pub fn ended(&mut self, case: &Case, worker: WorkerId, end: WorkerEnd, now: Nanos) -> Vec<Action> {
        let phase = self.phase();
        self.with(worker, |worker| worker.end(phase, end));
        self.proceed(case, now)
    }

    /// A node is lost: its workers are gone, and a loss inside its own case speaks against it.
    pub fn lost(&mut self, case: &Case, node: NodeIndex, why: &str, now: Nanos) -> Vec<Action> {
        for worker in self.workers.iter_mut().filter(|worker| worker.node == node && !worker.gone) {
            worker.vanish(format!("the agent of {worker} was lost: {why}"));
        }
        self.count();
        self.proceed(case, now)
    }

    pub fn tick(&mut self, case: &Case, now: Nanos) -> Vec<Action> {
        if now < self.until {
            return Vec::new();
        }
        let (stage, allowed) = (self.stage, self.allowed);
        let unexplained = self.is_unexplained();
        for worker in self.workers.iter_mut().filter(|worker| !worker.gone) {
            match stage {
                Stage::In(phase) if !worker.answered => worker.overdue(phase, allowed),
                Stage::In(_) => {}
                Stage::Finishing => worker.give(Cause::Hang, format!("{worker} was done but did not exit")),
                // The agent does not even report an abandoned worker: nothing more will come.
                Stage::Killing if unexplained => {
                    worker.vanish(format!("the agent of {worker} does not answer any more"));
                }
                Stage::Killing => worker.gone = true,
            }
        }
        self.count();
        self.proceed(case, now)
    }

    pub fn cancel(&mut self, case: &Case, reason: &Reason, now: Nanos) -> Vec<Action> {
        for worker in &mut self.workers {
            worker.give(reason.cause, reason.text.clone());
        }
        self.count();
        self.proceed(case, now)
    }

    pub fn workers(&self) -> impl Iterator<Item = WorkerId> {
        self.workers.iter().map(|worker| worker.id)
    }

    /// The result of the trial; call once.
    pub fn end(&mut self) -> TrialEnd {
        let number = self.number;
        // The gravest of several reasons names the culprit: the others are often consequences, and the loss of a
        // partner always is.
        let reasons = self.workers.iter().filter_map(|worker| worker.reason.clone());
        let reason = reasons.min_by_key(|reason| match reason.cause {
            Cause::Vanished => 0,
            Cause::Crash => 1,
            Cause::Hang => 2,
            Cause::PartnerLost => 4,
            _ => 3,
        });
        let reason = reason.map(|reason| self.of_all_that_hang(reason));
        let gone = |worker: &&Worker| worker.reason.as_ref().is_some_and(|why| why.cause == Cause::Vanished);
        let mut lost: Vec<String> =
            self.workers.iter().filter(gone).map(|worker| worker.place.node.clone()).collect();
        lost.dedup();
        TrialEnd { lost, reason, parts: self.workers.drain(..).map(|worker| worker.record(number)).collect() }
    }

    /// The reason of a worker that hangs, with the names of those that hang in the same way: which of them the others wait for
    /// is not known.
    fn of_all_that_hang(&self, reason: Reason) -> Reason {
        let words = |worker: &Worker| -> Option<String> {
            let own = worker.reason.as_ref().filter(|own| own.cause == Cause::Hang)?;
            own.text.strip_prefix(&worker.to_string()).map(str::to_owned)
        };
        let first = self.workers.iter().find(|worker| worker.reason.as_ref() == Some(&reason));
        let Some(said) = first.and_then(words) else { return reason };
        let all: Vec<&Worker> =
            self.workers.iter().filter(|worker| words(worker).as_ref() == Some(&said)).collect();
        if all.len() < 2 {
            return reason;
        }
        let names: Vec<String> = all.iter().take(NAMED).map(ToString::to_string).collect();
        let more = match all.len() - names.len() {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        let text = format!("{}{more}{said}; they may wait for one of them", names.join(", "));
        Reason { text, ..reason }
    }

    /// Changes the worker `id`, if it is one of this trial: their ids are consecutive.
    fn with(&mut self, id: WorkerId, change: impl FnOnce(&mut Worker)) {
        let at = self.workers.first().and_then(|first| id.0.checked_sub(first.id.0));
        let Some(worker) = at.and_then(|at| self.workers.get_mut(usize::try_from(at).ok()?)) else { return };
        self.open -= usize::from(!worker.answered);
        self.left -= usize::from(!worker.gone);
        change(worker);
        self.open += usize::from(!worker.answered);
        self.left += usize::from(!worker.gone);
        self.has_failed |= worker.reason.is_some();
    }

    fn count(&mut self) {
        self.open = self.workers.iter().filter(|worker| !worker.answered).count();
        self.left = self.workers.iter().filter(|worker| !worker.gone).count();
        self.has_failed = self.workers.iter().any(|worker| worker.reason.is_some());
    }

    /// Whether all failures so far may be consequences of a lost node: the other workers only report a lost partner
    /// or a timeout. Of several workers one has answered: otherwise the loss may be on the controller's side.
    fn is_unexplained(&self) -> bool {
        let mut reasons = self.workers.iter().filter_map(|worker| worker.reason.as_ref());
        reasons.all(|reason| matches!(reason.cause, Cause::Hang | Cause::PartnerLost))
            && (self.workers.len() == 1 || self.workers.iter().any(|worker| worker.gone))
    }

    fn phase(&self) -> Option<Phase> {
        match self.stage {
            Stage::In(phase) => Some(phase),
            Stage::Finishing | Stage::Killing => None,
        }
    }

    /// Continues as far as the known answers allow.
    fn proceed(&mut self, case: &Case, now: Nanos) -> Vec<Action> {
        if self.has_failed {
            return self.kill(now);
        }
        match self.stage {
            Stage::In(phase) if self.open == 0 => match next(phase) {
                Some(phase @ (Phase::WarmUp | Phase::Measure)) if self.holds => {
                    self.held = Some(phase);
                    // The other trials of the group have deadlines.
                    self.until = Nanos(u64::MAX);
                    Vec::new()
                }
                Some(phase) => self.enter(case, phase, now),
                None => self.finish(now),
            },
            _ => Vec::new(),
        }
    }

    fn enter(&mut self, case: &Case, phase: Phase, now: Nanos) -> Vec<Action> {
        self.begin(case, phase, now);
        let message = match phase {
            Phase::Prepare => ToWorker::Prepare,
            Phase::Connect => return self.connect(),
            Phase::WarmUp => ToWorker::WarmUp { span: case.budget.warm_up },
            Phase::Measure => {
                let at = now.plus(self.lead().unwrap_or_default());
                return self.measure(case, now, at);
            }
            Phase::Verify => ToWorker::Verify,
        };
        self.tell_all(&message, Some(phase))
    }

    /// Each worker gets the offers that it asked for; those that need all share one list.
    fn connect(&mut self) -> Vec<Action> {
        let offers: Vec<_> = self.workers.iter().filter_map(|worker| worker.offer.clone()).collect();
        let all: Offers = offers.iter().cloned().collect();
        let of = |peers: &Vec<u32>| peers.iter().filter_map(|at| offers.get(*at as usize).cloned()).collect();
        let mut actions = vec![Action::Entered(Phase::Connect)];
        for worker in &mut self.workers {
            worker.answered = false;
            let offers = worker.peers.as_ref().map_or_else(|| all.clone(), of);
            let command = Command::Tell { worker: worker.id, message: ToWorker::Connect { offers } };
            actions.push(Action::Send(worker.node, command));
        }
        self.open = self.workers.len();
        actions
    }

    fn begin(&mut self, case: &Case, phase: Phase, now: Nanos) {
        self.stage = Stage::In(phase);
        self.allowed = self.deadlines.of(phase, &case.budget);
        self.until = now.plus(self.allowed);
    }

    /// Parts on several nodes begin `at` one moment, given to each on its own clock; parts on one node begin on
    /// receipt.
    fn measure(&mut self, case: &Case, now: Nanos, at: Nanos) -> Vec<Action> {
        let span = case.budget.measure;
        let Some(together) = &self.together else {
            return self.tell_all(&ToWorker::Measure { span, at: None }, Some(Phase::Measure));
        };
        self.until = self.until.plus(at.since(now));
        let mut actions = vec![Action::Entered(Phase::Measure)];
        for (worker, at) in self.workers.iter_mut().zip(together.moments(at)) {
            worker.answered = false;
            let message = ToWorker::Measure { span, at: Some(at) };
            actions.push(Action::Send(worker.node, Command::Tell { worker: worker.id, message }));
        }
        self.open = self.workers.len();
        actions
    }

    fn finish(&mut self, now: Nanos) -> Vec<Action> {
        self.stage = Stage::Finishing;
        self.until = now.plus(self.deadlines.grace);
        self.tell_all(&ToWorker::Finish, None)
    }

    fn kill(&mut self, now: Nanos) -> Vec<Action> {
        if self.stage == Stage::Killing {
            return Vec::new();
        }
        self.stage = Stage::Killing;
        self.held = None;
        self.until = now.plus(self.deadlines.kill);
        let left = self.workers.iter_mut().filter(|worker| !worker.gone);
        left.map(|worker| {
            worker.killed = true;
            Action::Send(worker.node, Command::Kill { worker: worker.id })
        })
        .collect()
    }

    fn tell_all(&mut self, message: &ToWorker, entered: Option<Phase>) -> Vec<Action> {
        let mut actions: Vec<_> = entered.map(Action::Entered).into_iter().collect();
        for worker in &mut self.workers {
            worker.answered = false;
            let command = Command::Tell { worker: worker.id, message: message.clone() };
            actions.push(Action::Send(worker.node, command));
        }
        self.open = self.workers.len();
        actions
    }
}

fn next(phase: Phase) -> Option<Phase> {
    match phase {
        Phase::Prepare => Some(Phase::Connect),
        Phase::Connect => Some(Phase::WarmUp),
        Phase::WarmUp => Some(Phase::Measure),
        Phase::Measure => Some(Phase::Verify),
        Phase::Verify => None,
    }
}
