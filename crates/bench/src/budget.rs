//! The common parameters of budgets and page kinds.

use seatrial_model::{Budget, Cause, Kind, Nanos, ParamSpec, Params, Reason, Value};
use seatrial_sys::memory::Pages;

use crate::sched;

/// Measuring time of a trial.
pub const TIME: ParamSpec =
    ParamSpec::new("time", Kind::Time(Nanos::millis(50), Nanos::secs(3600)), "600 ms")
        .doc("Measuring time of one trial.");

/// Time before measuring, of benchmarks that let it be chosen.
pub const WARM_UP: ParamSpec =
    ParamSpec::new("warm_up", Kind::Time(Nanos::millis(10), Nanos::secs(3600)), "auto").word("auto").doc(
        "Time that each trial runs before it measures, for connections and paths that take long to reach their rate; \
         auto: 100 ms, or more if the benchmark tries methods or opens many connections.",
    );

pub const TRIALS: ParamSpec = ParamSpec::new("trials", Kind::Count(1, 1000), "3")
    .doc("Trials of a case, each in a new process; fewer are made only if the time budget ends.");

pub const MAX_TRIALS: ParamSpec = ParamSpec::new("max_trials", Kind::Count(1, 10_000), "auto")
    .word("auto")
    .doc("Largest number of trials: trials are added until the interval is within `precision`; auto: twice `trials`.");

pub const PRECISION: ParamSpec = ParamSpec::new("precision", Kind::Number(0.01, 100.0), "2")
    .doc("Wanted half-width of the 95 % interval of the median, in percent of the median.");

pub const PAGES: ParamSpec =
    ParamSpec::new("pages", Kind::Choice(&["1GiB", "2MiB", "transparent", "base"]), "auto")
        .word("auto")
        .doc("Kind of pages; auto takes the largest that can be had.");

/// The page kinds of [`PAGES`], in order of preference.
pub fn pages(params: &Params) -> Result<Vec<Pages>, Reason> {
    Ok(match params.text(PAGES.name)? {
        "1GiB" => vec![Pages::Explicit1G],
        "2MiB" => vec![Pages::Explicit2M],
        "transparent" => vec![Pages::Transparent],
        "base" => vec![Pages::Base],
        _ => Pages::LARGEST_FIRST.to_vec(),
    })
}

/// The budget of the common parameters; the benchmark adds its own preparation. An error where `trials` and
/// `max_trials` contradict each other, or a common parameter has a value that does not exist.
pub fn budget(params: &Params) -> Result<Budget, Reason> {
    sched::class(params)?;
    let bad = |error: seatrial_model::ParamError| Reason::new(Cause::Protocol, error.to_string());
    let trials = params.count(TRIALS.name).map_err(bad)?;
    let max_trials = match params.get(MAX_TRIALS.name) {
        Some(Value::Count(most)) => *most,
        _ => trials * 2,
    };
    if max_trials < trials {
        let text =
            format!("max_trials={max_trials} contradicts trials={trials}: raise the one or lower the other");
        return Err(Reason::new(Cause::Contradiction, text));
    }
    let precision_percent = match params.get(PRECISION.name) {
        Some(Value::Number(percent)) => *percent,
        Some(Value::Count(percent)) => *percent as f64,
        _ => return Err(Reason::new(Cause::Protocol, "the case carries no 'precision' that is a number")),
    };
    Ok(Budget {
        trials: u32::try_from(trials).unwrap_or(u32::MAX),
        max_trials: u32::try_from(max_trials).unwrap_or(u32::MAX),
        warm_up: params.nanos(WARM_UP.name).unwrap_or(Nanos::millis(100)),
        measure: params.nanos(TIME.name).map_err(bad)?,
        prepare: Nanos::secs(30),
        slack: Nanos(0),
        connect: Budget::CONNECT,
        overhead: Nanos::millis(50),
        precision_percent,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn params(trials: u64, most: Value) -> Params {
        [
            ("time".to_owned(), TIME.default_value()),
            ("trials".to_owned(), Value::Count(trials)),
            ("max_trials".to_owned(), most),
            ("precision".to_owned(), PRECISION.default_value()),
        ]
        .into_iter()
        .collect()
    }

    #[test]
    fn auto_allows_twice_the_trials() {
        let budget = budget(&params(4, Value::from("auto"))).unwrap();
        assert_eq!((budget.trials, budget.max_trials), (4, 8));
    }

    #[test]
    fn fewer_at_most_than_at_least_is_a_contradiction() {
        let reason = budget(&params(4, Value::Count(2))).unwrap_err();
        assert_eq!(reason.cause, Cause::Contradiction);
        assert!(reason.text.contains("max_trials=2 contradicts trials=4"));
    }
}
