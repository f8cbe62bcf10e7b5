//! Co-run groups in the event loop: starts their cases, continues from trial to trial, and makes their records.

use std::collections::BTreeMap;

use seatrial_bench::Benchmark;
use seatrial_cluster::{NodeIndex, WorkerId};
use seatrial_model::record::CaseRecord;
use seatrial_model::{Case, Cause, Event, Reason};

use super::event_loop::{EventLoop, RunningGroup};
use crate::co_run_group::{CaseKey, CaseState, CoRunGroup, GroupAction, GroupEvent, GroupKey};
use crate::disturbance::disturbance;
use crate::liveness::LivenessCheck;
use crate::running_case::RunningCase;
use crate::schedule::{QueuedCase, QueuedGroup};
use crate::together::Began;
use crate::trial::TrialEnd;

impl EventLoop<'_, '_> {
    /// Starts the next group on `host`, if it may start. A case that is left out frees its hosts for the next.
    pub fn start_on(&mut self, host: NodeIndex) {
        let mut free = vec![host];
        while let Some(host) = free.pop() {
            if self.is_stopping() {
                return;
            }
            let Some(QueuedGroup { members, hosts }) = self.schedule.take(host) else { continue };
            let wanted = self.wanted(members);
            if wanted.is_empty() {
                self.schedule.release(&hosts);
                free.extend(hosts);
            } else {
                self.start_group(wanted, hosts);
            }
        }
    }

    /// The `members` to be tried, with their benchmarks; the others are recorded with the reason.
    fn wanted(&mut self, members: Vec<QueuedCase>) -> Vec<(&'static Benchmark, QueuedCase)> {
        let mut wanted = Vec::new();
        for member in members {
            let id = &member.case.bench;
            let left_out = match self.runner.registry.find(id) {
                None => Reason::new(Cause::Missing, format!("this build has no benchmark {id}")),
                Some(bench) => match self.left_out(&member.case) {
                    Some(reason) => reason,
                    None => {
                        wanted.push((bench, member));
                        continue;
                    }
                },
            };
            self.keep(CaseRecord::without_numbers(&member.case, &left_out));
        }
        wanted
    }

    fn left_out(&self, case: &Case) -> Option<Reason> {
        (self.runner.leave_out)(case, &self.finished.records).or_else(|| self.settings.refusal(case))
    }

    fn start_group(&mut self, members: Vec<(&'static Benchmark, QueuedCase)>, hosts: Vec<NodeIndex>) {
        self.last_group += 1;
        let group = GroupKey(self.last_group);
        let keys = (0..members.len()).map(|number| CaseKey { group, number });
        let states = CoRunGroup::of(keys.clone());
        self.groups.insert(group, RunningGroup { states, cases: BTreeMap::new(), hosts });
        for (key, (bench, queued)) in keys.zip(members) {
            self.tell(Event::CaseStarted { case: queued.case.id.clone() });
            let check = LivenessCheck::before(&queued.case, bench, &self.finished.records);
            let is_at_once = queued.case.origin.is_concurrent();
            self.start_case(key, bench, queued, check.filter(|_| !is_at_once));
        }
    }

    fn start_case(
        &mut self,
        key: CaseKey,
        bench: &'static Benchmark,
        queued: QueuedCase,
        check: Option<LivenessCheck>,
    ) {
        let clocks = queued.nodes.iter().map(|node| self.runner.fleet.offset(*node)).collect();
        let first = self.new_workers(key, queued.nodes.len());
        let (now, deadlines) = (self.runner.fleet.now(), self.runner.deadlines);
        let (running, actions) = RunningCase::start(bench, queued, check, clocks, first, now, deadlines);
        if let Some(group) = self.groups.get_mut(&key.group) {
            group.cases.insert(key, running);
        }
        self.act(key, actions);
    }

    fn start_trial(&mut self, key: CaseKey) {
        let Some(places) = self.case_mut(key).map(|case| case.nodes.len()) else { return };
        let first = self.new_workers(key, places);
        let (now, deadlines) = (self.runner.fleet.now(), self.runner.deadlines);
        let actions = self.case_mut(key).map(|case| case.again(first, now, deadlines));
        self.act(key, actions.unwrap_or_default());
    }

    fn new_workers(&mut self, key: CaseKey, count: usize) -> WorkerId {
        let first = self.last_worker;
        self.last_worker += count as u64;
        self.workers.extend((first..self.last_worker).map(|id| (WorkerId(id), key)));
        WorkerId(first)
    }

    /// The workers of a case's trial are gone: the case waits for the others of its group, or ends with the trial.
    pub fn trial_over(&mut self, key: CaseKey) {
        let now = self.runner.fleet.now();
        let Some(running) = self.groups.get_mut(&key.group).and_then(|group| group.cases.get_mut(&key))
        else {
            return;
        };
        for worker in running.trial.workers() {
            self.workers.remove(&worker);
        }
        let end = running.trial.end();
        if let Some(check) = running.check.take() {
            return self.liveness_checked(key, check, end);
        }
        let (case, trial) = (running.case.id.clone(), running.trial_number());
        let ended = Event::TrialEnded { case, trial, parts: end.parts.clone() };
        let failed = running.end_trial(end, now);
        self.tell(ended);
        match failed {
            Some(record) => self.end_case(key, Some(record)),
            None => self.group_case(key, CaseState::BetweenTrials),
        }
    }

    /// Continues a case after its liveness check: recorded as hung when the check hung, as lost when a node of it is
    /// gone, and started otherwise. Any other failure of the check will happen to the case itself.
    fn liveness_checked(&mut self, key: CaseKey, check: LivenessCheck, end: TrialEnd) {
        let now = self.runner.fleet.now();
        let is_stopping = self.is_stopping();
        let Some(running) = self.case_mut(key) else { return };
        let record = match &end.reason {
            Some(reason) if reason.cause == Cause::Hang => Some(running.still_hung(&check, &end, now)),
            Some(reason)
                if matches!(reason.cause, Cause::Vanished | Cause::PartnerLost | Cause::Interrupted) =>
            {
                Some(CaseRecord { lost: end.lost, ..CaseRecord::without_numbers(&check.case, reason) })
            }
            _ if is_stopping => None,
            _ => {
                let queued = QueuedCase { case: check.case, nodes: running.nodes.clone() };
                let bench = running.bench;
                return self.start_case(key, bench, queued, None);
            }
        };
        self.end_case(key, record);
    }

    /// Takes a case out of its group. A stopped case gets no record: a resumed run measures it again.
    pub fn end_case(&mut self, key: CaseKey, record: Option<CaseRecord>) {
        if let Some(group) = self.groups.get_mut(&key.group) {
            group.cases.remove(&key);
        }
        if let Some(record) = record.filter(|_| !self.is_stopping()) {
            self.keep(record);
        }
        self.group_case(key, CaseState::Ended);
    }

    pub fn group_case(&mut self, key: CaseKey, state: CaseState) {
        self.group_event(key.group, GroupEvent::Case(key, state));
    }

    fn group_event(&mut self, key: GroupKey, event: GroupEvent) {
        let actions = self.groups.get_mut(&key).map(|group| group.states.handle(event));
        for action in actions.unwrap_or_default() {
            match action {
                GroupAction::Release(cases) => self.release(&cases),
                GroupAction::Decide => {
                    let event = match self.makes_another_trial(key) {
                        true => GroupEvent::AnotherTrial,
                        false => GroupEvent::NoFurtherTrial,
                    };
                    self.group_event(key, event);
                }
                GroupAction::StartTrials(cases) => cases.into_iter().for_each(|case| self.start_trial(case)),
                GroupAction::Record(cases) => self.record(&cases),
                GroupAction::Finish => self.finish_group(key),
            }
        }
    }

    /// Lets the trials of `cases` into their next phase. Measuring begins at one moment: late enough for the slowest
    /// path to any of their nodes.
    fn release(&mut self, cases: &[CaseKey]) {
        let now = self.runner.fleet.now();
        let leads = cases.iter().filter_map(|key| self.case_mut(*key)?.trial.lead());
        let at = now.plus(leads.max().unwrap_or_default());
        let concurrent_cases = u32::try_from(cases.len()).unwrap_or(u32::MAX);
        for key in cases {
            let Some(running) = self.case_mut(*key) else { continue };
            running.concurrent_cases = Some(concurrent_cases);
            let actions = running.trial.go(&running.case, now, at);
            self.act(*key, actions);
        }
    }

    /// Counts the trials that the cases of a group made together, and decides whether they make another.
    fn makes_another_trial(&mut self, key: GroupKey) -> bool {
        let now = self.runner.fleet.now();
        if self.is_stopping() {
            return false;
        }
        let Some(group) = self.groups.get_mut(&key) else { return false };
        // A disturbance of one case disturbed all: they share links.
        let disturbance = disturbance(group.cases.values().flat_map(RunningCase::completed_parts));
        let mut cases: Vec<&mut RunningCase> = group.cases.values_mut().collect();
        cases.iter_mut().for_each(|case| case.count(disturbance.as_deref()));
        self.runner.budget.another_trial(&mut cases, self.runner.site, now)
    }

    fn record(&mut self, cases: &[CaseKey]) {
        if self.is_stopping() {
            return;
        }
        let (now, site) = (self.runner.fleet.now(), self.runner.site);
        let mut began = Began::default();
        cases.iter().filter_map(|key| Some(self.case_mut(*key)?.began())).for_each(|own| began.join(own));
        let skew = began.skew();
        for key in cases {
            if let Some(record) = self.case_mut(*key).map(|case| case.over(now, site, skew.as_ref())) {
                self.keep(record);
            }
        }
    }

    /// Frees the hosts of a group whose cases all ended, and starts the next groups on them.
    fn finish_group(&mut self, key: GroupKey) {
        let hosts = self.groups.remove(&key).map(|group| group.hosts).unwrap_or_default();
        self.schedule.release(&hosts);
        for host in hosts {
            self.start_on(host);
        }
    }
}
