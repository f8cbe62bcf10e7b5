//! Figures per price: what the sides of a comparison deliver for what they cost.

use seatrial_model::{Better, Params, Subject, Unit};

use super::{Comparison, Difference, Side};

/// A headline metric of one case, of all sides with a price.
#[derive(Clone, Debug, PartialEq)]
pub struct PerPrice {
    pub bench: String,
    pub metric: String,
    pub unit: Unit,
    pub nodes: Vec<String>,
    pub subject: Subject,
    pub params: Params,
    /// The side with the most for its price first.
    pub ranking: Vec<Priced>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Priced {
    /// The position of the side; the baseline is 0.
    pub side: usize,
    pub value: f64,
    pub price: f64,
    /// The value per unit of the price.
    pub per_price: f64,
}

/// The ranking of every headline metric of which more is better, among sides with a price. A time has no such figure:
/// half the latency is not twice the device.
///
/// `comparisons` are those of side 0 with each of the others.
pub fn per_price(comparisons: &[Comparison], prices: &[Option<f64>]) -> Vec<PerPrice> {
    let mut all: Vec<(String, PerPrice)> = Vec::new();
    for (at, comparison) in comparisons.iter().enumerate() {
        let is_priced = |row: &&Difference| row.is_headline && row.better == Better::Higher;
        for row in comparison.differences.iter().filter(is_priced) {
            let side = priced(at + 1, &row.b, prices);
            match all.iter_mut().find(|(case, known)| *case == row.a.case && known.metric == row.metric) {
                Some((_, known)) => known.ranking.extend(side),
                None => {
                    let ranking = priced(0, &row.a, prices).into_iter().chain(side).collect();
                    all.push((row.a.case.clone(), PerPrice { ranking, ..empty(row) }));
                }
            }
        }
    }
    let mut all: Vec<PerPrice> = all.into_iter().map(|(_, found)| found).collect();
    all.retain(|found| found.ranking.len() > 1);
    for found in &mut all {
        found.ranking.sort_by(|one, other| other.per_price.total_cmp(&one.per_price));
    }
    all
}

fn empty(row: &Difference) -> PerPrice {
    PerPrice {
        bench: row.bench.clone(),
        metric: row.metric.clone(),
        unit: row.unit,
        nodes: row.b.nodes.clone(),
        subject: row.subject.clone(),
        params: row.params.clone(),
        ranking: Vec::new(),
    }
}

fn priced(side: usize, of: &Side, prices: &[Option<f64>]) -> Option<Priced> {
    let (value, price) = (of.value?, prices.get(side).copied().flatten()?);
    Some(Priced { side, value, price, per_price: value / price })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare::{ComparedCases, compare};
    use crate::judge::fixture::measured;

    fn run(rate: f64, better: Better) -> [seatrial_model::record::CaseRecord; 1] {
        let mut case = measured("n1");
        let metric = case.metrics.get_mut("bandwidth").unwrap();
        (metric.samples, metric.better) = (Some(vec![vec![rate; 3]; 3]), better);
        [case]
    }

    #[test]
    fn the_most_for_its_price_comes_first_and_a_side_without_a_price_is_left_out() {
        let runs = [90.0, 120.0, 60.0, 500.0].map(|rate| run(rate, Better::Higher));
        let all: Vec<_> = runs.iter().map(|run| ComparedCases::all(run)).collect();
        let comparisons: Vec<_> = all[1..].iter().map(|other| compare(&all[0], other, None)).collect();
        let found = per_price(&comparisons, &[Some(900.0), Some(2400.0), Some(300.0), None]);
        let [found] = found.as_slice() else { panic!("{found:#?}") };
        assert_eq!(found.metric, "bandwidth");
        let ranking: Vec<_> =
            found.ranking.iter().map(|side| (side.side, (1e6 * side.per_price).round())).collect();
        assert_eq!(ranking, [(2, 200_000.0), (0, 100_000.0), (1, 50_000.0)]);
        assert!(
            per_price(&comparisons, &[Some(900.0), None, None, None]).is_empty(),
            "one price ranks nothing"
        );
    }

    #[test]
    fn a_time_has_no_figure_per_price() {
        let (a, b) = (run(90.0, Better::Lower), run(60.0, Better::Lower));
        let comparison = compare(&ComparedCases::all(&a), &ComparedCases::all(&b), None);
        assert!(per_price(&[comparison], &[Some(1.0), Some(1.0)]).is_empty());
    }
}
