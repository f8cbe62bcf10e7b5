//! What a thread had moved by any moment, from slices that end with a completion.

use seatrial_model::Sample;

/// Bytes by time, evenly in between.
#[derive(Clone, Debug, Default)]
pub struct Curve {
    points: Vec<(u64, f64)>,
}

impl Curve {
    /// Adds the next slice.
    pub fn push(&mut self, slice: &Sample) {
        let by_then = self.points.last().map_or(0.0, |(_, bytes)| *bytes);
        if self.points.is_empty() {
            self.points.push((slice.start.get(), 0.0));
        }
        self.points.push((slice.end.get(), by_then + slice.amount.value() * slice.amount.unit().factor()));
    }

    /// Its first moment; none when it has none.
    pub fn start(&self) -> Option<u64> {
        self.points.first().map(|(at, _)| *at)
    }

    /// Its last moment.
    pub fn end(&self) -> Option<u64> {
        self.points.last().map(|(at, _)| *at)
    }

    /// Bytes by `at`.
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
}
