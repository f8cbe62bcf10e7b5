//! Evidence of the clock that a part reads.

use seatrial_sys::clock::Calibration;
use serde_json::{Value, json};

/// Nanoseconds of one clock read, and the smallest step.
pub fn evidence_of_clock(calibration: &Calibration) -> Value {
    json!({ "cost_ns": calibration.cost_ns, "step_ns": calibration.step_ns })
}
