//! Histories made by hand.

use jiff::Timestamp;
use seatrial_model::Better;
use seatrial_model::record::CaseRecord;

use super::*;
use crate::judge::fixture::{measured, params};

fn case(node: &str, kernel: &str, median: f64) -> CaseRecord {
    let mut case = measured(node);
    case.params = params(&[("kernel", kernel)]);
    case.metrics.get_mut("bandwidth").unwrap().median = median;
    case
}

/// The trends over runs `r0`, `r1` and on, an hour apart.
fn over(runs: &[Vec<CaseRecord>]) -> Vec<Trend> {
    let ids: Vec<String> = (0..runs.len()).map(|at| format!("r{at}")).collect();
    let start = |at: usize| Timestamp::from_second(1_800_000_000 + 3600 * at as i64).unwrap();
    let runs: Vec<TrendRun<'_>> = runs
        .iter()
        .zip(&ids)
        .enumerate()
        .map(|(at, (results, id))| TrendRun { id, started: start(at), results })
        .collect();
    trends(&runs)
}

/// A hundred, plus or minus a half, different every time.
fn noisy(at: usize) -> f64 {
    100.0 + [0.3, -0.4, 0.1, 0.5, -0.2, -0.5, 0.4, 0.0, -0.1, 0.2][at % 10]
}

#[test]
fn a_metric_that_fell_for_good_has_one_step_with_its_interval() {
    let runs: Vec<_> = (0..14)
        .map(|at| vec![case("n1", "copy", if at < 8 { noisy(at) } else { 0.9 * noisy(at) })])
        .collect();
    let found = over(&runs);
    let [trend] = found.as_slice() else { panic!("{found:#?}") };
    assert_eq!((trend.points.len(), trend.points[8].run.as_str()), (14, "r8"));
    let [step] = trend.steps.as_slice() else { panic!("{:#?}", trend.steps) };
    assert_eq!((step.run.as_str(), step.at, step.runs, step.is_better), ("r8", 8, (8, 6), Some(false)));
    let (percent, interval) = (step.percent.unwrap(), step.interval.unwrap());
    assert!((percent + 10.0).abs() < 0.5 && interval.0 < percent && percent < interval.1, "{step:?}");
    assert!(interval.1 < -9.0 && step.p < 0.01, "{step:?}");
}

#[test]
fn the_direction_of_the_metric_decides_and_a_description_has_none() {
    let stepped = |better: Better| {
        let one = |at: usize| {
            let mut case = case("n1", "copy", if at < 6 { noisy(at) } else { 1.2 * noisy(at) });
            case.metrics.get_mut("bandwidth").unwrap().better = better;
            vec![case]
        };
        over(&(0..12).map(one).collect::<Vec<_>>())[0].steps[0].is_better
    };
    assert_eq!([Better::Higher, Better::Lower, Better::None].map(stepped), [Some(true), Some(false), None]);
}

#[test]
fn noise_few_runs_and_a_single_bad_run_are_no_change() {
    let flat: Vec<_> = (0..30).map(|at| vec![case("n1", "copy", noisy(at))]).collect();
    assert!(over(&flat)[0].steps.is_empty());
    let few: Vec<_> = (0..9).map(|at| vec![case("n1", "copy", if at < 5 { 100.0 } else { 50.0 })]).collect();
    assert!(over(&few)[0].steps.is_empty(), "nine runs are fewer than {FEWEST_RUNS}");
    let mut spike = flat;
    spike[20] = vec![case("n1", "copy", 40.0)];
    assert!(over(&spike)[0].steps.is_empty());
}

#[test]
fn a_counter_that_was_zero_has_a_change_without_a_share() {
    let runs: Vec<_> =
        (0..12).map(|at| vec![case("n1", "copy", if at < 6 { 0.0 } else { noisy(at) })]).collect();
    let found = over(&runs);
    let [step] = found[0].steps.as_slice() else { panic!("{found:#?}") };
    assert_eq!((step.at, step.percent, step.interval), (6, None, None));
    assert!(step.p < 0.01 && step.levels.0 == 0.0, "{step:?}");
}

#[test]
fn every_subject_and_question_has_its_own_trend_and_a_renumbered_device_keeps_its() {
    let run = |disk: &str| {
        let mut of_disk = case("n1", "copy", 50.0);
        of_disk.subject = disk.parse().unwrap();
        of_disk.key = Some("wwn-1".to_owned());
        vec![case("n1", "copy", 1.0), case("n1", "read", 2.0), case("n2", "copy", 3.0), of_disk]
    };
    let found = over(&[run("disk:sda"), run("disk:sdb")]);
    assert_eq!(found.len(), 4);
    assert!(found.iter().all(|trend| trend.points.len() == 2), "{found:#?}");
    assert_eq!(found[3].subject.as_str(), "disk:sdb");
}

#[test]
fn another_version_and_what_was_no_plain_measurement_stand_apart() {
    let mut newer = case("n1", "copy", 2.0);
    newer.version = 2;
    let mut sought = case("n1", "copy", 3.0);
    sought.origin.load_sweep = Some("flows".to_owned());
    let mut failed = case("n1", "copy", 4.0);
    failed.metrics.clear();
    let twice = vec![case("n1", "copy", 1.0), case("n1", "copy", 1.5)];
    let found = over(&[twice, vec![newer], vec![sought], vec![failed]]);
    let points: Vec<_> = found.iter().map(|trend| (trend.version, trend.points.len())).collect();
    assert_eq!(points, [(1, 1), (2, 1)]);
}
