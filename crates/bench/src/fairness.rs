//! How evenly flows share a path.

/// Jain's index: 1 if all rates are equal, 1/n if one flow has everything (R. Jain, D. Chiu, W. Hawe, DEC-TR-301,
/// 1984); none where nothing moved.
pub fn fairness(rates: &[f64]) -> Option<f64> {
    let (sum, squares) =
        rates.iter().fold((0.0, 0.0), |(sum, squares), rate| (sum + rate, squares + rate * rate));
    (squares > 0.0).then(|| sum * sum / (rates.len() as f64 * squares))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_rates_are_fair_and_one_flow_that_has_everything_is_not() {
        assert_eq!(fairness(&[2.0; 4]), Some(1.0));
        assert_eq!(fairness(&[8.0, 0.0, 0.0, 0.0]), Some(0.25));
        assert_eq!(fairness(&[0.0, 0.0]), None);
    }
}
