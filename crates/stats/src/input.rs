//! Checks samples once, at the border, so that no formula behind it can meet or make a NaN.

use crate::Error;

/// Largest magnitude a sample may have: its square, summed over 10^8 samples, still is a finite number.
pub const LARGEST: f64 = 1e100;

/// Accepts one series: at least one sample, each finite and within [`LARGEST`].
pub(crate) fn check_series(samples: &[f64]) -> Result<(), Error> {
    check_trial(0, samples)
}

/// Accepts trials: at least one, and each of them an acceptable series.
pub(crate) fn check_trials(trials: &[Vec<f64>]) -> Result<(), Error> {
    if trials.is_empty() {
        return Err(Error::NoTrials);
    }
    trials.iter().enumerate().try_for_each(|(trial, samples)| check_trial(trial, samples))
}

fn check_trial(trial: usize, samples: &[f64]) -> Result<(), Error> {
    if samples.is_empty() {
        return Err(Error::EmptyTrial { trial });
    }
    for (sample, &value) in samples.iter().enumerate() {
        if !value.is_finite() {
            return Err(Error::NotFinite { trial, sample, value });
        }
        if value.abs() > LARGEST {
            return Err(Error::TooLarge { trial, sample, value });
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_the_trial_and_the_sample_that_is_not_finite() {
        let trials = [vec![1.0, 2.0], vec![3.0, f64::INFINITY]];
        let error = check_trials(&trials).unwrap_err();
        assert_eq!(error, Error::NotFinite { trial: 1, sample: 1, value: f64::INFINITY });
        assert_eq!(error.to_string(), "sample 1 of trial 1 is inf, not a finite number");
    }

    #[test]
    fn rejects_a_nan_sample() {
        let error = check_series(&[0.0, f64::NAN]).unwrap_err();
        assert!(matches!(error, Error::NotFinite { trial: 0, sample: 1, .. }));
    }

    #[test]
    fn rejects_what_cannot_be_squared() {
        assert_eq!(check_series(&[LARGEST]), Ok(()));
        let error = check_series(&[-1.1e100]).unwrap_err();
        assert_eq!(error, Error::TooLarge { trial: 0, sample: 0, value: -1.1e100 });
    }

    #[test]
    fn rejects_nothing_at_all_and_an_empty_trial() {
        assert_eq!(check_trials(&[]), Err(Error::NoTrials));
        assert_eq!(check_trials(&[vec![1.0], vec![]]), Err(Error::EmptyTrial { trial: 1 }));
    }
}
