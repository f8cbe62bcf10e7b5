//! The time of a run, on a scripted node: a trial takes ten seconds of its clock, to the nanosecond.

use seatrial_model::record::NotMade;
use seatrial_model::{Fact, RepeatedTrials};

use super::*;
use crate::{Demand, NothingJudged, Standing, TimeBudget};

const TRIAL: u64 = 10;

fn cases(names: &[&str]) -> (Site, Vec<Case>) {
    let site = site(1);
    let mut case = plan(&site, "alone", "3", "3").remove(0);
    case.budget.warm_up = Nanos::secs(2);
    case.budget.measure = Nanos::secs(TRIAL - 2);
    case.budget.overhead = Nanos(0);
    let about = seatrial_registry::REGISTRY.find("net.rr").expect("shipped").about;
    (site, names.iter().map(|name| case.clone().in_group(about, name)).collect())
}

/// The group of a case tells its standing: `open`, `met` or anything else.
struct ByName;

impl ByName {
    fn of(group: &str) -> Standing {
        match group.split('-').next() {
            Some("open") => Standing::Open,
            Some("met") => Standing::Met,
            _ => Standing::NotJudged,
        }
    }
}

impl Demand for ByName {
    fn is_judged(&self, case: &Case) -> bool {
        Self::of(&case.group) != Standing::NotJudged
    }

    fn standing(&self, record: &CaseRecord) -> Standing {
        Self::of(&record.group)
    }
}

fn measure(
    (site, cases): &(Site, Vec<Case>),
    promised: Option<u64>,
    demand: &dyn Demand,
    is_disturbed: fn(&Case, u32) -> bool,
    done: Vec<CaseRecord>,
) -> (Vec<CaseRecord>, u64) {
    let mut fleet = ScriptedFleet::new(site.nodes.clone(), move |case, _, trial| {
        let mut script = steady();
        if is_disturbed(case, trial) {
            let load = json!({ "load": { "counts": { "busy_ns": 1000, "own_ns": 400 } } });
            script.evidence.insert("probes".to_owned(), load);
        }
        script
    });
    let mut watch = |_: Event| Ok(());
    let finished = Runner {
        budget: TimeBudget::new(cases, promised.map(Nanos::secs), demand),
        ..Runner::new(seatrial_registry::REGISTRY, site, &mut fleet, &mut watch)
    }
    .run(Study::new(cases.clone()), done)
    .expect("runs");
    (finished.records, fleet.now().get() / 1_000_000_000)
}

fn repeats(records: &[CaseRecord]) -> Vec<u32> {
    let count = |record: &CaseRecord| RepeatedTrials::of(&record.evidence).unwrap_or_default().0;
    records.iter().map(count).collect()
}

fn trials(records: &[CaseRecord]) -> Vec<u64> {
    records.iter().map(|record| record.metrics["round_trip"].trials).collect()
}

#[test]
fn a_machine_where_every_trial_is_disturbed_keeps_the_time_that_was_promised() {
    let all = cases(&["open-1", "met-2", "open-3", "4", "open-5"]);
    let (records, took) = measure(&all, Some(180), &ByName, |_, _| true, Vec::new());
    assert_eq!(repeats(&records), [2, 0, 1, 0, 0]);
    assert_eq!(trials(&records), [3; 5]);
    assert_eq!(took, 180);
    let not_made: Vec<u32> =
        records.iter().map(|record| NotMade::of(&record.evidence).map_or(0, |it| it.repeats)).collect();
    assert_eq!(not_made, [0, 2, 1, 2, 2]);
    let told = NotMade::of(&records[1].evidence).expect("told");
    assert_eq!((told.seconds, told.is_whole_run), (180.0, true));
}

#[test]
fn one_judged_case_that_was_disturbed_once_gets_its_repeat_though_others_before_it_were_disturbed() {
    let all = cases(&["1", "met-2", "open-3"]);
    let disturbed = |case: &Case, trial: u32| case.group != "open-3" || trial == 1;
    let (records, took) = measure(&all, Some(100), &ByName, disturbed, Vec::new());
    assert_eq!(repeats(&records), [0, 0, 1]);
    assert_eq!(took, 100);
    assert!(!records[2].evidence.contains_key(NotMade::NAME));
}

#[test]
fn with_time_enough_all_are_repeated_twice_at_most() {
    let all = cases(&["1", "met-2", "open-3"]);
    let (records, took) = measure(&all, Some(1000), &ByName, |_, _| true, Vec::new());
    assert_eq!((repeats(&records), took), (vec![2, 2, 2], 150));
}

#[test]
fn where_the_plan_alone_takes_longer_only_what_is_judged_makes_all_its_trials() {
    let all = cases(&["1", "open-2", "3", "met-4"]);
    let (records, took) = measure(&all, Some(80), &ByName, |_, _| false, Vec::new());
    assert_eq!(trials(&records), [1, 3, 1, 3]);
    assert_eq!(took, 80);
    let planned = |record: &CaseRecord| NotMade::of(&record.evidence).map(|it| it.planned);
    assert_eq!(records.iter().map(planned).collect::<Vec<_>>(), [Some(2), None, Some(2), None]);
}

#[test]
fn without_a_promise_repeats_may_take_as_long_as_the_plan() {
    let all = cases(&["1", "2"]);
    let (records, _) = measure(&all, None, &NothingJudged, |_, _| true, Vec::new());
    assert_eq!(repeats(&records), [2, 2]);
    // Cases of one trial: the plan takes 20 s, so no more than two of their four repeats are made.
    let mut short = cases(&["1", "2"]);
    short.1.iter_mut().for_each(|case| (case.budget.trials, case.budget.max_trials) = (1, 1));
    let (records, took) = measure(&short, None, &NothingJudged, |_, _| true, Vec::new());
    assert_eq!((repeats(&records), took), (vec![2, 0], 40));
    assert_eq!(NotMade::of(&records[1].evidence).map(|it| (it.repeats, it.is_whole_run)), Some((1, false)));
}

#[test]
fn a_run_that_is_gone_on_with_decides_as_if_it_had_never_stopped() {
    let all = cases(&["open-1", "met-2", "open-3", "4", "open-5"]);
    let run = |done| measure(&all, Some(180), &ByName, |_, _| true, done).0;
    let whole = run(Vec::new());
    for so_far in 0..whole.len() {
        assert_eq!(run(whole[..so_far].to_vec()), whole, "after {so_far}");
    }
}
