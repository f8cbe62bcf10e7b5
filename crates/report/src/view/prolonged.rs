//! Why a run took longer than planned, in one line.

use std::time::Duration;

use seatrial_analysis::disturbances;
use seatrial_model::Nanos;
use seatrial_model::record::{AddedTime, DelayCause, Document};

use crate::words::{count, span};

/// A run is prolonged if it took this many times as long as planned, and at least `LEAST` longer; or `MUCH` longer.
const TIMES: u32 = 3;
const OF: u32 = 2;
const LEAST: Duration = Duration::from_secs(3);
const MUCH: Duration = Duration::from_secs(10);

/// Causes of less time are not named.
const LEAST_NAMED: Nanos = Nanos::secs(1);

/// `3 min 16 s, planned 55 s: ...`; `None` where the plan was held.
pub fn prolonged(document: &Document) -> Option<String> {
    let run = &document.run;
    let time = run.ended.as_ref()?.time.as_ref()?;
    let (took, planned) = (run.took()?, Duration::from(time.planned));
    let added = took.checked_sub(planned)?;
    let is_prolonged = added > MUCH || (added > LEAST && took * OF > planned * TIMES);
    if !is_prolonged {
        return None;
    }
    let causes: Vec<String> = time
        .added
        .iter()
        .filter(|added| added.time >= LEAST_NAMED)
        .map(|added| words(added, document))
        .collect();
    let why = if causes.is_empty() { String::new() } else { format!(": {}", causes.join(", ")) };
    Some(format!("{}, planned {}{why}", span(took), span(planned)))
}

fn words(added: &AddedTime, document: &Document) -> String {
    let trials = || count(added.count as usize, "trial");
    let text = match added.cause {
        DelayCause::Repeats => format!("in {} repeated because other processes disturbed them", trials()),
        DelayCause::Precision => format!("in {} added because intervals were wide", trials()),
        DelayCause::Cases => format!("in {} that the plan did not have", count(added.count as usize, "case")),
        DelayCause::Preparing => {
            format!("in starting, preparing and verifying trials{}", meanwhile(document))
        }
        DelayCause::Measuring => "in completing what trials had begun".to_owned(),
        DelayCause::BetweenCases => "between cases".to_owned(),
    };
    format!("{} {text}", span(added.time.into()))
}

/// Who else used the CPUs, if anybody.
fn meanwhile(document: &Document) -> String {
    let by = disturbances(&document.results).map(|found| found.by).unwrap_or_default();
    let most = by.into_iter().max_by(|(_, one), (_, other)| one.1.total_cmp(&other.1));
    most.map(|(name, (_, percent))| format!(" while {name} took up to {percent:.0} % of the CPU time used"))
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use seatrial_model::record::{RunEnd, RunInfo, RunTime, SCHEMA_VERSION};

    use super::*;

    fn document(seconds: i64, planned: u64, added: Vec<AddedTime>) -> Document {
        let started: jiff::Timestamp = "2026-09-21T08:30:00Z".parse().expect("a time");
        let at = started + jiff::SignedDuration::from_secs(seconds);
        let time = Some(RunTime { planned: Nanos::secs(planned), added });
        let run = RunInfo {
            id: "20260921-083000-bcdf".to_owned(),
            seatrial: "0.1.0".to_owned(),
            command: Vec::new(),
            options: None,
            profile: None,
            nodes: vec!["n1".to_owned()],
            started,
            paused_seconds: 0.0,
            ended: Some(RunEnd { at, exit: 0, signal: None, time }),
        };
        Document {
            schema: SCHEMA_VERSION,
            run,
            results: Vec::new(),
            findings: Vec::new(),
            verdicts: Vec::new(),
            verdict: None,
        }
    }

    #[test]
    fn only_a_run_that_took_much_longer_is_prolonged() {
        for (took, planned, is_prolonged) in [
            (10, 10, false),
            (5, 2, false),
            (15, 10, false),
            (16, 10, true),
            (99, 90, false),
            (101, 90, true),
            (5, 9, false),
        ] {
            let text = prolonged(&document(took, planned, Vec::new()));
            assert_eq!(text.is_some(), is_prolonged, "{took} of {planned}: {text:?}");
        }
        let mut stopped = document(100, 1, Vec::new());
        stopped.run.ended.as_mut().expect("an end").time = None;
        assert_eq!(prolonged(&stopped), None);
    }

    #[test]
    fn every_cause_of_a_second_or_more_is_named_with_its_time() {
        let row = |cause, millis, count| AddedTime { cause, time: Nanos::millis(millis), count };
        let added = vec![
            row(DelayCause::Preparing, 120_000, 0),
            row(DelayCause::Precision, 20_000, 12),
            row(DelayCause::Repeats, 1_000, 1),
            row(DelayCause::BetweenCases, 999, 0),
        ];
        assert_eq!(
            prolonged(&document(196, 55, added)).expect("prolonged"),
            "3 min 16 s, planned 55 s: 2 min 0 s in starting, preparing and verifying trials, 20 s in 12 trials \
             added because intervals were wide, 1 s in 1 trial repeated because other processes disturbed them"
        );
    }
}
