//! Reduces passes to their rate, their number, and the share of the memory that they covered.

use seatrial_model::{Case, Cause, Measures, PartRecord, Reason, Unit, Values};

use super::part::PATTERNS;
use seatrial_bench::by_coords;

pub fn reduce(case: &Case, parts: &[PartRecord]) -> Result<Measures, Reason> {
    let cells = by_coords(parts, "pass", |sample| Some(sample.per_second()? / 1e9));
    let Some(slowest) = cells.iter().min_by(|one, other| one.median().total_cmp(&other.median())) else {
        return Err(Reason::new(
            Cause::TooShort,
            "no pass over the memory finished within the time; raise -p time=",
        ));
    };
    let patterns =
        if case.params.text("pattern").is_ok_and(|word| word == "auto") { PATTERNS.len() } else { 1 };
    let of = |part: &PartRecord| {
        let passes = |pattern: &&str| {
            part.samples
                .iter()
                .filter(|sample| sample.at.text("pattern").is_ok_and(|name| name == *pattern))
                .count()
        };
        let made = PATTERNS.iter().map(passes).filter(|count| *count > 0);
        if made.clone().count() < patterns { 0 } else { made.min().unwrap_or(0) }
    };
    let covered = |part: &PartRecord| {
        let gpu = part.evidence.get("gpu")?;
        Some(100.0 * gpu["tested_bytes"].as_f64()? / gpu["memory_bytes"].as_f64()?)
    };
    let mut measures = Measures::default();
    measures.metrics.insert("rate".to_owned(), slowest.values(Unit::GigabytesPerSecond));
    for (name, unit, trials) in [
        ("covered", Unit::Percent, parts.iter().map(|part| covered(part).into_iter().collect()).collect()),
        ("passes", Unit::Count, parts.iter().map(|part| vec![of(part) as f64]).collect::<Vec<Vec<f64>>>()),
    ] {
        measures.metrics.insert(name.to_owned(), Values { unit, trials });
    }
    crate::tell(&mut measures, case, parts);
    Ok(measures)
}
