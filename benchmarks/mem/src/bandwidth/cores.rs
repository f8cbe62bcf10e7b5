//! Compares the cores of `scope=cores`, each alone.

use seatrial_bench::AtCoords;
use seatrial_model::{Cause, Measures, Reason, Unit};
use seatrial_stats::median;
use serde_json::json;

/// Adds what a core moves alone, how far the slowest is behind, and what all cores together gain. Of the slowest core the best
/// slice of a trial counts: other programs make a sound core slow in some slices, and a bad core is slow in all.
pub(super) fn compare(
    alone: &[AtCoords],
    together: Option<&AtCoords>,
    measures: &mut Measures,
) -> Result<(), Reason> {
    let (mut one_core, mut slowest, mut gain, mut slowest_cpu) = (Vec::new(), Vec::new(), Vec::new(), None);
    let trials = alone.iter().map(|core| core.trials.len()).min().unwrap_or(0);
    for trial in 0..trials {
        let best: Vec<f64> = alone.iter().filter_map(|core| best_of(&core.trials[trial])).collect();
        let Some((index, least)) = best.iter().enumerate().min_by(|(_, a), (_, b)| a.total_cmp(b)) else {
            continue;
        };
        let Some(median) = median(&best) else { continue };
        slowest.push(vec![100.0 * least / median]);
        slowest_cpu = alone[index].at.count("cpu").ok();
        let visits = alone.iter().map(|core| core.trials[trial].len()).min().unwrap_or(0);
        let of_visit = |visit: usize| {
            let rates: Vec<f64> = alone.iter().map(|core| core.trials[trial][visit]).collect();
            seatrial_stats::median(&rates)
        };
        let ones: Vec<f64> = (0..visits).filter_map(of_visit).collect();
        if let Some(all) = together.and_then(|all| all.trials.get(trial)) {
            gain.push(all.iter().zip(&ones).map(|(all, one)| all / one).collect());
        }
        one_core.push(ones);
    }
    if slowest.is_empty() {
        return Err(Reason::new(Cause::TooShort, "some core was never measured; raise -p time="));
    }
    measures.metric("one_core", Unit::GigabytesPerSecond, one_core);
    measures.metric("slowest_core", Unit::Percent, slowest);
    if !gain.is_empty() {
        measures.metric("gain", Unit::Count, gain);
    }
    measures.evidence.insert("slowest_cpu".to_owned(), json!(slowest_cpu));
    Ok(())
}

fn best_of(rates: &[f64]) -> Option<f64> {
    rates.iter().copied().reduce(f64::max)
}

#[cfg(test)]
mod tests {
    use seatrial_model::Params;

    use super::*;

    fn point(axis: &str, value: u64, trials: &[&[f64]]) -> AtCoords {
        let mut at = Params::default();
        at.set(axis, value);
        AtCoords { at, trials: trials.iter().map(|trial| trial.to_vec()).collect() }
    }

    fn compared(alone: &[AtCoords], together: &AtCoords) -> Measures {
        let mut measures = Measures::default();
        compare(alone, Some(together), &mut measures).expect("measured");
        measures
    }

    #[test]
    fn a_core_that_is_slow_in_every_slice_is_behind() {
        let sound: [&[f64]; 2] = [&[10.0, 10.0], &[10.0, 10.0]];
        let alone =
            [point("cpu", 0, &sound), point("cpu", 1, &[&[4.0, 5.0], &[5.0, 5.0]]), point("cpu", 2, &sound)];
        let measures = compared(&alone, &point("threads", 3, &[&[20.0, 25.0], &[25.0, 25.0]]));
        assert_eq!(measures.metrics["slowest_core"].trials, [[50.0], [50.0]]);
        assert_eq!(measures.metrics["one_core"].trials, [[10.0, 10.0], [10.0, 10.0]]);
        assert_eq!(measures.metrics["gain"].trials, [[2.0, 2.5], [2.5, 2.5]]);
        assert_eq!(measures.evidence["slowest_cpu"], json!(1));
    }

    #[test]
    fn a_core_that_lost_one_slice_to_another_program_is_not_behind() {
        let sound: [&[f64]; 1] = [&[10.0, 10.0]];
        let alone = [point("cpu", 0, &sound), point("cpu", 1, &[&[1.0, 10.0]]), point("cpu", 2, &sound)];
        let measures = compared(&alone, &point("threads", 3, &[&[20.0]]));
        assert_eq!(measures.metrics["slowest_core"].trials, [[100.0]]);
    }

    #[test]
    fn a_core_without_a_slice_makes_no_number() {
        let alone = [point("cpu", 0, &[&[10.0]]), point("cpu", 1, &[])];
        let mut measures = Measures::default();
        assert_eq!(compare(&alone, None, &mut measures).unwrap_err().cause, Cause::TooShort);
    }
}
