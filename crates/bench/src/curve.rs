//! Cumulative bytes of a flow or thread over time, from slices that end with a receipt or a completion.

use seatrial_model::{Nanos, Sample};

/// Bytes since the start of the first slice, over time: linear within a slice, constant between slices.
#[derive(Clone, Debug, Default)]
pub struct Curve {
    /// Nanoseconds, and the bytes by then.
    points: Vec<(u64, f64)>,
}

impl Curve {
    /// Adds the next slice. A slice that ends before the previous one, as in foreign evidence only, ends with it.
    pub fn push(&mut self, slice: &Sample) {
        let (last, by_then) = self.points.last().copied().unwrap_or_default();
        if self.points.last().is_none_or(|(end, _)| *end < slice.start.get()) {
            self.points.push((slice.start.get(), by_then));
        }
        let bytes = slice.amount.base();
        let end = slice.end.get().max(slice.start.get()).max(last);
        self.points.push((end, by_then + bytes));
    }

    /// The same with the time counted from `zero`.
    pub fn since(mut self, zero: u64) -> Self {
        self.points.iter_mut().for_each(|(at, _)| *at = at.saturating_sub(zero));
        self
    }

    pub fn span(&self) -> Option<(u64, u64)> {
        Some((self.start()?, self.end()?)).filter(|(start, end)| start < end)
    }

    /// Start of the first slice.
    pub fn start(&self) -> Option<u64> {
        self.points.first().map(|(at, _)| *at)
    }

    /// End of the last slice.
    pub fn end(&self) -> Option<u64> {
        self.points.last().map(|(at, _)| *at)
    }

    /// Bytes moved by `at`.
    pub fn by(&self, at: u64) -> f64 {
        let next = self.points.partition_point(|(moment, _)| *moment <= at);
        match (next.checked_sub(1).map(|last| self.points[last]), self.points.get(next)) {
            (Some((start, before)), Some((end, after))) => {
                before + (after - before) * (at - start) as f64 / (end - start).max(1) as f64
            }
            (Some((_, bytes)), None) => bytes,
            (None, _) => 0.0,
        }
    }

    /// Bytes between two moments.
    pub fn between(&self, from: u64, to: u64) -> f64 {
        self.by(to) - self.by(from)
    }

    /// Bytes a second between two moments.
    pub fn rate(&self, from: u64, to: u64) -> f64 {
        self.between(from, to) / Nanos(to.saturating_sub(from).max(1)).as_secs()
    }
}

/// The time window common to all curves; `None` when it is empty or shorter than half of the longest curve: then the
/// curves were not simultaneous, and a sum would mix different times.
pub fn common_window(curves: &[&Curve]) -> Option<(u64, u64)> {
    let spans: Option<Vec<(u64, u64)>> = curves.iter().map(|curve| curve.span()).collect();
    let spans = spans?;
    let start = spans.iter().map(|span| span.0).max()?;
    let end = spans.iter().map(|span| span.1).min()?;
    let longest = spans.iter().map(|span| span.1 - span.0).max()?;
    (end > start && (end - start).saturating_mul(2) >= longest).then_some((start, end))
}

#[cfg(test)]
mod tests {
    use super::*;
    use seatrial_model::{Params, Quantity, Unit};

    fn curve(slices: &[(u64, u64, u64)]) -> Curve {
        let mut curve = Curve::default();
        for (start, end, bytes) in slices {
            curve.push(&Sample {
                channel: "received".to_owned(),
                at: Params::default(),
                start: Nanos::millis(*start),
                end: Nanos::millis(*end),
                amount: Quantity::new(*bytes as f64, Unit::Byte).expect("finite"),
            });
        }
        curve
    }

    const MS: u64 = 1_000_000;

    #[test]
    fn bytes_are_even_within_a_slice_and_exact_at_its_ends() {
        let curve = curve(&[(100, 200, 1000), (200, 300, 3000), (400, 500, 1000)]);
        let by: Vec<f64> = [50, 100, 150, 200, 250, 300, 350, 400, 500, 900]
            .into_iter()
            .map(|at| curve.by(at * MS))
            .collect();
        assert_eq!(by, [0.0, 0.0, 500.0, 1000.0, 2500.0, 4000.0, 4000.0, 4000.0, 5000.0, 5000.0]);
        assert_eq!(curve.rate(100 * MS, 300 * MS), 20_000.0);
        assert_eq!(curve.span(), Some((100 * MS, 500 * MS)));
        assert_eq!(curve.between(150 * MS, 450 * MS), 4000.0);
        assert_eq!(
            (Curve::default().start(), Curve::default().end(), Curve::default().span()),
            (None, None, None)
        );
    }

    #[test]
    fn the_window_is_what_all_have_and_most_of_each() {
        let (early, late) = (curve(&[(0, 1000, 10)]), curve(&[(300, 1100, 10)]));
        assert_eq!(common_window(&[&early, &late]), Some((300 * MS, 1000 * MS)));
        let short = curve(&[(900, 1100, 10)]);
        assert_eq!(common_window(&[&early, &short]), None);
        assert_eq!(common_window(&[&early, &Curve::default()]), None);
        assert_eq!(common_window(&[]), None);
    }
}
