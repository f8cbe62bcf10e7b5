//! A co-run group as a state machine: takes in what happened to one of its cases and returns what the event loop does
//! next.
//!
//! The cases of a group make the same trials at the same time: no trial enters a phase behind a barrier before all
//! trials of the group wait there, no case starts its next trial before the others ended theirs, and all hosts are
//! freed when the last case ended. Most groups are a single case.

use std::collections::BTreeMap;

/// The key of a group, in the order in which groups are started.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct GroupKey(pub u64);

/// The key of a started case: its group, and its number there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CaseKey {
    pub group: GroupKey,
    pub number: usize,
}

/// The state of a started case. A queued case is in the [`Schedule`](crate::schedule::Schedule).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CaseState {
    /// Its trial, or the liveness check before it, is running.
    Running,
    /// Its trial waits at the barrier before its next phase.
    AtBarrier,
    BetweenTrials,
    Ended,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GroupEvent {
    /// A case entered this state.
    Case(CaseKey, CaseState),
    AnotherTrial,
    NoFurtherTrial,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum GroupAction {
    /// Let the trials of these cases into their next phase at the same time.
    Release(Vec<CaseKey>),
    /// Decide whether the cases, all between two trials, make another.
    Decide,
    StartTrials(Vec<CaseKey>),
    Record(Vec<CaseKey>),
    /// Drop the group and free its hosts.
    Finish,
}

#[derive(Debug)]
pub struct CoRunGroup(BTreeMap<CaseKey, CaseState>);

impl CoRunGroup {
    pub fn of(cases: impl IntoIterator<Item = CaseKey>) -> Self {
        Self(cases.into_iter().map(|case| (case, CaseState::Running)).collect())
    }

    pub fn handle(&mut self, event: GroupEvent) -> Vec<GroupAction> {
        match event {
            GroupEvent::Case(case, state) => {
                self.0.insert(case, state);
                self.proceed().into_iter().collect()
            }
            GroupEvent::AnotherTrial => {
                vec![GroupAction::StartTrials(self.turn(CaseState::BetweenTrials, CaseState::Running))]
            }
            GroupEvent::NoFurtherTrial => {
                let ended = self.turn(CaseState::BetweenTrials, CaseState::Ended);
                vec![GroupAction::Record(ended), GroupAction::Finish]
            }
        }
    }

    /// What all cases together are ready for.
    fn proceed(&mut self) -> Option<GroupAction> {
        let is_any = |state| self.0.values().any(|known| *known == state);
        if is_any(CaseState::Running) {
            None
        } else if is_any(CaseState::AtBarrier) {
            Some(GroupAction::Release(self.turn(CaseState::AtBarrier, CaseState::Running)))
        } else if is_any(CaseState::BetweenTrials) {
            Some(GroupAction::Decide)
        } else {
            Some(GroupAction::Finish)
        }
    }

    /// Moves all cases from the state `from` to the state `to`.
    fn turn(&mut self, from: CaseState, to: CaseState) -> Vec<CaseKey> {
        let cases = self.0.iter_mut().filter(|(_, state)| **state == from);
        cases
            .map(|(case, state)| {
                *state = to;
                *case
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::CaseState::*;
    use super::GroupEvent::{AnotherTrial, NoFurtherTrial};
    use super::*;

    fn key(number: usize) -> CaseKey {
        CaseKey { group: GroupKey(7), number }
    }

    fn case(number: usize, state: CaseState) -> GroupEvent {
        GroupEvent::Case(key(number), state)
    }

    fn release(cases: &[usize]) -> Vec<GroupAction> {
        vec![GroupAction::Release(cases.iter().copied().map(key).collect())]
    }

    fn start(cases: &[usize]) -> Vec<GroupAction> {
        vec![GroupAction::StartTrials(cases.iter().copied().map(key).collect())]
    }

    fn record(cases: &[usize]) -> Vec<GroupAction> {
        vec![GroupAction::Record(cases.iter().copied().map(key).collect()), GroupAction::Finish]
    }

    /// A title, the number of cases, and each event with the actions that follow.
    type Play = (&'static str, usize, Vec<(GroupEvent, Vec<GroupAction>)>);

    #[test]
    fn each_sequence_of_events_has_its_actions() {
        let nothing = Vec::new;
        let decide = || vec![GroupAction::Decide];
        let finish = || vec![GroupAction::Finish];
        let plays: Vec<Play> = vec![
            (
                "a single case makes two trials and is recorded",
                1,
                vec![
                    (case(0, Running), nothing()),
                    (case(0, BetweenTrials), decide()),
                    (AnotherTrial, start(&[0])),
                    (case(0, Running), nothing()),
                    (case(0, BetweenTrials), decide()),
                    (NoFurtherTrial, record(&[0])),
                ],
            ),
            (
                "a single case that fails frees its hosts",
                1,
                vec![(case(0, Running), nothing()), (case(0, Ended), finish())],
            ),
            (
                "nobody passes a barrier before all are there, and each barrier holds anew",
                2,
                vec![
                    (case(0, AtBarrier), nothing()),
                    (case(0, AtBarrier), nothing()),
                    (case(1, AtBarrier), release(&[0, 1])),
                    (case(1, AtBarrier), nothing()),
                    (case(0, AtBarrier), release(&[0, 1])),
                    (case(1, BetweenTrials), nothing()),
                    (case(0, BetweenTrials), decide()),
                    (NoFurtherTrial, record(&[0, 1])),
                ],
            ),
            (
                "who fails lets the others through the barrier",
                3,
                vec![
                    (case(0, AtBarrier), nothing()),
                    (case(2, AtBarrier), nothing()),
                    (case(1, Ended), release(&[0, 2])),
                ],
            ),
            (
                "who is killed at the barrier is waited for until its workers are gone",
                3,
                vec![
                    (case(0, AtBarrier), nothing()),
                    (case(1, AtBarrier), nothing()),
                    (case(0, Running), nothing()),
                    (case(2, AtBarrier), nothing()),
                    (case(0, Ended), release(&[1, 2])),
                ],
            ),
            (
                "who is lost between two trials is not started again",
                3,
                vec![
                    (case(0, BetweenTrials), nothing()),
                    (case(1, BetweenTrials), nothing()),
                    (case(0, Ended), nothing()),
                    (case(2, BetweenTrials), decide()),
                    (AnotherTrial, start(&[1, 2])),
                    (case(1, Ended), nothing()),
                    (case(2, BetweenTrials), decide()),
                    (NoFurtherTrial, record(&[2])),
                ],
            ),
            (
                "the last one that fails has the others decided upon",
                2,
                vec![(case(0, BetweenTrials), nothing()), (case(1, Ended), decide())],
            ),
            (
                "where all fail the hosts are free once, with the last",
                2,
                vec![(case(1, Ended), nothing()), (case(0, Ended), finish())],
            ),
        ];
        for (name, count, events) in plays {
            let mut group = CoRunGroup::of((0..count).map(key));
            for (at, (event, expected)) in events.into_iter().enumerate() {
                assert_eq!(group.handle(event), expected, "{name}: event {at}, {event:?}");
            }
        }
    }
}
