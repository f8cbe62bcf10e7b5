//! Cases that are measured at the same time: they start as one, begin every trial's warm-up and measuring together, and
//! are over together.

use std::cmp::Reverse;

use seatrial_cluster::NodeIndex;
use seatrial_model::record::CaseRecord;
use seatrial_model::{Case, Cause, Nanos, Reason};

use super::{RunError, Runner};
use crate::budget::Standing;
use crate::disturbance::disturbance;
use crate::further::Further;
use crate::placement;
use crate::quarantine::LivenessCheck;
use crate::round::{BetweenTrials, CoRun, Round};
use crate::running_case::RunningCase;
use crate::schedule::{QueuedCase, QueuedGroup};
use crate::together::Began;

/// `members` as they are started: each by itself, or with those that it is to share links with. A group waits where its
/// first case stands.
pub(super) fn waiting(members: Vec<QueuedCase>, round: &Round) -> Vec<QueuedGroup> {
    let mut waiting: Vec<QueuedGroup> = Vec::new();
    let mut places = std::collections::HashMap::new();
    for member in members {
        let place = match placement::co_run_key(&member.case) {
            Some(co_run) => *places.entry(co_run).or_insert(waiting.len()),
            None => waiting.len(),
        };
        if place == waiting.len() {
            waiting.push(QueuedGroup { members: Vec::new(), hosts: Vec::new() });
        }
        waiting[place].hosts.extend(round.hosts_of(&member.nodes));
        waiting[place].members.push(member);
    }
    waiting
}

/// Counts the trials that came to their end together. What disturbed one disturbed all: they share links.
fn count(between_trials: Vec<BetweenTrials>) -> Vec<(u64, RunningCase)> {
    let why = between_trials.iter().find_map(|between_trials| disturbance(&between_trials.end.parts));
    let mut members = Vec::new();
    for BetweenTrials { key, mut active, end } in between_trials {
        active.count(end, why.as_deref());
        members.push((key, active));
    }
    members
}

impl Runner<'_> {
    /// Starts what is next on `host`, if it may. What is left out frees its hosts for what comes behind it.
    pub(super) fn start_on(
        &mut self,
        round: &mut Round,
        host: NodeIndex,
        finished: &mut super::Finished,
    ) -> Result<(), RunError> {
        let mut free = vec![host];
        while let Some(host) = free.pop() {
            if self.is_stopping(round) {
                return Ok(());
            }
            let Some(QueuedGroup { members, hosts }) = round.schedule.take(host) else { continue };
            let members = self.wanted(members, finished)?;
            if members.is_empty() {
                round.schedule.release(&hosts);
                free.extend(hosts);
                continue;
            }
            let number = round.new_key();
            let at_once = members.iter().any(|member| member.case.origin.step.is_some());
            round.co_runs.insert(number, CoRun { at_once, hosts, ..CoRun::default() });
            for QueuedCase { case, nodes } in members {
                self.start(round, number, case, nodes, finished)?;
            }
            free.extend(self.finish_co_run(round, number));
        }
        Ok(())
    }

    /// Those of `members` that are to be tried; the others are recorded with the reason why not.
    fn wanted(
        &mut self,
        members: Vec<QueuedCase>,
        finished: &mut super::Finished,
    ) -> Result<Vec<QueuedCase>, RunError> {
        let mut wanted = Vec::new();
        for member in members {
            let missing = self.registry.find(&member.case.bench).is_none().then(|| {
                Reason::new(Cause::Missing, format!("this build has no benchmark {}", member.case.bench))
            });
            match missing.or_else(|| (self.leave_out)(&member.case, &finished.records)) {
                Some(reason) => self.keep(CaseRecord::without_numbers(&member.case, &reason), finished)?,
                None => wanted.push(member),
            }
        }
        Ok(wanted)
    }

    fn start(
        &mut self,
        round: &mut Round,
        number: u64,
        case: Case,
        nodes: Vec<NodeIndex>,
        finished: &super::Finished,
    ) -> Result<(), RunError> {
        let Some(bench) = self.registry.find(&case.bench) else { return Ok(()) };
        self.tell(&seatrial_model::Event::CaseStarted { case: case.id.clone() })?;
        let is_at_once = case.origin.step.is_some();
        let check = LivenessCheck::before(&case, bench, &finished.records).filter(|_| !is_at_once);
        self.begin(round, number, case, nodes, check)
    }

    /// Starts the first trial of a case, or the look that it is to be preceded by.
    pub(super) fn begin(
        &mut self,
        round: &mut Round,
        number: u64,
        case: Case,
        nodes: Vec<NodeIndex>,
        check: Option<LivenessCheck>,
    ) -> Result<(), RunError> {
        let Some(bench) = self.registry.find(&case.bench) else { return Ok(()) };
        let (case, deadlines) = match &check {
            Some(check) => (check.sent(), LivenessCheck::deadlines(self.deadlines)),
            None => (case, self.deadlines),
        };
        let first = round.new_workers(nodes.len());
        let now = self.fleet.now();
        let clocks = nodes.iter().map(|node| self.fleet.offset(*node)).collect();
        let (mut active, actions) = RunningCase::start(bench, case, nodes, clocks, first, now, deadlines);
        (active.co_run, active.check) = (number, check);
        let key = round.new_key();
        round.own(first, active.nodes.len(), key);
        self.follow(round, key, active, actions, number)
    }

    /// Puts a case whose trial was started where its trial is watched.
    fn follow(
        &mut self,
        round: &mut Round,
        key: u64,
        mut active: RunningCase,
        actions: Vec<crate::trial::Action>,
        number: u64,
    ) -> Result<(), RunError> {
        if let Some(co_run) = round.co_runs.get_mut(&number) {
            co_run.running.insert(key);
            if co_run.at_once {
                active.trial.hold();
            }
        }
        round.deadlines.push(Reverse((active.trial.deadline(), key)));
        round.active.insert(key, active);
        self.act(round, key, actions)
    }

    /// Goes on with a group after something happened to one of its cases.
    pub(super) fn advance(
        &mut self,
        round: &mut Round,
        number: u64,
        now: Nanos,
        finished: &mut super::Finished,
    ) -> Result<(), RunError> {
        if round.is_held(number) {
            return self.release_barrier(round, number, now);
        }
        let Some(co_run) = round.co_runs.get_mut(&number).filter(|co_run| co_run.running.is_empty()) else {
            return Ok(());
        };
        let between_trials = std::mem::take(&mut co_run.between_trials);
        let mut members = count(between_trials);
        if self.is_stopping(round) {
            members.clear();
        }
        if self.goes_on(&mut members, now) {
            for (key, mut active) in members {
                let first = round.new_workers(active.nodes.len());
                let actions = active.again(first, now, self.deadlines);
                round.own(first, active.nodes.len(), key);
                self.follow(round, key, active, actions, number)?;
            }
            return Ok(());
        }
        let hosts = self.finish_co_run(round, number);
        let mut began = Began::default();
        members.iter().for_each(|(_, active)| began.join(active.began()));
        let skew = began.skew();
        let records: Vec<CaseRecord> =
            members.into_iter().map(|(_, mut active)| active.over(now, self.site, skew.as_ref())).collect();
        for record in records {
            self.keep(record, finished)?;
        }
        for host in hosts {
            self.start_on(round, host, finished)?;
        }
        Ok(())
    }

    /// Whether the cases of a group make another trial: one of them wants it, and there is time for it. They note what they
    /// go without.
    fn goes_on(&self, members: &mut [(u64, RunningCase)], now: Nanos) -> bool {
        for further in [Further::Planned, Further::Repeat, Further::Precision] {
            let asking: Vec<&RunningCase> =
                members.iter().map(|(_, active)| active).filter(|active| active.wants(further)).collect();
            if asking.is_empty() {
                continue;
            }
            if self.budget.allows(further, || self.standing(&asking), members, now) {
                if further == Further::Repeat {
                    members.iter_mut().for_each(|(_, active)| active.leave_out_disturbed());
                }
                return true;
            }
            for (_, active) in members.iter_mut().filter(|(_, active)| active.wants(further)) {
                let nodes = active.case.nodes.clone();
                active.goes_without(further, |not_made| self.budget.told(not_made, &nodes));
            }
        }
        false
    }

    /// How the criteria of cases stand with their trials so far: of the one that depends most on more of them.
    fn standing(&self, asking: &[&RunningCase]) -> Standing {
        let demand = self.budget.demand;
        let of = |active: &&&RunningCase| match active.so_far(self.site) {
            _ if !demand.is_judged(&active.case) => Standing::NotJudged,
            Some(record) => demand.standing(&record),
            // Without a number there is no verdict yet.
            None => Standing::Open,
        };
        asking.iter().map(|active| of(&active)).max().unwrap_or(Standing::NotJudged)
    }

    /// Lets all trials of a group into the phase that they wait for. Measuring begins at one moment: as late as the slowest
    /// way to any of their nodes wants it.
    fn release_barrier(&mut self, round: &mut Round, number: u64, now: Nanos) -> Result<(), RunError> {
        let keys: Vec<u64> = round.co_runs.get(&number).map_or(Vec::new(), |co_run| {
            // In the order in which they were started.
            co_run.running.iter().copied().collect()
        });
        let leads = keys.iter().filter_map(|key| round.active.get(key)?.trial.lead());
        let at = now.plus(leads.max().unwrap_or_default());
        let concurrent_cases = u32::try_from(keys.len()).unwrap_or(u32::MAX);
        for key in keys {
            let Some(active) = round.active.get_mut(&key) else { continue };
            active.concurrent_cases = Some(concurrent_cases);
            let actions = active.trial.go(&active.case, now, at);
            round.deadlines.push(Reverse((active.trial.deadline(), key)));
            self.act(round, key, actions)?;
        }
        Ok(())
    }

    /// Ends a group of which nothing is left to run, and frees its hosts.
    fn finish_co_run(&mut self, round: &mut Round, number: u64) -> Vec<NodeIndex> {
        let is_over = |co_run: &CoRun| co_run.running.is_empty() && co_run.between_trials.is_empty();
        if !round.co_runs.get(&number).is_some_and(is_over) {
            return Vec::new();
        }
        let hosts = round.co_runs.remove(&number).map(|co_run| co_run.hosts).unwrap_or_default();
        round.schedule.release(&hosts);
        hosts
    }

    /// Records the cases that were between two trials, waiting for others, when their `node` was lost.
    pub(super) fn give_up_rested(
        &mut self,
        round: &mut Round,
        node: NodeIndex,
        why: &str,
        interrupted: Option<&Reason>,
        finished: &mut super::Finished,
    ) -> Result<(), RunError> {
        let now = self.fleet.now();
        let name = self.fleet.agents()[node.0].node.clone();
        for BetweenTrials { active, mut end, .. } in round.rested_on(node) {
            let vanished = || {
                let text = format!("the agent of {name} was lost between two trials: {why}");
                Reason::new(Cause::Vanished, text)
            };
            let reason = interrupted.cloned().unwrap_or_else(vanished);
            end.lost = vec![name.clone()];
            self.keep(active.failed(&reason, end, now), finished)?;
        }
        Ok(())
    }
}
