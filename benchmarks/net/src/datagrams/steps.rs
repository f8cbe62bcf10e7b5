//! A search within a trial: steps at one rate each. After each step the receiver reports its counts to the sender.

use std::time::{Duration, Instant};

use seatrial_model::{Cause, Integrity, Nanos, Reason};

use super::config::UdpStreamConfig;
use super::control::Said;
use super::phase::{Ran, Stage};
use super::rate_search::{Came, RateSearch, Step};
use super::record::integrity;
use super::record::{Received, Sent};
use seatrial_bench::{REPLY_TIMEOUT, Stop};

/// Phase number of the first step, after the warm-up.
const FIRST: u16 = 2;

const POLL_INTERVAL: Duration = Duration::from_millis(5);

impl Stage {
    pub fn search(
        &mut self,
        config: &UdpStreamConfig,
        step: Nanos,
        stop: &Stop,
    ) -> Result<Vec<Step>, Reason> {
        let mut search = RateSearch::new(config.flows);
        let mut number = FIRST;
        let step = Duration::from_nanos(step.get());
        while let Some(asked) = search.next() {
            if stop.left() < step {
                break;
            }
            self.control.say(&Said::Step(number))?;
            let at_rate = UdpStreamConfig { rate: asked, ..config.clone() };
            let Ran { sent, .. } = self.run(&at_rate, number, &Stop::after(step))?;
            let sent =
                sent.ok_or_else(|| Reason::new(Cause::Protocol, "the searching end sends no datagrams"))?;
            let (received, lost) = self.counted(number)?;
            let asked = asked.map(|rate| rate * config.flows as f64);
            search.note(came(asked, &sent, received, lost));
            number += 1;
        }
        self.control.say(&Said::Searched)?;
        Ok(search.steps)
    }

    fn counted(&mut self, number: u16) -> Result<(u64, u64), Reason> {
        match self.next_word(&Stop::after(Duration::ZERO), |said| match said {
            Said::Counted(step, received, lost) if step == number => Some((received, lost)),
            _ => None,
        })? {
            Some(counts) => Ok(counts),
            None => Err(self.unanswered("did not report the counts of a step")),
        }
    }

    /// The receiver's side: takes part in every step until the search is complete. Returns the last step, and the
    /// result of all comparisons.
    pub fn follow(
        &mut self,
        config: &UdpStreamConfig,
        step: Nanos,
        stop: &Stop,
    ) -> Result<(Option<Received>, Integrity), Reason> {
        let step = Duration::from_nanos(step.get());
        let mut all: Option<Integrity> = None;
        let mut last = None;
        loop {
            let said = self.next_word(stop, |said| match said {
                Said::Step(number) => Some(Some(number)),
                Said::Searched => Some(None),
                _ => None,
            })?;
            let number = match said {
                Some(Some(number)) => number,
                Some(None) => break,
                None => return Err(self.unanswered("did not send the next step of the search")),
            };
            let Ran { received, .. } = self.run(config, number, &Stop::after(step))?;
            let received = received
                .ok_or_else(|| Reason::new(Cause::Protocol, "the counting end receives no datagrams"))?;
            let counts = (received.total(|flow| flow.received), received.total(|flow| flow.lost));
            self.control.say(&Said::Counted(number, counts.0, counts.1))?;
            all = Some(match (all, integrity(&received)) {
                (Some(Integrity::Corrupt { wrong, of, first }), _) => Integrity::Corrupt { wrong, of, first },
                (Some(Integrity::Verified { checked }), Integrity::Verified { checked: more }) => {
                    Integrity::Verified { checked: checked + more }
                }
                (Some(before), Integrity::Unverified { .. }) => before,
                (_, now) => now,
            });
            last = Some(received);
        }
        let nothing = || Integrity::Unverified { why: "the search made no step".to_owned() };
        Ok((last, all.unwrap_or_else(nothing)))
    }

    /// The next wanted message; `None` if the other end sends none for its patience after the stop.
    fn next_word<T>(&mut self, stop: &Stop, wanted: impl Fn(Said) -> Option<T>) -> Result<Option<T>, Reason> {
        let until = Instant::now() + stop.left() + REPLY_TIMEOUT;
        while Instant::now() < until {
            if let Some(found) = self.control.hear(POLL_INTERVAL)?.and_then(&wanted) {
                return Ok(Some(found));
            }
        }
        Ok(None)
    }

    fn unanswered(&self, what: &str) -> Reason {
        let text = format!("{} {what}: the network was cut, or the process is frozen", self.peer);
        Reason::new(Cause::IoError, text)
    }
}

pub fn came(asked: Option<f64>, sent: &Sent, received: u64, lost: u64) -> Step {
    let of = |what: fn(&super::record::SentFlow) -> u64| sent.flows.iter().map(what).sum::<u64>();
    let datagrams = of(|flow| flow.datagrams);
    let is_late =
        datagrams == 0 || asked.is_some() && sent.flows.iter().any(super::record::SentFlow::is_late);
    let came = match () {
        () if lost > 0 || received < datagrams => Came::Lost,
        () if of(|flow| flow.refused) > 0 && (is_late || asked.is_none()) => Came::Refused,
        () if is_late => Came::Late,
        () => Came::Free,
    };
    Step {
        asked,
        offered: sent.offered() * 1e9 / 8.0,
        sent: datagrams,
        received,
        lost,
        span_ns: sent.flows.iter().map(|flow| flow.span_ns).max().unwrap_or(0),
        came,
    }
}
