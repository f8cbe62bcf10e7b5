//! What a part says of the clock that it reads.

use seatrial_sys::clock::Calibration;
use serde_json::{Value, json};

/// What one reading of the clock takes, and the smallest step that it shows, in nanoseconds.
pub fn evidence_of_clock(calibration: &Calibration) -> Value {
    json!({ "cost_ns": calibration.cost_ns, "step_ns": calibration.step_ns })
}
