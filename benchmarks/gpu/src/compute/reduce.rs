//! Reduces slices to the rate of products.

use seatrial_model::{Case, Cause, Finding, Measures, PartRecord, Reason, Severity, Unit};

use seatrial_bench::by_coords;

pub fn reduce(case: &Case, parts: &[PartRecord]) -> Result<Measures, Reason> {
    let cells = by_coords(parts, "product", |sample| Some(sample.per_second()? / 1e12));
    let Some(cell) = cells.first() else {
        let text = "no slice finished within the time; raise -p time= or lower -p shape=";
        return Err(Reason::new(Cause::TooShort, text));
    };
    let mut measures = Measures::default();
    measures.metrics.insert("rate".to_owned(), cell.values(Unit::TeraflopPerSecond));
    crate::tell(&mut measures, case, parts);
    measures
        .findings
        .iter_mut()
        .filter(|one| is_power_limit(one))
        .for_each(|one| one.severity = Severity::Info);
    Ok(measures)
}

/// Matrix units take what the power limit allows, on every sound GPU: nothing to act on.
fn is_power_limit(finding: &Finding) -> bool {
    finding.kind == "gpu-throttled" && finding.text.ends_with("by power cap")
}
