//! Values from slices: the part of `reduce` that all benchmarks of copies share.

use std::cell::Cell;

use seatrial_bench::{Trials, by_key, slices};
use seatrial_model::{Finding, Params, PartRecord, Sample, Severity, Subject};

use super::{Rate, common_rates, whole_rate};

#[derive(Clone, Copy, Debug)]
pub struct Slice<'a> {
    samples: &'a [&'a Sample],
}

impl Slice<'_> {
    pub fn at(&self) -> &Params {
        &self.samples[0].at
    }

    /// The rate of each stream while all ran; `None` when they hardly overlapped.
    pub fn rates(&self) -> Option<Vec<Rate>> {
        common_rates(self.samples)
    }

    /// The rate of all streams from the first start to the last end, in bytes per second.
    pub fn whole(&self) -> Option<f64> {
        whole_rate(self.samples)
    }
}

/// A warning is due when at least one slice in this many was lost.
const MANY: usize = 10;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Lost {
    pub apart: usize,
    pub of: usize,
}

impl Lost {
    pub fn finding(self) -> Option<Finding> {
        let Self { apart, of } = self;
        (apart > 0).then(|| {
            let text = format!(
                "in {apart} of {of} slices the copy streams hardly overlapped, so these slices have no \
                 common rate: the device runs the streams one after the other, or other load delayed them"
            );
            // Occasional delays of a stream do not change the result.
            let severity = if apart * MANY >= of { Severity::Warning } else { Severity::Info };
            Finding::new("gpu-streams-apart", severity, Subject::node(), text)
        })
    }
}

/// The values of every slice, by key in the order of its first slice, and by trial; and the number of slices without
/// a value.
pub fn by_slice<K: PartialEq>(
    parts: &[PartRecord],
    values: impl Fn(Slice<'_>) -> Vec<(K, f64)>,
) -> (Vec<(K, Trials)>, Lost) {
    let lost = Cell::new(Lost::default());
    let found = by_key(parts, |part| {
        let of_slice = |samples: Vec<&Sample>| {
            let made = values(Slice { samples: &samples });
            let Lost { apart, of } = lost.get();
            lost.set(Lost { apart: apart + usize::from(made.is_empty()), of: of + 1 });
            made
        };
        slices(part, "copy").flat_map(of_slice).collect()
    });
    (found, lost.get())
}

#[cfg(test)]
mod tests {
    use super::*;
    use seatrial_model::Nanos;

    fn part(trial: u32, slices: &[(u64, &str)]) -> PartRecord {
        let sample = |(slice, direction): &(u64, &str)| Sample {
            channel: "copy".to_owned(),
            at: [("slice", (*slice).into()), ("way", (*direction).into())]
                .map(|(name, value)| (name.to_owned(), value))
                .into_iter()
                .collect(),
            start: Nanos::millis(1000 * slice),
            end: Nanos::millis(1000 * slice + 500),
            amount: "1 GB".parse().expect("an amount"),
        };
        PartRecord { trial, ..seatrial_testkit::part(slices.iter().map(sample).collect()) }
    }

    #[test]
    fn values_are_told_apart_by_key_and_trial() {
        let parts = [part(0, &[(0, "in"), (1, "out"), (2, "in")]), part(4, &[(0, "out")])];
        let rate = |slice: Slice<'_>| {
            let direction = slice.at().text("way").unwrap_or_default().to_owned();
            let rates = slice.rates().unwrap_or_default();
            rates.into_iter().map(|rate| (direction.clone(), rate.bytes_per_second)).collect()
        };
        let expected =
            [("in".to_owned(), vec![vec![2e9, 2e9]]), ("out".to_owned(), vec![vec![2e9], vec![2e9]])];
        let none_of_in = |slice: Slice<'_>| match slice.at().text("way") {
            Ok("in") => Vec::new(),
            _ => rate(slice),
        };
        let lost = by_slice(&parts, none_of_in).1;
        assert_eq!(lost, Lost { apart: 2, of: 4 });
        assert!(lost.finding().expect("told").text.starts_with("in 2 of 4 slices the copy streams"));
        assert_eq!(Lost { apart: 0, of: 4 }.finding(), None);
        assert_eq!(by_slice(&parts, rate), (expected.to_vec(), Lost { apart: 0, of: 4 }));
    }
}
