//! Detects a steady state of storage by the rule of SNIA's performance test specification.
//!
//! Five rounds in a row are steady when their range is at most 20 % of their mean, and the line through them rises or
//! falls by at most 10 % of it from the first to the last (Solid State Storage Performance Test Specification 2.0.2,
//! section 3, "Steady State"). The specification gives up after 25 rounds.

pub const WINDOW: usize = 5;

/// Largest range and trend of a steady window, in percent of its mean.
const RANGE: f64 = 20.0;
const TREND: f64 = 10.0;

/// Variation of the rounds in a window, in percent of their mean.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Window {
    /// Fastest minus slowest.
    pub range: f64,
    /// Change along the least-squares line from the first to the last round.
    pub trend: f64,
}

impl Window {
    /// The window of the last rounds; `None` when there are too few rounds, or nothing was moved.
    pub fn last(rates: &[f64]) -> Option<Self> {
        let last = &rates[rates.len().checked_sub(WINDOW)?..];
        let mean = last.iter().sum::<f64>() / WINDOW as f64;
        if mean <= 0.0 {
            return None;
        }
        let (low, high) =
            last.iter().fold((f64::INFINITY, 0.0_f64), |(low, high), rate| (low.min(*rate), high.max(*rate)));
        // Least squares over -2, -1, 0, 1, 2, whose squares sum to 10; from the first to the last are four steps.
        let slope = (0_i32..).zip(last).map(|(at, rate)| f64::from(at - 2) * rate).sum::<f64>() / 10.0;
        Some(Self { range: 100.0 * (high - low) / mean, trend: 100.0 * 4.0 * slope / mean })
    }

    pub fn is_steady(&self) -> bool {
        self.range <= RANGE && self.trend.abs() <= TREND
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SteadyState {
    /// Rounds until the end of the first steady window; `None` without a steady window.
    pub reached: Option<usize>,
    /// Rounds until the end of the first later window that is not steady.
    pub left: Option<usize>,
}

impl SteadyState {
    pub fn of(rates: &[f64]) -> Self {
        let steady = |count: &usize| Window::last(&rates[..*count]).is_some_and(|window| window.is_steady());
        let reached = (WINDOW..=rates.len()).find(steady);
        let left = reached.and_then(|reached| (reached + 1..=rates.len()).find(|count| !steady(count)));
        Self { reached, left }
    }

    /// Whether to stop: steady, and as many rounds again have shown whether the state lasts.
    pub fn is_over(&self, rounds: usize) -> bool {
        self.left.is_some() || self.reached.is_some_and(|reached| rounds >= reached + WINDOW)
    }

    /// The rounds to report: the first steady window, else the last rounds.
    pub fn window(&self, rounds: usize) -> std::ops::Range<usize> {
        let end = self.reached.unwrap_or(rounds);
        end.saturating_sub(WINDOW)..end
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn range_and_trend_are_those_of_a_calculation_by_hand() {
        // Mean 100; the line through 90, 95, 100, 105, 110 gains 20 from end to end.
        let window = Window::last(&[500.0, 90.0, 95.0, 100.0, 105.0, 110.0]).expect("five");
        assert!((window.range - 20.0).abs() < 1e-9 && (window.trend - 20.0).abs() < 1e-9, "{window:?}");
        assert!(!window.is_steady(), "it rises");
        let window = Window::last(&[90.0, 110.0, 100.0, 110.0, 90.0]).expect("five");
        assert!((window.range - 20.0).abs() < 1e-9 && window.trend.abs() < 1e-9 && window.is_steady());
        assert!(!Window::last(&[90.0, 110.5, 100.0, 110.0, 90.0]).expect("five").is_steady());
        assert_eq!((Window::last(&[1.0; 4]), Window::last(&[0.0; 5])), (None, None));
    }

    #[test]
    fn it_is_reached_lasts_and_is_left() {
        let (fast, slow) = ([400.0, 300.0, 220.0], [100.0, 101.0, 99.0, 100.0, 102.0]);
        let rates = [&fast[..], &slow, &slow].concat();
        let state = SteadyState::of(&rates);
        assert_eq!(state, SteadyState { reached: Some(8), left: None });
        assert_eq!((state.window(rates.len()), state.is_over(13), state.is_over(12)), (3..8, true, false));
        let rates = [&slow[..], &[100.0, 30.0]].concat();
        let state = SteadyState::of(&rates);
        assert_eq!((state.reached, state.left, state.is_over(7)), (Some(5), Some(7), true));
        let falling: Vec<f64> = (0..10).map(|round| 1000.0 * 0.8_f64.powi(round)).collect();
        let state = SteadyState::of(&falling);
        assert_eq!((state, state.window(10), state.is_over(10)), (SteadyState::default(), 5..10, false));
    }
}
