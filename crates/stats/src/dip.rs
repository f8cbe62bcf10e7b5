//! Hartigan's dip: how far a sample is from every distribution with a single peak.

/// The dip of sorted samples: the least largest distance between their empirical distribution function and
/// any unimodal one, from 1/(2n) to 1/4.
///
/// Hartigan and Hartigan, "The Dip Test of Unimodality", Annals of Statistics 13 (1985). A unimodal function
/// is convex up to its peak and concave after it. The search narrows an interval that holds the peak: between
/// the greatest convex minorant and the least concave majorant over it, the widest gap names a smaller one,
/// and what is left outside is compared with the minorant on the left and the majorant on the right. It ends
/// when no gap is wider than the distance found outside.
///
/// Heights are counted in samples, so that they are whole numbers at the corners of the empirical function:
/// sample i (from 0) is its step from i to i + 1.
pub(crate) fn dip(sorted: &[f64]) -> f64 {
    let (mut low, mut high) = (0, sorted.len() - 1);
    // Even the best fit passes half a step away from some corner.
    let mut widest: f64 = 1.0;
    while high > low {
        let minorant = hull(sorted, low, high, |slope, steeper| slope < steeper);
        let majorant = hull(sorted, low, high, |slope, steeper| slope > steeper);
        let gap = widest_gap(sorted, &minorant, &majorant);
        if gap.width <= widest {
            break;
        }
        let left = minorant.windows(2).filter(|edge| edge[1] <= gap.low);
        let right = majorant.windows(2).filter(|edge| edge[0] >= gap.high);
        // Left of the peak the upper corners stand off the minorant, right of it the lower corners off the
        // majorant.
        let outside = left
            .map(|edge| farthest(sorted, edge, |step, line| step + 1.0 - line))
            .chain(right.map(|edge| farthest(sorted, edge, |step, line| line - step + 1.0)))
            .fold(1.0, f64::max);
        widest = widest.max(outside);
        if (gap.low, gap.high) == (low, high) {
            break;
        }
        (low, high) = (gap.low, gap.high);
    }
    widest / (2 * sorted.len()) as f64
}

/// A gap between the two hulls, and the interval that it leaves for the peak.
struct Gap {
    width: f64,
    low: usize,
    high: usize,
}

/// Corners of the lower (`turns` = less than) or upper convex hull of the points (sample i, i).
fn hull(sorted: &[f64], low: usize, high: usize, turns: fn(f64, f64) -> bool) -> Vec<usize> {
    let slope = |from: usize, to: usize| (to - from) as f64 / (sorted[to] - sorted[from]);
    let mut corners: Vec<usize> = Vec::new();
    for index in low..=high {
        while let [.., before, last] = corners[..]
            && !turns(slope(before, last), slope(last, index))
        {
            corners.pop();
        }
        corners.push(index);
    }
    corners
}

/// Height at sample `at` of the line through the corners of an edge.
fn line(sorted: &[f64], edge: &[usize], at: usize) -> f64 {
    let (from, to) = (edge[0], edge[1]);
    let run = sorted[to] - sorted[from];
    if run == 0.0 {
        return from as f64;
    }
    from as f64 + (to - from) as f64 * ((sorted[at] - sorted[from]) / run)
}

/// The largest distance of the samples under one edge of a hull from it.
fn farthest(sorted: &[f64], edge: &[usize], distance: fn(f64, f64) -> f64) -> f64 {
    (edge[0]..=edge[1]).map(|at| distance(at as f64, line(sorted, edge, at))).fold(1.0, f64::max)
}

/// The widest gap between the hulls, which lies at a corner of one of them.
///
/// The minorant runs through the lower corners of the steps and the majorant through the upper ones, hence
/// the one more.
fn widest_gap(sorted: &[f64], minorant: &[usize], majorant: &[usize]) -> Gap {
    let mut widest = Gap { width: 0.0, low: minorant[0], high: minorant[minorant.len() - 1] };
    let mut take = |width: f64, low: usize, high: usize| {
        if width > widest.width {
            widest = Gap { width, low, high };
        }
    };
    for &corner in majorant {
        let edge = edge_over(minorant, corner);
        take(corner as f64 - line(sorted, edge, corner) + 1.0, edge[0], corner);
    }
    for &corner in minorant {
        let edge = edge_over(majorant, corner);
        take(line(sorted, edge, corner) - corner as f64 + 1.0, corner, edge[1]);
    }
    widest
}

/// The edge of a hull that spans sample `at`.
fn edge_over(hull: &[usize], at: usize) -> &[usize] {
    let end = hull.partition_point(|&corner| corner < at).max(1);
    &hull[end - 1..=end]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn evenly_spaced_samples_have_the_least_dip() {
        assert_eq!(dip(&[1.0, 2.0, 3.0, 4.0, 5.0]), 0.1);
        // A convex ramp is unimodal too.
        assert_eq!(dip(&[0.0, 1.0, 3.0, 6.0]), 0.125);
        assert_eq!(dip(&[0.0, 3.0, 5.0, 6.0]), 0.125);
    }

    #[test]
    fn two_equal_clusters_have_the_greatest_dip() {
        assert_eq!(dip(&[1.0, 1.0, 2.0, 2.0]), 0.25);
        let apart: Vec<f64> =
            (0..100).map(|index| f64::from(index / 50) + f64::from(index % 50) * 1e-9).collect();
        assert!((dip(&apart) - 0.25).abs() < 1e-6, "{}", dip(&apart));
    }

    #[test]
    fn agrees_with_the_example_of_the_paper() {
        // Quality of 63 statistics faculties (Scully 1982), the paper's example; R's diptest gives
        // 0.05952381.
        let quality = [
            30, 33, 35, 36, 37, 37, 39, 39, 39, 39, 39, 40, 40, 40, 40, 41, 42, 43, 43, 43, 44, 44, 45, 45,
            46, 46, 47, 47, 48, 48, 48, 49, 50, 50, 51, 52, 52, 53, 53, 53, 53, 53, 54, 54, 57, 57, 59, 60,
            60, 60, 61, 61, 61, 61, 62, 62, 62, 62, 63, 66, 70, 72, 72,
        ];
        let quality: Vec<f64> = quality.iter().copied().map(f64::from).collect();
        assert!((dip(&quality) - 0.059_523_81).abs() < 1e-8, "{}", dip(&quality));
    }

    #[test]
    fn a_mirrored_sample_has_the_same_dip() {
        let samples = [0.0, 2.0, 3.0, 5.0, 6.0];
        let mirrored: Vec<f64> = samples.iter().rev().map(|sample| -sample).collect();
        assert!((dip(&samples) - dip(&mirrored)).abs() < 1e-15);
    }
}
