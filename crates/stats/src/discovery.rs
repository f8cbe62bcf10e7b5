//! Many comparisons at once: which of them stand when some come out by chance.

/// Which of the hypotheses with these p-values are rejected so that of all that are, at most `share` are wrong on average.
///
/// The procedure of Benjamini and Hochberg ("Controlling the False Discovery Rate", J. Royal Statistical Society B 57,
/// 1995): with the p-values in rising order, all up to the largest k with p(k) <= k/n x share. Where nothing differs
/// anywhere, even one rejection comes up in no more than `share` of all repeats. It holds for tests that are independent
/// or that err together (Benjamini and Yekutieli, Annals of Statistics 29, 2001), as metrics of one case do.
///
/// The answers are in the order of `p`; one that is not a number is never rejected.
#[must_use]
pub fn discoveries(p: &[f64], share: f64) -> Vec<bool> {
    let mut order: Vec<usize> = (0..p.len()).filter(|at| p[*at].is_finite()).collect();
    order.sort_by(|a, b| p[*a].total_cmp(&p[*b]));
    let count = order.len() as f64;
    let is_small = |(rank, at): (usize, &usize)| p[*at] <= (rank + 1) as f64 / count * share;
    let rejected = order.iter().enumerate().rposition(is_small).map_or(0, |last| last + 1);
    let mut found = vec![false; p.len()];
    for at in &order[..rejected] {
        found[*at] = true;
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The 15 comparisons of the paper's own example (section 3.2), of which the first four are rejected.
    const PAPER: [f64; 15] = [
        0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344, 0.0459, 0.3240, 0.4262, 0.5719,
        0.6528, 0.7590, 1.0000,
    ];

    #[test]
    fn agrees_with_the_example_of_the_paper_in_any_order() {
        let found = discoveries(&PAPER, 0.05);
        assert_eq!(found.iter().filter(|found| **found).count(), 4);
        assert!(found[..4].iter().all(|found| *found));
        let mut backwards = PAPER;
        backwards.reverse();
        let mut expected = found;
        expected.reverse();
        assert_eq!(discoveries(&backwards, 0.05), expected);
    }

    #[test]
    fn one_comparison_is_what_it_is_and_none_is_none() {
        assert_eq!(discoveries(&[0.049], 0.05), [true]);
        assert_eq!(discoveries(&[0.051], 0.05), [false]);
        assert!(discoveries(&[], 0.05).is_empty());
    }

    #[test]
    fn a_small_p_among_many_comes_by_chance() {
        let mut many = vec![0.5; 99];
        many.push(0.01);
        assert!(discoveries(&many, 0.05).iter().all(|found| !found));
        many[99] = 0.0004;
        assert_eq!(discoveries(&many, 0.05).iter().filter(|found| **found).count(), 1);
        assert_eq!(discoveries(&[f64::NAN, 0.01], 0.05), [false, true]);
    }
}
