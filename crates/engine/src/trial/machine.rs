//! The trial as a state machine: notices in, commands out, without a clock and without waiting.
//!
//! Between two phases is a barrier: no part continues before all parts answered. After any failure, the trial kills
//! the remaining workers and waits, for a bounded time, until they are gone.

use seatrial_cluster::{Command, FromWorker, NodeIndex, Offset, ToWorker, WorkerEnd, WorkerId};
use seatrial_model::{Case, Cause, Nanos, PartRecord, Phase, Reason};

use super::Deadlines;
use super::worker::Worker;
use crate::together::Together;

#[derive(Clone, Debug, PartialEq)]
pub enum Action {
    Send(NodeIndex, Command),
    Entered(Phase),
}

#[derive(Debug)]
pub struct Trial {
    number: u32,
    workers: Vec<Worker>,
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
        for (place, worker) in (0..).zip(&workers) {
            let case = Box::new(case.clone());
            actions.push(Action::Send(
                worker.node,
                Command::Spawn { worker: worker.id, case, place, trial: number },
            ));
        }
        let stage = Stage::In(Phase::Prepare);
        let together = Together::new(nodes, clocks);
        let mut trial = Self {
            number,
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
        self.workers.iter().all(|worker| worker.gone)
    }

    pub fn said(&mut self, case: &Case, worker: WorkerId, message: FromWorker, now: Nanos) -> Vec<Action> {
        let stage = self.stage;
        if let (Stage::In(phase), Some(worker)) = (stage, self.find(worker)) {
            worker.hear(phase, message);
        }
        self.proceed(case, now)
    }

    pub fn ended(&mut self, case: &Case, worker: WorkerId, end: WorkerEnd, now: Nanos) -> Vec<Action> {
        let phase = self.phase();
        if let Some(worker) = self.find(worker) {
            worker.end(phase, end);
        }
        self.proceed(case, now)
    }

    /// A node is lost: its workers are gone, and a loss inside its own case speaks against it.
    pub fn lost(&mut self, case: &Case, node: NodeIndex, why: &str, now: Nanos) -> Vec<Action> {
        for worker in self.workers.iter_mut().filter(|worker| worker.node == node && !worker.gone) {
            worker.vanish(format!("the agent of {worker} was lost: {why}"));
        }
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
        self.proceed(case, now)
    }

    pub fn cancel(&mut self, case: &Case, reason: &Reason, now: Nanos) -> Vec<Action> {
        for worker in &mut self.workers {
            worker.give(reason.cause, reason.text.clone());
        }
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
        let gone = |worker: &&Worker| worker.reason.as_ref().is_some_and(|why| why.cause == Cause::Vanished);
        let mut lost: Vec<String> =
            self.workers.iter().filter(gone).map(|worker| worker.place.node.clone()).collect();
        lost.dedup();
        TrialEnd { lost, reason, parts: self.workers.drain(..).map(|worker| worker.record(number)).collect() }
    }

    fn find(&mut self, id: WorkerId) -> Option<&mut Worker> {
        self.workers.iter_mut().find(|worker| worker.id == id)
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
        if self.workers.iter().any(|worker| worker.reason.is_some()) {
            return self.kill(now);
        }
        match self.stage {
            Stage::In(phase) if self.workers.iter().all(|worker| worker.answered) => match next(phase) {
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
        let offers: Vec<_> = self.workers.iter().filter_map(|worker| worker.offer.clone()).collect();
        let message = match phase {
            Phase::Prepare => ToWorker::Prepare,
            Phase::Connect => ToWorker::Connect { offers },
            Phase::WarmUp => ToWorker::WarmUp { span: case.budget.warm_up },
            Phase::Measure => {
                let at = now.plus(self.lead().unwrap_or_default());
                return self.measure(case, now, at);
            }
            Phase::Verify => ToWorker::Verify,
        };
        self.tell_all(&message, Some(phase))
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
