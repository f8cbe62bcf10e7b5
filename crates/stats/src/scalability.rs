//! How a rate grows with load: whether it levels off, falls again or is still growing, and the law that fits it.

use crate::Error;
use crate::input::check_series;
use crate::interval::Interval;

/// Fewest points of a curve whose shape is told.
const FEWEST_POINTS: usize = 3;
/// Fewest points of a fit: with three the three constants of the law go through any of them.
const FEWEST_TO_FIT: usize = 4;
/// Share of the largest load up to which the first load near the highest rate shows that more brings little.
const WELL_BELOW: f64 = 0.8;
/// Share of the highest rate from which on a load counts as saturated.
pub const SATURATED: f64 = 0.95;
/// Share of the highest rate below which the end of a curve has fallen.
pub const FALLEN: f64 = 0.9;
/// Growth per doubling of the load, over the last doubling, beyond which a curve is still growing.
pub const GROWING: f64 = 1.1;

/// The rate that one load came to.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LoadPoint {
    /// The load: threads, flows, requests under way.
    pub load: f64,
    pub rate: f64,
    /// Its 95 % interval, where it has one.
    pub ci95: Option<Interval>,
}

/// What a rate does as the load grows. Numbers are positions of points.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    /// More load than that of this point brings less than 5 %.
    Saturated {
        /// The first point within 5 % of the highest.
        at: usize,
    },
    /// It is highest at this point, and more than 10 % lower at the end.
    Falling { beyond: usize },
    /// The last doubling of the load still brought more than 10 %, or less than a doubling as much in proportion.
    NotReached,
    /// The intervals are too wide to tell one from the other.
    Noisy,
}

/// The shape of a curve of rising loads; `None` with fewer than three points.
///
/// The plain rule. It has fallen when the last rate lies more than 10 % below the highest. Else it is saturated at the
/// smallest load within 5 % of the highest rate, when that is at most four fifths of the largest load or when the last
/// doubling brought no more than 10 %. Else it is still growing. The rate at half of the largest load is read off a straight line
/// on logarithmic axes. Where the loads span less than a doubling, all of them stand for it: what they brought is taken as
/// going on to a doubling on those axes. Where both points have intervals, these decide too: a point is within 5 % only if its interval
/// meets the highest one's, and a fall or growth whose intervals meet is noise. Single values are taken as they are.
///
/// # Errors
/// Refuses loads that are not above zero or do not rise, and rates that are not above zero and finite.
pub fn shape(points: &[LoadPoint]) -> Result<Option<Shape>, Error> {
    check(points)?;
    if points.len() < FEWEST_POINTS {
        return Ok(None);
    }
    let last = points.len() - 1;
    let beyond =
        (0..points.len()).fold(0, |best, at| if points[at].rate > points[best].rate { at } else { best });
    let highest = points[beyond].rate;
    if points[last].rate < FALLEN * highest {
        let is_noise = meet(&points[last], &points[beyond]) == Some(true);
        return Ok(Some(if is_noise { Shape::Noisy } else { Shape::Falling { beyond } }));
    }
    let is_within =
        |point: &&LoadPoint| point.rate >= SATURATED * highest && meet(point, &points[beyond]) != Some(false);
    // The highest point meets itself.
    let at = points.iter().position(|point| is_within(&point)).unwrap_or(beyond);
    let half = (points[last].load / 2.0).max(points[0].load);
    let is_level = at_load(points, half).is_some_and(|rate| {
        let doublings = (points[last].load / half).log2();
        (points[last].rate / rate).powf(1.0 / doublings) <= GROWING
    });
    if points[at].load <= WELL_BELOW * points[last].load || is_level {
        return Ok(Some(Shape::Saturated { at }));
    }
    let before = points.iter().rev().find(|point| point.load <= half);
    let is_noise = before.is_some_and(|before| meet(before, &points[last]) == Some(true));
    Ok(Some(if is_noise { Shape::Noisy } else { Shape::NotReached }))
}

/// Whether two intervals meet, where both are known.
fn meet(one: &LoadPoint, other: &LoadPoint) -> Option<bool> {
    let (one, other) = (one.ci95?, other.ci95?);
    Some(one.low <= other.high && other.low <= one.high)
}

/// The rate at `load`, on straight lines between the points on logarithmic axes; none below the first.
fn at_load(points: &[LoadPoint], load: f64) -> Option<f64> {
    let (before, behind) = points.windows(2).map(|two| (two[0], two[1])).find(|two| load <= two.1.load)?;
    let along = (load / before.load).ln() / (behind.load / before.load).ln();
    (along >= 0.0).then(|| before.rate * (behind.rate / before.rate).powf(along))
}

/// The universal scalability law X(N) = rate N / (1 + contention (N - 1) + coherency N (N - 1)).
///
/// Gunther, "Guerrilla Capacity Planning", Springer 2007, chapter 4: contention is the share of the work that has to wait
/// its turn, coherency the cost of agreeing with each of the others, which makes a rate fall again.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Scalability {
    /// What one alone comes to.
    pub rate: f64,
    /// From 0.
    pub contention: f64,
    /// From 0.
    pub coherency: f64,
    /// The largest distance of a point from the law, as a share of the point.
    pub misfit: f64,
}

impl Scalability {
    /// What `load` comes to by this law.
    #[must_use]
    pub fn at(&self, load: f64) -> f64 {
        let less = load - 1.0;
        self.rate * load / (1.0 + self.contention * less + self.coherency * load * less)
    }

    /// The load beyond which the rate falls; none where it never does.
    #[must_use]
    pub fn peak(&self) -> Option<f64> {
        let square = (1.0 - self.contention) / self.coherency;
        (square.is_finite() && square > 0.0).then(|| square.sqrt())
    }
}

/// The law that comes closest to `points`; `None` with fewer than four.
///
/// Least squares of the relative distances, in the form N/X = a + b (N - 1) + c N (N - 1), which is linear in a = 1/rate,
/// b = contention/rate and c = coherency/rate. Where b or c would be negative they are left out in turn, since the law
/// has no such thing; with two of them all four ways can be tried.
///
/// # Errors
/// As [`shape`].
pub fn scalability(points: &[LoadPoint]) -> Result<Option<Scalability>, Error> {
    check(points)?;
    if points.len() < FEWEST_TO_FIT {
        return Ok(None);
    }
    let row = |point: &LoadPoint| {
        let (n, weight) = (point.load, point.rate / point.load);
        [weight, weight * (n - 1.0), weight * n * (n - 1.0)]
    };
    let rows: Vec<[f64; 3]> = points.iter().map(row).collect();
    let ways: [&[usize]; 4] = [&[0, 1, 2], &[0, 1], &[0, 2], &[0]];
    let fits = ways.iter().filter_map(|used| least_squares(&rows, used));
    let valid = fits.filter(|fit| fit[0] > 0.0 && fit[1] >= 0.0 && fit[2] >= 0.0);
    let off = |fit: &[f64; 3], row: &[f64; 3]| 1.0 - (0..3).map(|at| fit[at] * row[at]).sum::<f64>();
    let squares = |fit: &[f64; 3]| rows.iter().map(|row| off(fit, row).powi(2)).sum::<f64>();
    let best = valid.min_by(|one, other| squares(one).total_cmp(&squares(other)));
    Ok(best.map(|[a, b, c]| {
        let law = Scalability { rate: 1.0 / a, contention: b / a, coherency: c / a, misfit: 0.0 };
        let misfit = points.iter().map(|point| (law.at(point.load) / point.rate - 1.0).abs());
        Scalability { misfit: misfit.fold(0.0, f64::max), ..law }
    }))
}

/// The factors of the columns `used` that bring their sum closest to 1 in every row; 0 for the others. None where the
/// columns do not tell them apart.
fn least_squares(rows: &[[f64; 3]], used: &[usize]) -> Option<[f64; 3]> {
    // Loads reach thousands and their squares millions: scaled columns keep the equations well conditioned.
    let scale: Vec<f64> =
        used.iter().map(|column| rows.iter().map(|row| row[*column].powi(2)).sum::<f64>().sqrt()).collect();
    if scale.iter().any(|length| *length <= 0.0) {
        return None;
    }
    let size = used.len();
    let product = |one: usize, other: usize| -> f64 {
        rows.iter().map(|row| row[used[one]] * row[used[other]]).sum::<f64>() / (scale[one] * scale[other])
    };
    let mut matrix: Vec<Vec<f64>> = (0..size)
        .map(|one| {
            let right = rows.iter().map(|row| row[used[one]]).sum::<f64>() / scale[one];
            (0..size).map(|other| product(one, other)).chain([right]).collect()
        })
        .collect();
    // Gauss and Jordan; the matrix is positive definite, so no rows have to be exchanged.
    for pivot in 0..size {
        let head = matrix[pivot][pivot];
        if head < 1e-12 {
            return None;
        }
        matrix[pivot].iter_mut().for_each(|value| *value /= head);
        let from = matrix[pivot].clone();
        for (_, row) in matrix.iter_mut().enumerate().filter(|(at, _)| *at != pivot) {
            let factor = row[pivot];
            row.iter_mut().zip(&from).for_each(|(value, from)| *value -= factor * from);
        }
    }
    let mut found = [0.0; 3];
    for (at, column) in used.iter().enumerate() {
        found[*column] = matrix[at][size] / scale[at];
    }
    Some(found)
}

fn check(points: &[LoadPoint]) -> Result<(), Error> {
    let loads: Vec<f64> = points.iter().map(|point| point.load).collect();
    let rates: Vec<f64> = points.iter().map(|point| point.rate).collect();
    check_series(&loads)?;
    check_series(&rates)?;
    if let Some(trial) = points.iter().position(|point| point.load <= 0.0 || point.rate <= 0.0) {
        let median = points[trial].rate.min(points[trial].load);
        return Err(Error::NotPositive { trial, median });
    }
    match loads.windows(2).position(|pair| pair[0] >= pair[1]) {
        Some(before) => Err(Error::NotRising { index: before + 1 }),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn curve(points: &[(f64, f64)]) -> Vec<LoadPoint> {
        points.iter().map(|(load, rate)| LoadPoint { load: *load, rate: *rate, ci95: None }).collect()
    }

    /// The same with intervals of so many percent to each side.
    fn wide(points: &[(f64, f64)], percent: f64) -> Vec<LoadPoint> {
        let mut points = curve(points);
        for point in &mut points {
            let half = point.rate * percent / 100.0;
            point.ci95 = Some(Interval { low: point.rate - half, high: point.rate + half });
        }
        points
    }

    fn told(points: &[LoadPoint]) -> Shape {
        shape(points).unwrap().expect("three points")
    }

    #[test]
    fn the_plain_rule_tells_four_shapes() {
        let level = [(1.0, 96.0), (5.0, 123.0), (10.0, 123.0)];
        let growing = [(1.0, 79.0), (10.0, 192.0), (40.0, 243.0), (80.0, 436.0)];
        let falling = [(10.0, 140.3), (40.0, 288.9), (80.0, 228.3)];
        assert_eq!(told(&curve(&level)), Shape::Saturated { at: 1 });
        assert_eq!(told(&curve(&growing)), Shape::NotReached);
        assert_eq!(told(&curve(&falling)), Shape::Falling { beyond: 1 });
        assert_eq!(told(&wide(&falling, 1.0)), Shape::Falling { beyond: 1 });
        assert_eq!(told(&wide(&falling, 20.0)), Shape::Noisy);
        assert_eq!(told(&wide(&growing, 60.0)), Shape::Noisy);
        assert_eq!(shape(&curve(&level[..2])).unwrap(), None);
    }

    #[test]
    fn borders_lie_where_the_rule_says() {
        let ends = |last: f64| told(&curve(&[(1.0, 50.0), (2.0, 100.0), (4.0, last)]));
        assert_eq!(ends(90.0), Shape::Saturated { at: 1 });
        assert_eq!(ends(89.9), Shape::Falling { beyond: 1 });
        assert_eq!(ends(110.0), Shape::Saturated { at: 2 });
        assert_eq!(ends(110.1), Shape::NotReached);
        assert_eq!(ends(105.2), Shape::Saturated { at: 1 }, "100 is 95.06 % of it");
        assert_eq!(
            ends(105.4),
            Shape::Saturated { at: 2 },
            "100 is 94.9 % of it, and the last doubling brought 5.4 %"
        );
    }

    #[test]
    fn a_level_end_is_saturated_though_the_last_doubling_began_below_it() {
        let points = |last: f64| curve(&[(1.0, 9.4), (8.0, 20.0), (last, 20.4)]);
        assert_eq!(told(&points(12.0)), Shape::Saturated { at: 1 });
        assert_eq!(told(&points(9.0)), Shape::NotReached, "2 % for an eighth more load say little");
    }

    #[test]
    fn a_point_that_is_surely_lower_is_not_saturated_yet() {
        let points = [(1.0, 50.0), (2.0, 96.0), (4.0, 100.0), (8.0, 100.0)];
        assert_eq!(told(&wide(&points, 5.0)), Shape::Saturated { at: 1 });
        assert_eq!(told(&wide(&points, 0.5)), Shape::Saturated { at: 2 });
    }

    #[test]
    fn the_last_doubling_is_read_between_the_points() {
        // 30 lies log2(1.5) of the way from 20 to 40: 188.3 x 2.1376^0.585.
        let points = curve(&[(1.0, 17.3), (20.0, 188.3), (40.0, 402.5), (60.0, 517.9)]);
        assert_eq!(told(&points), Shape::NotReached);
        assert!((at_load(&points, 30.0).unwrap() - 293.66).abs() < 0.01, "{:?}", at_load(&points, 30.0));
        assert_eq!(at_load(&points, 0.5), None);
    }

    #[test]
    fn loads_that_span_less_than_a_doubling_stand_for_it() {
        let of = |rates: [f64; 3]| [24.0, 32.0, 40.0].into_iter().zip(rates).collect::<Vec<_>>();
        let growing = of([100.0, 133.0, 167.0]);
        assert_eq!(told(&curve(&growing)), Shape::NotReached);
        assert_eq!(told(&wide(&growing, 1.0)), Shape::NotReached);
        assert_eq!(told(&wide(&growing, 30.0)), Shape::Noisy);
        assert_eq!(told(&curve(&of([100.0, 100.0, 100.0]))), Shape::Saturated { at: 0 });
        // 6.4 % over 0.93 doublings are 6.9 % over one.
        assert_eq!(told(&curve(&[(21.0, 94.0), (30.0, 94.5), (40.0, 100.0)])), Shape::Saturated { at: 2 });
        // In proportion to the load, though 8 % in all.
        assert_eq!(told(&curve(&[(37.0, 92.5), (38.0, 95.0), (40.0, 100.0)])), Shape::NotReached);
    }

    #[test]
    fn a_law_is_found_again_from_its_own_points() {
        let law = Scalability { rate: 80.0, contention: 0.03, coherency: 0.0004, misfit: 0.0 };
        let loads = [1.0, 5.0, 10.0, 20.0, 40.0, 80.0];
        let points = curve(&loads.map(|load| (load, law.at(load))));
        let found = scalability(&points).unwrap().expect("a law");
        assert!((found.rate / 80.0 - 1.0).abs() < 1e-9, "{found:?}");
        assert!(
            (found.contention - 0.03).abs() < 1e-9 && (found.coherency - 0.0004).abs() < 1e-9,
            "{found:?}"
        );
        assert!(found.misfit < 1e-9);
        assert!((found.peak().unwrap() - (0.97_f64 / 0.0004).sqrt()).abs() < 1e-6);
        assert_eq!(scalability(&points[..3]).unwrap(), None);
    }

    #[test]
    fn constants_of_the_law_are_never_negative() {
        // Faster than in proportion: no contention, no coherency, and the misfit says so.
        let points = curve(&[(1.0, 10.0), (2.0, 25.0), (4.0, 60.0), (8.0, 140.0)]);
        let found = scalability(&points).unwrap().expect("a law");
        assert_eq!((found.contention, found.coherency, found.peak()), (0.0, 0.0, None));
        assert!(found.misfit > 0.2, "{found:?}");
    }

    #[test]
    fn refuses_what_is_no_curve() {
        assert!(matches!(shape(&curve(&[(1.0, 1.0), (1.0, 2.0)])), Err(Error::NotRising { index: 1 })));
        assert!(matches!(shape(&curve(&[(1.0, 0.0)])), Err(Error::NotPositive { trial: 0, .. })));
        assert!(shape(&curve(&[(1.0, f64::NAN)])).is_err());
    }
}
