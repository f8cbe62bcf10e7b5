//! Plateaus in the curve of latency over size, compared with the caches that the system reports.

use seatrial_model::Bytes;

/// Largest growth within a plateau from one size to the next, which is half a doubling.
const LEVEL_GROWTH: f64 = 1.15;

/// Fewest sizes of a plateau: one doubling.
const FEWEST_SIZES: usize = 3;

/// Range for the end of a cache's plateau, as a part of its capacity: other data takes a share, lines collide, and
/// the sweep has only two sizes per doubling.
const NEAR: std::ops::RangeInclusive<f64> = 0.5..=1.5;

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Plateau {
    pub from: u64,
    pub to: u64,
    /// Median latency, in nanoseconds.
    pub latency_ns: f64,
}

pub fn plateaus(curve: &[(u64, f64)]) -> Vec<Plateau> {
    let same = |before: &(u64, f64), after: &(u64, f64)| {
        after.1 < LEVEL_GROWTH * before.1 && before.1 < LEVEL_GROWTH * after.1
    };
    let stretches = curve.chunk_by(same).filter(|stretch| stretch.len() >= FEWEST_SIZES);
    let plateau = |stretch: &[(u64, f64)]| {
        let mut latencies: Vec<f64> = stretch.iter().map(|point| point.1).collect();
        latencies.sort_by(f64::total_cmp);
        Plateau {
            from: stretch[0].0,
            to: stretch[stretch.len() - 1].0,
            latency_ns: latencies[latencies.len() / 2],
        }
    };
    stretches.map(plateau).collect()
}

/// Describes the plateaus of `curve`, and the `caches` (level, capacity) that they disagree with; `None` without a
/// plateau.
pub fn describe(curve: &[(u64, f64)], caches: &[(u32, u64)]) -> Option<String> {
    let plateaus = plateaus(curve);
    let (largest, _) = curve.last()?;
    if plateaus.is_empty() {
        return None;
    }
    let told: Vec<String> = plateaus.iter().map(|plateau| tell(plateau, *largest)).collect();
    let mut text = format!("latency stays level at {}", told.join(", "));
    let ends: Vec<u64> = plateaus.iter().map(|plateau| plateau.to).filter(|end| end < largest).collect();
    let near = |end: u64, capacity: u64| NEAR.contains(&(end as f64 / capacity as f64));
    let odd_cache = |(_, capacity): &&(u32, u64)| !ends.iter().any(|end| near(*end, *capacity));
    let odd: Vec<String> = caches
        .iter()
        .filter(odd_cache)
        .map(|(level, capacity)| format!("{} (level {level})", Bytes(*capacity).rounded()))
        .collect();
    if caches.is_empty() {
        text += "; the system reports no caches to compare with";
    } else if odd.is_empty() {
        text += "; this agrees with the caches that the system reports";
    } else {
        text += &format!(
            "; no plateau ends near {}, which the system reports: a virtual machine may report other caches \
             than the hardware has, other processes may use a part of them, and base pages (4 KiB) add TLB \
             misses",
            odd.join(", ")
        );
    }
    Some(text)
}

fn tell(plateau: &Plateau, largest: u64) -> String {
    let Plateau { from, to, latency_ns } = *plateau;
    let digits = if latency_ns < 10.0 { 2 } else { usize::from(latency_ns < 100.0) };
    let from = Bytes(from).rounded();
    if to == largest {
        format!("{latency_ns:.digits$} ns from {from} on")
    } else {
        format!("{latency_ns:.digits$} ns from {from} to {}", Bytes(to).rounded())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sizes;

    const KIB: u64 = 1 << 10;
    const MIB: u64 = 1 << 20;

    /// 1 ns up to 32 KiB, 4 ns up to 1 MiB, 12 ns up to 16 MiB, then 100 ns, with one size of slope between them.
    fn curve() -> Vec<(u64, f64)> {
        let latency = |size: u64| match size {
            0..=32_768 => 1.0,
            49_152 => 2.5,
            65_536..=1_048_576 => 4.0,
            1_572_864 => 8.0,
            2_097_152..=16_777_216 => 12.0 + size as f64 / 1e8,
            25_165_824..=50_331_648 => size as f64 / 1e6,
            _ => 100.0,
        };
        sizes::sizes(128 * MIB).into_iter().map(|size| (size, latency(size))).collect()
    }

    #[test]
    fn levels_are_found_with_both_ends() {
        let ends: Vec<(u64, u64)> = plateaus(&curve()).iter().map(|level| (level.from, level.to)).collect();
        assert_eq!(ends, [(4 * KIB, 32 * KIB), (64 * KIB, MIB), (2 * MIB, 16 * MIB), (64 * MIB, 128 * MIB)]);
    }

    #[test]
    fn a_curve_that_fits_the_caches_says_so() {
        let text = describe(&curve(), &[(1, 32 * KIB), (2, MIB), (3, 32 * MIB)]).expect("levels");
        assert!(
            text.starts_with(
                "latency stays level at 1.00 ns from 4 KiB to 32 KiB, 4.00 ns from 64 KiB to 1 MiB, 12.1 "
            ),
            "{text}"
        );
        assert!(text.contains("100 ns from 64 MiB on; this agrees with the caches"), "{text}");
    }

    #[test]
    fn a_cache_that_is_told_and_not_found_is_named() {
        let text = describe(&curve(), &[(1, 32 * KIB), (2, MIB), (3, 384 * MIB)]).expect("levels");
        assert!(text.contains("no plateau ends near 384 MiB (level 3), which the system reports"), "{text}");
    }

    #[test]
    fn a_slope_has_no_levels() {
        let slope: Vec<(u64, f64)> =
            sizes::sizes(MIB).into_iter().zip(1..).map(|(size, step)| (size, 1.3_f64.powi(step))).collect();
        assert_eq!(describe(&slope, &[(1, 32 * KIB)]), None);
    }

    #[test]
    fn one_disturbed_size_parts_a_level_and_is_none() {
        let mut curve = curve();
        curve[2].1 = 9.0;
        let first = plateaus(&curve)[0];
        assert_eq!((first.from, first.to), (12 * KIB, 32 * KIB));
    }
}
