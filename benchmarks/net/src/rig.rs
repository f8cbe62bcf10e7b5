//! Shared by the tests of benchmarks with two ends: parameters, both ends in this process.

use seatrial_bench::{Benchmark, Running};
use seatrial_model::{Case, Params, Reason};

pub fn params(bench: &Benchmark, changed: &[(&str, &str)]) -> Params {
    seatrial_testkit::params(bench.about, changed)
}

/// The case on any CPU: the test machine may have one, or a set without CPU 0.
pub fn anywhere(mut case: Case) -> Case {
    case.places.iter_mut().for_each(|place| place.bindings.clear());
    case
}

pub type Ends = (Box<dyn Running>, Box<dyn Running>);

pub fn try_ends(bench: &Benchmark, case: &Case) -> Result<Ends, Reason> {
    let parts = case.places.iter().map(|place| bench.part(case, place));
    let mut ends = seatrial_bench::testing::connect_all(parts, &[])?.into_iter();
    Ok((ends.next().expect("a first end"), ends.next().expect("a second end")))
}

pub fn ends(bench: &Benchmark, case: &Case) -> Ends {
    try_ends(bench, case).expect("connected")
}
