//! Cuts a short series of independent values where its level changed, with the significance of every cut.

use crate::Error;
use crate::input::check_series;
use crate::random::Random;
use crate::ranks::midranks;

/// Shortest stretch between two cuts, and before the first and behind the last.
pub const SHORTEST_STRETCH: usize = 3;

/// Chance of each of the two tests to find something in a series without any change.
pub const CUT_LEVEL: f64 = 0.01;

/// Fewest values in which a cut can be significant: of ten, two in 252 orders put the lower half first or last.
pub const FEWEST_TO_CUT: usize = 10;

/// Random orders that a cut is held against at most.
const MOST_ORDERS: u32 = 1999;

/// So many orders as extreme as the series decide that it has no cut (Besag and Clifford, "Sequential Monte Carlo
/// p-values", Biometrika 78, 1991): most series end after a few dozen orders.
const ENOUGH: u32 = 10;

/// A change of level.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Cut {
    /// The first value of the new level.
    pub at: usize,
    /// How often values of one level, in whatever order, would look as different before and behind their best cut.
    pub p: f64,
}

/// The cuts of `samples`, in order.
///
/// The place of a cut is where Wilcoxon's rank sum of the values before it is the furthest from what chance expects, in its
/// own standard deviations (Pettitt, Applied Statistics 28, 1979; Lausen and Schumacher, "Maximally Selected Rank
/// Statistics", Biometrics 48, 1992). It counts when the same maximum over random orders of the values reaches it in 1 % of
/// them or fewer; so the choice of the place is part of the test. Where there is none, a stretch in the middle is looked
/// for that differs from both sides together, by the same test over all stretches: a level that was left and came back
/// shows no single place (circular binary segmentation, Olshen and others, Biostatistics 5, 2004). What lies between the
/// cuts is then looked at again. Ranks keep spikes and units out of it. Of a hundred series without a change two are cut.
///
/// The values must be independent, which the samples of one process are not: slow wander looks like changes. Orders are
/// drawn from a fixed seed, so equal input gives equal output.
///
/// # Errors
/// Refuses an empty series and values that are not finite.
pub fn cuts(samples: &[f64]) -> Result<Vec<Cut>, Error> {
    check_series(samples)?;
    let mut found = Vec::new();
    let mut open = vec![(0, samples.len())];
    while let Some((first, end)) = open.pop() {
        let mut start = first;
        for cut in best_cuts(&samples[first..end]) {
            let at = first + cut.at;
            found.push(Cut { at, p: cut.p });
            open.push((start, at));
            start = at;
        }
        if start > first {
            open.push((start, end));
        }
    }
    found.sort_by_key(|cut| cut.at);
    Ok(found)
}

/// One cut, the two ends of one stretch, or none.
fn best_cuts(values: &[f64]) -> Vec<Cut> {
    if values.len() < FEWEST_TO_CUT {
        return Vec::new();
    }
    let ranks = midranks(values);
    let (at, far) = furthest(&ranks);
    if let Some(p) = chance(&ranks, far, |ranks| furthest(ranks).1) {
        return vec![Cut { at, p }];
    }
    let (start, end, far) = furthest_stretch(&ranks);
    let p = chance(&ranks, far, |ranks| furthest_stretch(ranks).2);
    p.map_or_else(Vec::new, |p| vec![Cut { at: start, p }, Cut { at: end, p }])
}

/// How often random orders of `ranks` come as far as `found`; none when that is more often than the level allows.
fn chance(ranks: &[f64], found: f64, far: impl Fn(&[f64]) -> f64) -> Option<f64> {
    let mut ranks = ranks.to_vec();
    let mut random = Random::of(0x5ea7_51a1);
    let mut as_far = 0;
    for order in 1..=MOST_ORDERS {
        random.shuffle(&mut ranks);
        // Rounding must not tell apart what is equal: the same ranks summed in another order.
        as_far += u32::from(far(&ranks) >= found * (1.0 - 1e-9));
        if as_far >= ENOUGH && f64::from(as_far) / f64::from(order) > CUT_LEVEL {
            return None;
        }
    }
    let p = f64::from(as_far + 1) / f64::from(MOST_ORDERS + 1);
    (p <= CUT_LEVEL).then_some(p)
}

/// The stretch, with others before and behind it, whose rank sum is the furthest from its mean, and how far.
fn furthest_stretch(ranks: &[f64]) -> (usize, usize, f64) {
    let count = ranks.len();
    let mean = f64::midpoint(count as f64, 1.0);
    let mut sums = vec![0.0; count + 1];
    for (index, rank) in ranks.iter().enumerate() {
        sums[index + 1] = sums[index] + rank - mean;
    }
    let mut best = (0, 0, 0.0);
    for start in SHORTEST_STRETCH..count {
        for end in start + SHORTEST_STRETCH..=count.saturating_sub(SHORTEST_STRETCH) {
            let inside = (end - start) as f64;
            let far = (sums[end] - sums[start]).abs() / (inside * (count as f64 - inside)).sqrt();
            if far > best.2 {
                best = (start, end, far);
            }
        }
    }
    best
}

/// The cut at which the rank sum before it is the furthest from its mean, and how far, up to a factor that all cuts and
/// orders share.
fn furthest(ranks: &[f64]) -> (usize, f64) {
    let count = ranks.len() as f64;
    let mean = f64::midpoint(count, 1.0);
    let mut sum = 0.0;
    let mut best = (0, 0.0);
    for (index, rank) in ranks.iter().enumerate() {
        sum += rank - mean;
        let before = index + 1;
        if before < SHORTEST_STRETCH || ranks.len() - before < SHORTEST_STRETCH {
            continue;
        }
        let far = sum.abs() / (before as f64 * (count - before as f64)).sqrt();
        if far > best.1 {
            best = (before, far);
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A sum of uniform numbers, near enough to normal, of mean 0 and deviation 1.
    fn noise(random: &mut Random) -> f64 {
        (0..12).map(|_| random.uniform()).sum::<f64>() - 6.0
    }

    fn series(random: &mut Random, levels: &[(usize, f64)]) -> Vec<f64> {
        levels
            .iter()
            .flat_map(|(count, level)| (0..*count).map(|_| level + noise(random)).collect::<Vec<_>>())
            .collect()
    }

    fn places(samples: &[f64]) -> Vec<usize> {
        cuts(samples).unwrap().iter().map(|cut| cut.at).collect()
    }

    #[test]
    fn a_clear_step_is_found_in_ten_values_and_not_in_nine() {
        let ten = [10.3, 9.8, 10.1, 9.9, 10.2, 12.1, 11.9, 12.3, 12.0, 11.8];
        let found = cuts(&ten).unwrap();
        assert_eq!((found.len(), found[0].at), (1, 5));
        // Two of the 252 ways to part ten values into five and five are as extreme.
        assert!((found[0].p - 2.0 / 252.0).abs() < 0.004, "{found:?}");
        assert!(places(&ten[1..]).is_empty());
    }

    #[test]
    fn a_change_shows_five_values_after_it() {
        let mut random = Random::of(7);
        let values = series(&mut random, &[(20, 100.0), (5, 80.0)]);
        assert_eq!(places(&values), [20]);
        assert!(places(&values[..22]).is_empty(), "two values are no level");
    }

    #[test]
    fn a_level_that_was_left_and_came_back_has_two_cuts() {
        let mut random = Random::of(9);
        let found = places(&series(&mut random, &[(12, 100.0), (8, 90.0), (15, 100.0)]));
        // The lowest of the values behind it may be counted to it.
        assert!(found.len() == 2 && found[0] == 12 && (20..=21).contains(&found[1]), "{found:?}");
    }

    #[test]
    fn a_spike_and_equal_values_are_no_change() {
        let mut flat = vec![5.0; 30];
        assert!(places(&flat).is_empty());
        flat[17] = 500.0;
        assert!(places(&flat).is_empty());
        assert!(places(&[1.0]).is_empty());
        assert!(cuts(&[]).is_err() && cuts(&[f64::NAN]).is_err());
    }

    #[test]
    fn of_a_thousand_series_without_a_change_about_twenty_are_cut() {
        let mut random = Random::of(11);
        let cut = (0..1000).filter(|_| !places(&series(&mut random, &[(20, 100.0)])).is_empty()).count();
        // Two tests of 1 % that overlap: binomial with 1000 and 0.02 is beyond 34 once in a thousand times.
        assert!((4..=34).contains(&cut), "{cut}");
    }
}
