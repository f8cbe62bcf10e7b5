//! Whether something else used the machine while a trial measured.

use seatrial_model::PartRecord;

/// Share of CPU time stolen by the hypervisor above which a trial is repeated, in percent.
const MOST_STEAL_PERCENT: f64 = 5.0;

/// What disturbed the trial, in words; `None` when nothing is known to have.
///
/// Looks at the probes' differences that the workers left in their evidence.
pub fn disturbance(parts: &[PartRecord]) -> Option<String> {
    let worst = parts
        .iter()
        .filter_map(|part| part.evidence.get("probes")?.get("steal")?.get("steal_percent")?.as_f64())
        .fold(0.0, f64::max);
    (worst > MOST_STEAL_PERCENT).then(|| format!("{worst:.1} % of the CPU time was stolen by the hypervisor"))
}
