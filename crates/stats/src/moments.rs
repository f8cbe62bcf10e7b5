//! Mean, variance and Student's quantiles, the few moments that the intervals need.

use statrs::distribution::{ContinuousCDF, StudentsT};

/// Arithmetic mean of at least one value.
pub(crate) fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// Sample variance, with n - 1 in the denominator, of at least two values.
pub(crate) fn variance(values: &[f64]) -> f64 {
    let centre = mean(values);
    values.iter().map(|value| (value - centre).powi(2)).sum::<f64>() / (values.len() - 1) as f64
}

/// The `p`-quantile of Student's t distribution; `freedom` need not be whole.
pub fn student_quantile(p: f64, freedom: f64) -> f64 {
    // Beyond this the quantile differs from the normal one by less than 3e-5, and the inverse of the
    // incomplete beta function gains nothing from a larger argument.
    let freedom = freedom.clamp(1.0, 1e5);
    StudentsT::new(0.0, 1.0, freedom).expect("freedom lies in 1..=1e5").inverse_cdf(p)
}

/// The chance that Student's t with `freedom` degrees lies at least as far from zero as `t`, on either side.
pub(crate) fn student_tails(t: f64, freedom: f64) -> f64 {
    let freedom = freedom.clamp(1.0, 1e5);
    let upper = StudentsT::new(0.0, 1.0, freedom).expect("freedom lies in 1..=1e5").sf(t.abs());
    (2.0 * upper).clamp(0.0, 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tails_beyond_a_quantile_are_what_it_leaves() {
        for freedom in [1.0, 2.56, 4.0, 30.0] {
            let t = student_quantile(0.975, freedom);
            assert!((student_tails(t, freedom) - 0.05).abs() < 1e-6, "{freedom}");
            assert_eq!(student_tails(t, freedom), student_tails(-t, freedom));
        }
        assert_eq!(student_tails(0.0, 4.0), 1.0);
    }

    #[test]
    fn agrees_with_the_printed_table_of_t() {
        // Two-sided 95 % column of any printed table, and the closed form tan(0.475 pi) for one degree.
        let table =
            [(1.0, 12.7062), (2.0, 4.3027), (4.0, 2.7764), (9.0, 2.2622), (30.0, 2.0423), (1e9, 1.9600)];
        for (freedom, expected) in table {
            let found = student_quantile(0.975, freedom);
            assert!((found - expected).abs() < 1e-4, "{freedom}: {found}");
            assert!((student_quantile(0.025, freedom) + found).abs() < 1e-9);
        }
    }

    #[test]
    fn takes_fractions_of_a_degree_of_freedom() {
        let (two, between, three) =
            (student_quantile(0.975, 2.0), student_quantile(0.975, 2.5), student_quantile(0.975, 3.0));
        assert!(two > between && between > three, "{two} {between} {three}");
    }

    #[test]
    fn divides_the_variance_by_one_less_than_the_count() {
        assert_eq!(mean(&[1.0, 2.0, 6.0]), 3.0);
        assert_eq!(variance(&[1.0, 2.0, 6.0]), 7.0);
    }
}
