//! Reads samples back into records from the files of the run folder.

use seatrial_engine::guarded;
use seatrial_model::record::CaseRecord;
use seatrial_store::{Plan, StoredRun};

/// Adds the samples of `run` to `records` where they are in files: the benchmark reduces the parts' records again. A
/// metric without file, or with another number of samples than recorded (another version of the benchmark), stays
/// without samples, and its users say so.
pub fn put_back(run: &StoredRun, records: &mut [CaseRecord]) {
    let registry = seatrial_registry::REGISTRY;
    let lacks = |record: &CaseRecord| record.metrics.values().any(|metric| metric.samples_file.is_some());
    for record in records.iter_mut().filter(|record| lacks(record)) {
        let bench = registry.find(&record.bench).filter(|bench| bench.about.version == record.version);
        let case = run.plan.present().into_iter().flat_map(Plan::cases).find(|case| case.id == record.case);
        let (Some(bench), Some(case)) = (bench, case) else { continue };
        let Some(parts) = run.samples(&record.case).ok().and_then(seatrial_store::Piece::into_present) else {
            continue;
        };
        let made = guarded(&case.bench, "making numbers of its samples", || bench.reduce(case, &parts));
        let Ok(measures) = made else { continue };
        for (name, metric) in &mut record.metrics {
            let values = measures.metrics.get(name).filter(|values| {
                let count: usize = values.trials.iter().map(Vec::len).sum();
                values.unit == metric.unit && count as u64 == metric.n
            });
            if let Some(values) = values.filter(|_| metric.samples.is_none()) {
                metric.samples = Some(values.trials.clone());
            }
        }
    }
}
