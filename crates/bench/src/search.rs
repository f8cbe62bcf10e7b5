//! The search for the fastest pace that is kept: first a bracket, then halving. No clock and no threads in here.
//!
//! A pace is a multiple of one that the caller knows: a scenario's own, or the fastest that can be offered at all.

/// Paces are powers of two with this divisor in the exponent: neighbours differ by 1.1 %, which is what the search
/// resolves.
const STEPS_OF_TWO: f64 = 64.0;

/// From 1/64 to 64 times the pace that is known.
const WIDEST: i32 = 6 * 64;

/// The first steps away from the guess, 4.4 %; each further one is twice as wide.
const FIRST_STEP: i32 = 4;

/// Looks for the border between paces that are kept and paces that are not.
///
/// Tries a guess. While the tries come out alike it goes on in their direction, doubling its steps, until one comes out
/// the other way; then it halves what lies between. The same answers always make the same tries.
#[derive(Clone, Debug)]
pub struct Search {
    kept: Option<i32>,
    lost: Option<i32>,
    step: i32,
    next: Option<i32>,
}

impl Search {
    /// A search that first tries the pace nearest to `guess`.
    pub fn from(guess: f64) -> Self {
        let nearest = (guess.log2() * STEPS_OF_TWO).round();
        let nearest =
            if nearest.is_nan() { 0 } else { nearest.clamp(f64::from(-WIDEST), f64::from(WIDEST)) as i32 };
        Self { kept: None, lost: None, step: FIRST_STEP, next: Some(nearest) }
    }

    /// The pace to try next; `None` when the border is found.
    pub fn next(&self) -> Option<f64> {
        self.next.map(pace)
    }

    /// Whether the pace that [`Self::next`] named was kept.
    pub fn tell(&mut self, kept: bool) {
        let Some(tried) = self.next else { return };
        if kept {
            self.kept = Some(tried);
        } else {
            self.lost = Some(tried);
        }
        let beyond = |next: i32| {
            let next = next.clamp(-WIDEST, WIDEST);
            (next != tried).then_some(next)
        };
        self.next = match (self.kept, self.lost) {
            (Some(kept), Some(lost)) if lost - kept <= 1 => None,
            (Some(kept), Some(lost)) => Some(kept + (lost - kept) / 2),
            (Some(_), None) => beyond(tried + self.step),
            (None, _) => beyond(tried - self.step),
        };
        self.step = (2 * self.step).min(WIDEST);
    }

    /// The slowest pace that was not kept, if one was not.
    pub fn lost(&self) -> Option<f64> {
        self.lost.map(pace)
    }
}

fn pace(exponent: i32) -> f64 {
    (f64::from(exponent) / STEPS_OF_TWO).exp2()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The tries against a machine that keeps every pace up to `border`.
    fn tries(guess: f64, border: f64) -> (Vec<f64>, Search) {
        let mut search = Search::from(guess);
        let mut tries = Vec::new();
        while let Some(pace) = search.next() {
            tries.push(pace);
            assert!(tries.len() < 40, "{tries:?}");
            search.tell(pace <= border);
        }
        (tries, search)
    }

    #[test]
    fn finds_the_border_to_one_percent_from_any_guess() {
        for border in [0.02, 0.3, 0.99, 1.0, 1.83, 7.0, 63.0] {
            for guess in [0.02, 0.4, 1.0, 2.5, 50.0] {
                let (tries, search) = tries(guess, border);
                let best = tries.iter().copied().filter(|pace| *pace <= border).fold(0.0, f64::max);
                assert!(best <= border && best > border / 1.0111, "{border} from {guess}: {best}");
                let lost = search.lost().expect("a pace that is not kept");
                assert!(lost > border && lost < border * 1.0111, "{border} from {guess}: {lost}");
            }
        }
    }

    #[test]
    fn a_good_guess_takes_few_tries() {
        assert!(tries(1.8, 1.83).0.len() <= 5);
        assert!(tries(2.2, 1.83).0.len() <= 8);
    }

    #[test]
    fn ends_at_the_bounds() {
        let (fast, search) = tries(40.0, 1e9);
        assert_eq!((fast.last(), search.lost()), (Some(&64.0), None));
        let (slow, search) = tries(0.02, 0.0);
        assert_eq!((slow.last(), search.lost()), (Some(&(1.0 / 64.0)), Some(1.0 / 64.0)));
    }

    #[test]
    fn a_guess_that_is_no_number_starts_at_the_pace_of_the_scenario() {
        assert_eq!(Search::from(f64::NAN).next(), Some(1.0));
        assert_eq!(Search::from(0.0).next(), Some(1.0 / 64.0));
        assert_eq!(Search::from(f64::INFINITY).next(), Some(64.0));
    }
}
