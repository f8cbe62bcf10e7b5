//! Hashed flows: the number of links that carry at least one flow.
//!
//! Each of N flows is hashed to one of L links, uniformly and independently (balls in bins). The probability that
//! exactly m links carry a flow after N flows follows from the one after N - 1: the last flow is hashed to one of the
//! m links that carry a flow already, or to one of the L - m + 1 others:
//!
//! P(N, m) = P(N-1, m) m/L + P(N-1, m-1) (L-m+1)/L
//!
//! On average L (1 - (1 - 1/L)^N) links carry a flow. If one flow saturates a link, the total is that number of
//! links. (Johnson and Kotz, "Urn models and their application", 1977, chapter 3.)

/// The largest number of links that a fit considers.
const MOST_LINKS: u32 = 128;

/// The average number of `links` that carry a flow, over all ways to hash `flows`.
pub(super) fn expected(flows: u32, links: u32) -> f64 {
    let links = f64::from(links.max(1));
    links * (1.0 - (1.0 - 1.0 / links).powf(f64::from(flows)))
}

pub(super) fn at_most(flows: u32, links: u32, most: u32) -> f64 {
    occupied(flows, links).iter().take(most as usize + 1).sum()
}

/// The most likely number of links, given pairs of `flows` and the number of links that carried one. `None` if no two
/// flows ever shared a link: there may be any number of links.
pub(super) fn fit(seen: &[(u32, u32)]) -> Option<u32> {
    if seen.iter().all(|(flows, links)| links >= flows) {
        return None;
    }
    let fewest = seen.iter().map(|(_, links)| *links).max()?.max(1);
    let likelihood = |links: u32| -> f64 {
        let of = |(flows, seen): &(u32, u32)| {
            let chance = occupied(*flows, links).get(*seen as usize).copied().unwrap_or(0.0);
            // An impossible number of links is less likely than every possible one.
            chance.max(f64::MIN_POSITIVE).ln()
        };
        seen.iter().map(of).sum()
    };
    let best = (fewest..=MOST_LINKS).map(|links| (links, likelihood(links)));
    // Of equals the fewest links.
    best.reduce(|best, next| if next.1 > best.1 { next } else { best }).map(|(links, _)| links)
}

/// The probability of each number of links with a flow, from zero to all.
fn occupied(flows: u32, links: u32) -> Vec<f64> {
    let all = links.max(1) as usize;
    let mut chances = vec![0.0; all + 1];
    chances[0] = 1.0;
    for _ in 0..flows {
        for with in (0..=all).rev() {
            let stays = chances[with] * with as f64 / all as f64;
            let comes =
                if with == 0 { 0.0 } else { chances[with - 1] * (all - with + 1) as f64 / all as f64 };
            chances[with] = stays + comes;
        }
    }
    chances
}

#[cfg(test)]
mod tests {
    use super::*;

    fn near(value: f64, exact: f64) -> bool {
        (value - exact).abs() < 1e-12
    }

    #[test]
    fn the_average_and_the_chances_are_those_of_all_ways_counted() {
        // Three flows on two links: 2 of 8 ways leave a link without a flow.
        assert!(near(expected(3, 2), 1.75));
        assert!(near(at_most(3, 2, 1), 0.25) && near(at_most(3, 2, 2), 1.0) && near(at_most(3, 2, 0), 0.0));
        // Four flows on three links: of 81 ways 3 use one link, 42 two, 36 three.
        assert!(near(at_most(4, 3, 1), 3.0 / 81.0) && near(at_most(4, 3, 2), 45.0 / 81.0));
        assert!(near(expected(4, 3), (3.0 + 84.0 + 108.0) / 81.0));
        assert!(near(expected(7, 1), 1.0) && near(expected(0, 4), 0.0));
        for flows in 0..12 {
            let chances = occupied(flows, 6);
            let average: f64 = chances.iter().enumerate().map(|(links, chance)| links as f64 * chance).sum();
            assert!(near(chances.iter().sum(), 1.0) && near(average, expected(flows, 6)), "{flows}");
        }
    }

    #[test]
    fn the_number_of_links_is_found_from_how_many_were_seen() {
        // The averages for five links and 1 to 20 flows, rounded.
        let seen: Vec<(u32, u32)> =
            (1..=20).map(|flows| (flows, expected(flows, 5).round() as u32)).collect();
        assert_eq!(fit(&seen), Some(5));
        assert_eq!(fit(&[(4, 1), (5, 1)]), Some(1));
        assert_eq!(fit(&[(1, 1), (2, 2), (3, 3)]), None, "any number of links would do that");
        assert_eq!(fit(&[]), None);
    }
}
