//! A case for tests.

use seatrial_model::{About, Budget, Case, Nanos, Params, Subject};

/// Two trials of 1 s, each with 100 ms beside.
pub fn case(name: &str, node: &str) -> Case {
    let budget = Budget {
        trials: 2,
        max_trials: 4,
        measure: Nanos::secs(2),
        prepare: Nanos::secs(9),
        slack: Nanos::secs(1),
        overhead: Nanos::millis(100),
        precision_percent: 2.0,
        ..Budget::NOTHING
    };
    Case::new(&About { id: "toy", ..About::WORKER }, node, Subject::node(), &Params::default(), budget)
        .in_group(&About::WORKER, name)
}
