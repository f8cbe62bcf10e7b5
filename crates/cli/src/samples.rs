//! Reads samples back into records from the files of the run folder.

use seatrial_engine::guarded;
use seatrial_model::record::CaseRecord;
use seatrial_model::{DisturbedTrials, Fact, PartRecord, RepeatedTrials};
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
        let parts = counted(record, parts);
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

/// The parts of those trials that are in the numbers of `record`: not of those that were repeated.
pub fn counted(record: &CaseRecord, mut parts: Vec<PartRecord>) -> Vec<PartRecord> {
    let repeated = RepeatedTrials::of(&record.evidence).unwrap_or_default().0;
    let mut disturbed = DisturbedTrials::of(&record.evidence).unwrap_or_default().0;
    disturbed.truncate(repeated as usize);
    parts.retain(|part| disturbed.iter().all(|other| other.trial != part.trial));
    parts
}

#[cfg(test)]
mod tests {
    use seatrial_model::DisturbedTrial;

    use super::*;
    use crate::fixture::case;

    #[test]
    fn trials_that_were_repeated_are_not_in_the_numbers() {
        let left = |repeated| {
            let mut record = CaseRecord::measured(&case("toy", "n1"));
            let disturbed = [1, 3].map(|trial| DisturbedTrial { trial, why: "a compiler".to_owned() });
            DisturbedTrials(disturbed.to_vec()).put(&mut record.evidence);
            RepeatedTrials(repeated).put(&mut record.evidence);
            let part = |trial| PartRecord { trial, ..seatrial_testkit::part(Vec::new()) };
            counted(&record, (0..5).map(part).collect()).iter().map(|part| part.trial).collect::<Vec<_>>()
        };
        assert_eq!(left(0), [0, 1, 2, 3, 4]);
        assert_eq!(left(1), [0, 2, 3, 4]);
    }
}
