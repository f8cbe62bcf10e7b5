//! Laws that hold for every input, tried on generated ones from a fixed seed.

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use seatrial_stats::{
    Bend, Better, CompareRule, Error, Modes, Sorted, StopRule, Summary, Verdict, compare, correlation_time,
    knee, median_interval, modes,
};

/// The same cases in every run, and no file left behind when one fails.
fn fixed() -> ProptestConfig {
    ProptestConfig { rng_seed: RngSeed::Fixed(2013), failure_persistence: None, ..ProptestConfig::default() }
}

/// A sample such as instruments give.
fn ordinary() -> impl Strategy<Value = f64> {
    prop_oneof![-1e6..1e6, (-20i32..20).prop_map(f64::from)]
}

/// Any sample that is accepted, the ends of the range included.
fn extreme() -> impl Strategy<Value = f64> {
    prop_oneof![
        ordinary(),
        proptest::sample::select(vec![0.0, -0.0, 1e100, -1e100, 5e-324, f64::MIN_POSITIVE, 1e-100, 1.0]),
    ]
}

fn series(sample: impl Strategy<Value = f64>) -> impl Strategy<Value = Vec<f64>> {
    vec(sample, 1..130)
}

fn trials(sample: impl Strategy<Value = f64> + Clone) -> impl Strategy<Value = Vec<Vec<f64>>> {
    vec(vec(sample, 1..30), 1..8)
}

fn all_scaled(trials: &[Vec<f64>], factor: f64) -> Vec<Vec<f64>> {
    trials.iter().map(|samples| scaled(samples, factor)).collect()
}

/// Powers of two scale without rounding, so that equivariance can be exact.
fn scaled(samples: &[f64], factor: f64) -> Vec<f64> {
    samples.iter().map(|sample| sample * factor).collect()
}

fn near(a: f64, b: f64, scale: f64) -> bool {
    (a - b).abs() <= 1e-9 * scale.abs().max(f64::MIN_POSITIVE)
}

proptest! {
    #![proptest_config(fixed())]

    #[test]
    fn no_figure_is_ever_nan_or_infinite(input in trials(extreme().boxed())) {
        let summary = Summary::of(&input).unwrap();
        let mut figures = vec![summary.median, summary.mad, summary.min, summary.max, summary.mean];
        figures.extend(summary.ci95.iter().flat_map(|interval| [interval.low, interval.high]));
        figures.extend(summary.relative_half_width());
        for samples in &input {
            figures.push(correlation_time(samples).unwrap());
            if let Modes::Two { low, high } = modes(samples).unwrap() {
                figures.extend([low.median, low.share, high.median, high.share]);
            }
            let positions: Vec<f64> = (0u32..).map(f64::from).take(samples.len()).collect();
            figures.extend(knee(&positions, samples, Bend::Saturates).unwrap().map(|knee| knee.bend));
        }
        let rule = CompareRule { better: Better::Higher, same_within: Some(0.01) };
        match compare(&input, &input, &rule) {
            Ok(found) => {
                figures.extend([found.difference]);
                figures.extend(found.ci95.iter().flat_map(|interval| [interval.low, interval.high]));
                figures.extend(found.smallest_detectable);
            }
            Err(error) => prop_assert!(matches!(error, Error::NotPositive { .. }), "{}", error),
        }
        StopRule::default().decide(&input).unwrap();
        prop_assert!(figures.iter().all(|figure| figure.is_finite()), "{:?}", figures);
    }

    #[test]
    fn one_bad_sample_is_refused_wherever_it_is(
        input in trials(ordinary().boxed()),
        at in any::<prop::sample::Index>(),
        bad in proptest::sample::select(vec![f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 1e101]),
    ) {
        let mut input = input;
        let trial = at.index(input.len());
        let sample = at.index(input[trial].len());
        input[trial][sample] = bad;
        let named = |error: &Error| match *error {
            Error::NotFinite { trial: t, sample: s, .. } | Error::TooLarge { trial: t, sample: s, .. } =>
                (t, s) == (trial, sample),
            _ => false,
        };
        prop_assert!(named(&Summary::of(&input).unwrap_err()));
        prop_assert!(named(&median_interval(&input).unwrap_err()));
        prop_assert!(Sorted::pooled(&input).is_err() && StopRule::default().decide(&input).is_err());
        let spoilt = &input[trial];
        prop_assert!(modes(spoilt).is_err() && correlation_time(spoilt).is_err());
    }

    #[test]
    fn quantiles_rise_with_p_and_stay_in_range(
        samples in series(extreme()), p in 0.0..=1.0, q in 0.0..=1.0,
    ) {
        let sorted = Sorted::new(&samples).unwrap();
        let [low, high] = [f64::min(p, q), f64::max(p, q)].map(|p| sorted.quantile(p).unwrap());
        prop_assert!(sorted.min() <= low && low <= high && high <= sorted.max());
        prop_assert_eq!(sorted.quantile(0.0).unwrap(), sorted.min());
        prop_assert_eq!(sorted.quantile(1.0).unwrap(), sorted.max());
    }

    #[test]
    fn the_order_of_samples_in_several_trials_does_not_matter(input in trials(ordinary().boxed())) {
        prop_assume!(input.len() > 1);
        let reversed: Vec<Vec<f64>> =
            input.iter().map(|samples| samples.iter().rev().copied().collect()).collect();
        prop_assert_eq!(Summary::of(&input).unwrap(), Summary::of(&reversed).unwrap());
    }

    #[test]
    fn the_order_of_trials_does_not_matter(input in trials(ordinary().boxed())) {
        let reversed: Vec<Vec<f64>> = input.iter().rev().cloned().collect();
        let (one, other) = (Summary::of(&input).unwrap(), Summary::of(&reversed).unwrap());
        prop_assert_eq!((one.median, one.mad, one.mean), (other.median, other.mad, other.mean));
        prop_assert_eq!(one.ci95.is_some(), other.ci95.is_some());
        if let (Some(one), Some(other)) = (one.ci95, other.ci95) {
            let scale = one.high.abs().max(one.low.abs());
            prop_assert!(near(one.low, other.low, scale) && near(one.high, other.high, scale));
        }
    }

    #[test]
    fn summaries_scale_with_their_samples(input in trials(ordinary().boxed()), power in -8i32..8) {
        let factor = 2f64.powi(power);
        let plain = Summary::of(&input).unwrap();
        let large = Summary::of(&all_scaled(&input, factor)).unwrap();
        let figures = |of: Summary| [of.median, of.mad, of.min, of.max, of.mean];
        prop_assert_eq!(figures(large), figures(plain).map(|figure| figure * factor));
        prop_assert_eq!(large.ci95.map(|interval| (interval.low, interval.high)),
            plain.ci95.map(|interval| (interval.low * factor, interval.high * factor)));
        prop_assert_eq!(large.relative_half_width(), plain.relative_half_width());
    }

    #[test]
    fn the_interval_holds_the_median_and_needs_six_values(input in trials(extreme().boxed())) {
        let summary = Summary::of(&input).unwrap();
        if let Some(interval) = summary.ci95 {
            prop_assert!(summary.n >= 6 && interval.contains(summary.median));
        }
        prop_assert!(summary.min <= summary.median && summary.median <= summary.max);
        prop_assert!(summary.min <= summary.mean && summary.mean <= summary.max);
    }

    #[test]
    fn swapping_the_sides_of_a_comparison_inverts_it(
        baseline in vec(vec(1.0..3.0, 3..9), 2..6), candidate in vec(vec(1.0..3.0, 3..9), 2..6),
    ) {
        let rule = CompareRule { better: Better::Higher, same_within: Some(0.05) };
        let there = compare(&baseline, &candidate, &rule).unwrap();
        let back = compare(&candidate, &baseline, &rule).unwrap();
        prop_assert!(near((1.0 + there.difference) * (1.0 + back.difference), 1.0, 1.0));
        let mirrored = match there.verdict {
            Verdict::Better => Verdict::Worse,
            Verdict::Worse => Verdict::Better,
            same => same,
        };
        // The test of equivalence has one margin in relative terms, hence two in logarithms.
        prop_assume!(there.verdict != Verdict::Same && back.verdict != Verdict::Same);
        prop_assert_eq!(back.verdict, mirrored);
    }

    #[test]
    fn a_comparison_does_not_depend_on_the_unit(
        baseline in vec(vec(1.0..3.0, 3..9), 2..6), candidate in vec(vec(1.0..3.0, 3..9), 2..6),
    ) {
        let rule = CompareRule { better: Better::Lower, same_within: None };
        let plain = compare(&baseline, &candidate, &rule).unwrap();
        let large = compare(&all_scaled(&baseline, 1e9), &all_scaled(&candidate, 1e9), &rule).unwrap();
        prop_assert!(near(plain.difference, large.difference, 1.0));
        prop_assert!(near(plain.smallest_detectable.unwrap(), large.smallest_detectable.unwrap(), 1.0));
    }

    #[test]
    fn modes_share_out_all_samples_in_any_order(samples in series(extreme())) {
        let reversed: Vec<f64> = samples.iter().rev().copied().collect();
        let found = modes(&samples).unwrap();
        prop_assert_eq!(found, modes(&reversed).unwrap());
        if let Modes::Two { low, high } = found {
            prop_assert_eq!(low.n + high.n, samples.len());
            prop_assert!(low.median <= high.median && low.share >= 0.1 && high.share >= 0.1);
        }
    }

    #[test]
    fn a_knee_does_not_depend_on_units(heights in vec(ordinary(), 5..40), power in -8i32..8) {
        let positions: Vec<f64> = (0u32..).map(f64::from).take(heights.len()).collect();
        let factor = 2f64.powi(power);
        for bend in [Bend::Saturates, Bend::TakesOff] {
            let plain = knee(&positions, &heights, bend).unwrap();
            let large = knee(&scaled(&positions, factor), &scaled(&heights, factor), bend).unwrap();
            prop_assert_eq!(plain, large);
            prop_assert!(plain.is_none_or(|knee| knee.bend > 0.1 && knee.bend <= 1.0));
        }
    }

    #[test]
    fn a_sample_is_worth_at_most_itself(samples in series(extreme())) {
        prop_assert!(correlation_time(&samples).unwrap() >= 1.0);
    }
}
