//! Finds where a curve bends: the load after which a rate stops growing, or a latency starts to.

use crate::Error;
use crate::input::check_series;

/// Fewest points of a curve in which a bend can be told from a straight line.
const FEWEST_POINTS: usize = 5;
/// How far, as a share of the curve's range, the bend must stand off the straight line between its ends.
pub const LEAST_BEND: f64 = 0.1;

/// Which kind of bend is looked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Bend {
    /// Rises and flattens: a rate against load, threads or message size.
    Saturates,
    /// Flat at first, then climbs: a latency against load.
    TakesOff,
}

/// The point at which a curve bends.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Knee {
    /// Index of the point.
    pub index: usize,
    /// Distance from the straight line between the ends, as a share of the curve's range in y, above
    /// [`LEAST_BEND`] and at most 1.
    pub bend: f64,
}

/// The knee of a curve given by rising positions `x` and heights `y`; `None` where it does not bend.
///
/// The offline form of Kneedle (Satopää et al., "Finding a Kneedle in a Haystack", ICDCS Workshops 2011):
/// both axes are scaled to 0 to 1, and the knee is the point farthest from the diagonal on the bend's side.
/// It counts if that is more than both [`LEAST_BEND`] and the mean step in x (Kneedle's threshold at a
/// sensitivity of 1). Fewer than five points, or equal heights, give `None`. There is no smoothing: pass
/// medians. On a logarithmic axis pass logarithms; the knee depends on that choice.
///
/// # Errors
/// Refuses axes of different length, positions that do not rise, no points, and numbers that are not finite.
pub fn knee(x: &[f64], y: &[f64], bend: Bend) -> Result<Option<Knee>, Error> {
    if x.len() != y.len() {
        return Err(Error::UnequalAxes { x: x.len(), y: y.len() });
    }
    check_series(x)?;
    check_series(y)?;
    if let Some(before) = x.windows(2).position(|pair| pair[0] >= pair[1]) {
        return Err(Error::NotRising { index: before + 1 });
    }
    let (along, up) = (scaled(x), scaled(y));
    if x.len() < FEWEST_POINTS || up.iter().all(|&height| height == 0.0) {
        return Ok(None);
    }
    let off_line = along.iter().zip(&up).map(|(along, up)| match bend {
        Bend::Saturates => up - along,
        Bend::TakesOff => along - up,
    });
    let farthest =
        off_line.enumerate().fold((0, 0.0), |best, point| if point.1 > best.1 { point } else { best });
    let threshold = LEAST_BEND.max(1.0 / (x.len() - 1) as f64);
    Ok((farthest.1 > threshold).then_some(Knee { index: farthest.0, bend: farthest.1 }))
}

/// Values moved and scaled to 0 to 1; all 0 where they do not differ.
fn scaled(values: &[f64]) -> Vec<f64> {
    let low = values.iter().copied().fold(f64::INFINITY, f64::min);
    let high = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    if low == high {
        return vec![0.0; values.len()];
    }
    values.iter().map(|value| (value - low) / (high - low)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn positions(count: u32) -> Vec<f64> {
        (0..count).map(f64::from).collect()
    }

    #[test]
    fn finds_where_a_rate_saturates() {
        let rates = [0.0, 25.0, 50.0, 75.0, 100.0, 100.0, 100.0, 100.0, 100.0, 100.0, 100.0];
        let found = knee(&positions(11), &rates, Bend::Saturates).unwrap().unwrap();
        assert_eq!(found.index, 4);
        assert!((found.bend - 0.6).abs() < 1e-12, "{found:?}");
    }

    #[test]
    fn finds_where_a_latency_takes_off() {
        let latencies = [10.0, 10.0, 10.0, 10.0, 10.0, 10.0, 20.0, 30.0, 40.0];
        let found = knee(&positions(9), &latencies, Bend::TakesOff).unwrap().unwrap();
        assert_eq!(found.index, 5);
        assert!((found.bend - 0.625).abs() < 1e-12, "{found:?}");
    }

    #[test]
    fn a_straight_or_flat_or_contrary_curve_has_no_knee() {
        let x = positions(10);
        assert_eq!(knee(&x, &x, Bend::Saturates).unwrap(), None);
        assert_eq!(knee(&x, &[5.0; 10], Bend::Saturates).unwrap(), None);
        let takes_off = [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0];
        assert_eq!(knee(&x, &takes_off, Bend::Saturates).unwrap(), None);
    }

    #[test]
    fn four_points_are_no_curve() {
        assert_eq!(knee(&positions(4), &[0.0, 1.0, 1.0, 1.0], Bend::Saturates).unwrap(), None);
        assert!(knee(&positions(5), &[0.0, 1.0, 1.0, 1.0, 1.0], Bend::Saturates).unwrap().is_some());
    }

    #[test]
    fn a_rate_that_falls_again_bends_at_its_peak() {
        let rates = [10.0, 30.0, 50.0, 48.0, 40.0, 35.0, 30.0];
        assert_eq!(knee(&positions(7), &rates, Bend::Saturates).unwrap().unwrap().index, 2);
    }

    #[test]
    fn the_first_of_two_equal_bends_counts() {
        // Both inner corners stand 0.5 off the line, exactly.
        let found = knee(&positions(5), &[0.0, 0.75, 1.0, 1.0, 1.0], Bend::Saturates).unwrap().unwrap();
        assert_eq!((found.index, found.bend), (1, 0.5));
    }

    #[test]
    fn rejects_axes_that_do_not_make_a_curve() {
        let y = [0.0, 1.0, 2.0];
        assert_eq!(knee(&[0.0, 1.0], &y, Bend::Saturates), Err(Error::UnequalAxes { x: 2, y: 3 }));
        assert_eq!(knee(&[0.0, 1.0, 1.0], &y, Bend::Saturates), Err(Error::NotRising { index: 2 }));
        assert!(knee(&[0.0, f64::NAN, 2.0], &y, Bend::Saturates).is_err());
    }
}
