//! The event loop: waits for an event or a deadline, passes it to its trial, and carries out the actions of the trial
//! and its group, until every case has a record.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap, HashMap};
use std::sync::atomic::Ordering;

use seatrial_cluster::{FleetEvent, NodeIndex, Report, WorkerId};
use seatrial_model::record::CaseRecord;
use seatrial_model::{Case, Cause, Event, Nanos, Reason};

use super::host_settings::{HostSettings, SettingsNews, pieces};
use super::notes::{retries, without_agent};
use super::{Finished, RunError, Runner};
use crate::co_run_group::{CaseKey, CaseState, CoRunGroup, GroupKey};
use crate::host;
use crate::makespan::makespan;
use crate::running_case::RunningCase;
use crate::schedule::{QueuedCase, QueuedGroup, Schedule};
use crate::study::Study;
use crate::trial::{Action, Trial};

/// The longest wait without a nearer deadline. Cancelling nudges the fleet, so that no polling disturbs the workers,
/// which may measure on the same processor.
const LONGEST_WAIT: Nanos = Nanos::secs(3600);

pub struct EventLoop<'r, 'a> {
    pub runner: &'r mut Runner<'a>,
    pub finished: Finished,
    /// The cases of the round that wait for their hosts.
    pub schedule: Schedule,
    pub groups: BTreeMap<GroupKey, RunningGroup>,
    /// The case of each worker that may still report.
    pub workers: HashMap<WorkerId, CaseKey>,
    /// Deadlines of trials. An entry has no effect if its trial has moved its deadline since.
    deadlines: BinaryHeap<Reverse<(Nanos, CaseKey)>>,
    /// Nodes without an agent, with the reason for cases that need them.
    lost: BTreeMap<NodeIndex, Reason>,
    hosts: Vec<NodeIndex>,
    pub settings: HostSettings,
    /// Numbers of groups and workers given out so far.
    pub last_group: u64,
    pub last_worker: u64,
    /// Why the run stops: an event could not be recorded. Only the killing continues.
    failure: Option<RunError>,
}

pub struct RunningGroup {
    pub states: CoRunGroup,
    pub cases: BTreeMap<CaseKey, RunningCase>,
    /// The hosts of all cases, taken until the last case ended.
    pub hosts: Vec<NodeIndex>,
}

impl<'r, 'a> EventLoop<'r, 'a> {
    pub fn new(runner: &'r mut Runner<'a>, done: Vec<CaseRecord>) -> Self {
        done.iter().for_each(|record| runner.budget.note(record));
        let agents = runner.fleet.agents();
        let settings = HostSettings::new(runner.settings_id);
        let hosts = host::of(agents.iter().map(|hello| &hello.machine), runner.share_hosts);
        Self {
            runner,
            finished: Finished { records: done, ..Finished::default() },
            schedule: Schedule::default(),
            groups: BTreeMap::new(),
            workers: HashMap::new(),
            deadlines: BinaryHeap::new(),
            lost: BTreeMap::new(),
            hosts,
            settings,
            last_group: 0,
            last_worker: 0,
            failure: None,
        }
    }

    pub fn run(mut self, mut study: Study<'_>) -> Result<Finished, RunError> {
        if let Some(text) = host::words(self.runner.fleet.agents(), &self.hosts) {
            self.tell(Event::Note { case: None, text });
        }
        let news = self.settings.go_on(&self.finished.records, self.runner.fleet);
        self.settings_changed(news);
        let mut is_done = false;
        while !is_done && !self.is_stopping() {
            let agents = self.runner.fleet.agents();
            let gone: BTreeSet<String> = self.lost.keys().map(|node| agents[node.0].node.clone()).collect();
            let more = study.next(&self.finished.records, &gone);
            is_done = more.is_nothing();
            more.settled.into_iter().for_each(|record| self.keep(record));
            if !more.cases.is_empty() {
                self.round(more.cases);
            }
        }
        let news = self.settings.take_back(self.runner.fleet);
        self.settings_changed(news);
        self.finished.cancelled = !is_done;
        self.failure.map_or(Ok(self.finished), Err)
    }

    /// Runs `cases` until each has its record, or, when the run is stopped, until all workers are gone.
    fn round(&mut self, mut cases: Vec<Case>) {
        if self.runner.no_probes {
            cases.iter_mut().for_each(Case::leave_out_probes);
        }
        let estimate = makespan(&cases, self.runner.site, self.runner.share_hosts, Case::estimate);
        self.tell(Event::RoundPlanned { cases: cases.clone(), estimate });
        if let Some(text) = retries(&cases) {
            self.tell(Event::Note { case: None, text });
        }
        for piece in pieces(&cases) {
            let news = self.settings.prepare(piece, self.runner.fleet);
            self.settings_changed(news);
            if !self.is_stopping() {
                self.run_cases(piece.to_vec());
            }
        }
    }

    fn settings_changed(&mut self, news: SettingsNews) {
        for event in news.lost {
            self.lost_node(event);
        }
        for text in news.not_restored {
            self.finished.not_restored.push(text.clone());
            self.tell(Event::Note { case: None, text });
        }
    }

    /// Runs `cases`, whose hosts have the settings that they need.
    fn run_cases(&mut self, cases: Vec<Case>) {
        let queued = self.with_nodes(cases);
        self.schedule = Schedule::new(QueuedGroup::of(queued, &self.hosts));
        for (node, reason) in self.lost.clone() {
            self.give_up_queued(node, &reason);
        }
        for host in self.schedule.hosts() {
            self.start_on(host);
        }
        while !self.groups.is_empty() {
            self.step();
        }
        let left = self.schedule.drain();
        // A stopped run leaves them to the resumed run.
        if !self.is_stopping() {
            for member in left.into_iter().flat_map(|group| group.members) {
                let text = "the case was never started, which is a defect of Seatrial";
                let reason = Reason::new(Cause::NotTried, text);
                self.keep(CaseRecord::without_numbers(&member.case, &reason));
            }
        }
    }

    /// `cases` with the nodes of their places; a case on a node without an agent gets its record.
    fn with_nodes(&mut self, cases: Vec<Case>) -> Vec<QueuedCase> {
        let agents = self.runner.fleet.agents().iter().enumerate();
        let nodes: HashMap<String, NodeIndex> =
            agents.map(|(at, hello)| (hello.node.clone(), NodeIndex(at))).collect();
        let mut queued = Vec::new();
        for case in cases {
            match case.places.iter().map(|place| nodes.get(&place.node).copied()).collect() {
                Some(nodes) if !case.places.is_empty() => queued.push(QueuedCase { case, nodes }),
                _ => self.keep(without_agent(&case, |node| nodes.contains_key(node))),
            }
        }
        queued
    }

    fn step(&mut self) {
        if self.is_stopping() {
            self.cancel_all();
        }
        let latest = self.runner.fleet.now().plus(LONGEST_WAIT);
        let deadline = self.deadlines.peek().map_or(latest, |Reverse((at, _))| latest.min(*at));
        match self.runner.fleet.next(deadline) {
            FleetEvent::From(_, Report::Said { worker, message }) => {
                self.advance_worker(worker, |trial, case, now| trial.said(case, worker, message, now));
            }
            FleetEvent::From(_, Report::Ended { worker, end }) => {
                self.advance_worker(worker, |trial, case, now| trial.ended(case, worker, end, now));
            }
            FleetEvent::From(
                _,
                Report::Hello(_) | Report::Pong { .. } | Report::Settings { .. } | Report::Counters { .. },
            )
            | FleetEvent::Quiet => {}
            event @ (FleetEvent::Lost(..) | FleetEvent::Recalled(..)) => self.lost_node(event),
        }
        // Deadlines hold also while agents report without pause.
        self.tick();
    }

    /// Passes a report of `worker` to its trial; a late report of a worker whose trial is over is dropped.
    fn advance_worker(
        &mut self,
        worker: WorkerId,
        input: impl FnOnce(&mut Trial, &Case, Nanos) -> Vec<Action>,
    ) {
        if let Some(key) = self.workers.get(&worker).copied() {
            self.advance(key, input);
        }
    }

    /// Passes an input to the running trial of a case, carries out its actions, and passes the case's state to the
    /// group.
    fn advance(&mut self, key: CaseKey, input: impl FnOnce(&mut Trial, &Case, Nanos) -> Vec<Action>) {
        let now = self.runner.fleet.now();
        let Some(running) = self.case_mut(key).filter(|case| !case.is_between_trials()) else { return };
        let actions = input(&mut running.trial, &running.case, now);
        let (is_over, is_held) = (running.trial.is_over(), running.trial.held().is_some());
        self.act(key, actions);
        match (is_over, is_held) {
            (true, _) => self.trial_over(key),
            (false, true) => self.group_case(key, CaseState::AtBarrier),
            (false, false) => self.group_case(key, CaseState::Running),
        }
    }

    /// Carries out `actions` of the trial of a case. A trial without actions keeps its deadline.
    pub fn act(&mut self, key: CaseKey, actions: Vec<Action>) {
        let Some(running) = self.case_mut(key).filter(|_| !actions.is_empty()) else { return };
        let (deadline, is_check) = (running.trial.deadline(), running.check.is_some());
        let (case, trial) = (running.case.id.clone(), running.trial_number());
        self.deadlines.push(Reverse((deadline, key)));
        for action in actions {
            match action {
                Action::Send(node, command) => self.runner.fleet.send(node, command),
                Action::Entered(_) if is_check => {}
                Action::Entered(phase) => self.tell(Event::PhaseEntered { case: case.clone(), trial, phase }),
            }
        }
    }

    fn tick(&mut self) {
        let now = self.runner.fleet.now();
        while let Some(Reverse((_, key))) = self.deadlines.peek().copied().filter(|next| next.0.0 <= now) {
            self.deadlines.pop();
            self.advance(key, Trial::tick);
        }
    }

    fn cancel_all(&mut self) {
        let reason = Reason::new(Cause::Interrupted, "the run was stopped during this case");
        for key in self.case_keys(|_| true) {
            self.advance(key, |trial, case, now| trial.cancel(case, &reason, now));
        }
    }

    /// Notes the loss of a node; other events are none of its business.
    fn lost_node(&mut self, event: FleetEvent) {
        match event {
            FleetEvent::Lost(node, why) => self.lose(node, &why, None),
            FleetEvent::Recalled(node, why) => {
                self.lose(node, &why, Some(&Reason::new(Cause::Interrupted, why.clone())));
            }
            FleetEvent::From(..) | FleetEvent::Quiet => {}
        }
    }

    /// A node was lost. If the user took it back its cases are `interrupted`; otherwise the loss speaks against the
    /// node.
    fn lose(&mut self, node: NodeIndex, why: &str, interrupted: Option<&Reason>) {
        let name = self.runner.fleet.agents()[node.0].node.clone();
        let reason = |cause, when: &str| {
            let text = format!("the agent of {name} was lost {when}: {why}");
            interrupted.cloned().unwrap_or_else(|| Reason::new(cause, text))
        };
        let before = reason(Cause::NeverReached, "before this case");
        if interrupted.is_some() && !self.lost.values().any(|known| *known == before) {
            self.tell(Event::Note { case: None, text: why.to_owned() });
        }
        self.give_up_queued(node, &before);
        // First the cases between two trials: when these end, nothing may start on the node again.
        let vanished = reason(Cause::Vanished, "between two trials");
        for key in self.case_keys(|case| case.is_between_trials() && case.nodes.contains(&node)) {
            let now = self.runner.fleet.now();
            let record = self.case_mut(key).and_then(|case| case.lost_between_trials(&name, &vanished, now));
            self.end_case(key, record);
        }
        for key in self.case_keys(|case| case.nodes.contains(&node)) {
            self.advance(key, |trial, case, now| {
                let mut actions = interrupted.map_or_else(Vec::new, |reason| trial.cancel(case, reason, now));
                actions.extend(trial.lost(case, node, why, now));
                actions
            });
        }
        self.lost.insert(node, before);
        self.start_what_waited();
    }

    /// Starts what waited behind a case of a lost node, once every loss that the fleet knows of is noted.
    fn start_what_waited(&mut self) {
        let mut nodes = (0..self.runner.fleet.agents().len()).map(NodeIndex);
        if nodes.all(|node| self.lost.contains_key(&node) || !self.runner.fleet.is_gone(node)) {
            for host in self.schedule.hosts() {
                self.start_on(host);
            }
        }
    }

    fn give_up_queued(&mut self, node: NodeIndex, reason: &Reason) {
        let name = self.runner.fleet.agents()[node.0].node.clone();
        for QueuedCase { case, .. } in self.schedule.give_up(node) {
            self.keep(CaseRecord { lost: vec![name.clone()], ..CaseRecord::without_numbers(&case, reason) });
        }
    }

    pub fn case_mut(&mut self, key: CaseKey) -> Option<&mut RunningCase> {
        self.groups.get_mut(&key.group)?.cases.get_mut(&key)
    }

    fn case_keys(&self, wanted: impl Fn(&RunningCase) -> bool) -> Vec<CaseKey> {
        let cases = self.groups.values().flat_map(|group| &group.cases);
        cases.filter(|(_, case)| wanted(case)).map(|(key, _)| *key).collect()
    }

    pub fn keep(&mut self, record: CaseRecord) {
        self.runner.budget.note(&record);
        self.finished.records.push(record.clone());
        self.tell(Event::CaseEnded { record: Box::new(record) });
    }

    /// Passes an event to the watcher; after an event that could not be recorded, no more.
    pub fn tell(&mut self, event: Event) {
        if self.failure.is_none() {
            self.failure = (self.runner.watch)(event).map_err(RunError::Watch).err();
        }
    }

    pub fn is_stopping(&self) -> bool {
        self.failure.is_some() || self.runner.cancel.load(Ordering::Relaxed)
    }
}
