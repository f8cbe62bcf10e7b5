//! Reduces slices to bandwidth: the fastest variant of every kernel.

use seatrial_model::{About, Case, Cause, Measures, PartRecord, Reason, Unit};
use serde_json::json;

use seatrial_bench::by_coords;

pub fn reduce(about: &About, case: &Case, parts: &[PartRecord]) -> Result<Measures, Reason> {
    let cells = by_coords(parts, "pass", |sample| Some(sample.per_second()? / 1e9));
    if cells.is_empty() {
        let text = "no slice finished within the time; raise -p time= or lower -p array=";
        return Err(Reason::new(Cause::TooShort, text));
    }
    let mut measures = Measures::default();
    let mut best = serde_json::Map::new();
    for metric in about.metrics {
        let of_kernel =
            cells.iter().filter(|cell| cell.at.text("kernel").is_ok_and(|name| name == metric.name));
        if let Some(cell) = of_kernel.max_by(|a, b| a.median().total_cmp(&b.median())) {
            measures.metrics.insert(metric.name.to_owned(), cell.values(Unit::GigabytesPerSecond));
            best.insert(metric.name.to_owned(), json!(cell.at.text("variant").ok()));
        }
    }
    let rows = cells.iter().map(|cell| cell.row(Unit::GigabytesPerSecond)).collect();
    measures.series.insert("by_variant".to_owned(), rows);
    measures.evidence.insert("best".to_owned(), best.into());
    crate::tell(&mut measures, case, parts);
    Ok(measures)
}
