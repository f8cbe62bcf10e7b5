//! Cases for the toys.

use seatrial_model::{Budget, Case, Nanos, Params, PartPlacement, Subject};

pub fn case(what: &str) -> Case {
    let mut params = Params::default();
    params.set("does", what);
    let budget = Budget {
        trials: 1,
        max_trials: 1,
        warm_up: Nanos::millis(10),
        measure: Nanos::millis(30),
        prepare: Nanos::secs(10),
        precision_percent: 2.0,
        ..Budget::NOTHING
    };
    let mut case = Case::new(&crate::toys::ABOUT, "n1", Subject::node(), &params, budget);
    case.places = vec![PartPlacement::new("toy", 0, "n1", vec![])];
    case
}

pub fn offer() -> seatrial_bench::Offer {
    seatrial_bench::Offer::new(&PartPlacement::new("toy", 0, "n1", vec![]), serde_json::json!({ "pid": 1 }))
}
