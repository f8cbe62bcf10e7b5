//! Which nodes a benchmark of two parts is measured between.

/// A way to pair the nodes of a run.
#[derive(Clone, Copy, Debug)]
pub struct Pattern {
    /// The word for it.
    pub id: &'static str,
    /// One sentence.
    pub doc: &'static str,
    pairs: fn(usize) -> Vec<(usize, usize)>,
}

/// Every pattern; the first is the default.
pub const PATTERNS: &[Pattern] = &[
    Pattern {
        id: "pair",
        doc: "Every node with its neighbour: the first with the second, the third with the fourth.",
        pairs: pair,
    },
    Pattern { id: "ring", doc: "Every node with the next one, and the last with the first.", pairs: ring },
    Pattern {
        id: "all-pairs",
        doc: "Every node with every other, in rounds in which no node is in two pairs.",
        pairs: all_pairs,
    },
];

impl Pattern {
    /// The pattern called `id`.
    pub fn find(id: &str) -> Option<&'static Self> {
        PATTERNS.iter().find(|pattern| pattern.id == id)
    }

    /// The pairs of `count` nodes, by position; in an order in which neighbours in the list share few nodes, so that as
    /// many as possible run side by side. A single node is paired with itself.
    pub fn pairs(&self, count: usize) -> Vec<(usize, usize)> {
        if count == 1 { vec![(0, 0)] } else { (self.pairs)(count) }
    }
}

/// An odd node at the end is measured with the first, so that nobody is left out.
fn pair(count: usize) -> Vec<(usize, usize)> {
    let mut pairs: Vec<_> = (0..count / 2).map(|at| (2 * at, 2 * at + 1)).collect();
    if count % 2 == 1 && count > 1 {
        pairs.push((count - 1, 0));
    }
    pairs
}

/// Even ends first, then odd ones: two rounds for an even number of nodes.
fn ring(count: usize) -> Vec<(usize, usize)> {
    if count == 2 {
        return vec![(0, 1)];
    }
    let from = |first: usize| (first..count).step_by(2).map(move |at| (at, (at + 1) % count));
    from(0).chain(from(1)).collect()
}

/// The circle method of round-robin tournaments: one seat stands still, the others move round it; a seat too many is a
/// pause.
fn all_pairs(count: usize) -> Vec<(usize, usize)> {
    let seats = count + count % 2;
    let mut pairs = Vec::with_capacity(count * count.saturating_sub(1) / 2);
    for round in 0..seats.saturating_sub(1) {
        for at in 0..seats / 2 {
            let sit = |seat: usize| if seat == 0 { 0 } else { (seat - 1 + round) % (seats - 1) + 1 };
            let (a, b) = (sit(at), sit(seats - 1 - at));
            if a < count && b < count {
                pairs.push((a.min(b), a.max(b)));
            }
        }
    }
    pairs
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    fn of(id: &str, count: usize) -> Vec<(usize, usize)> {
        Pattern::find(id).expect("a pattern").pairs(count)
    }

    #[test]
    fn neighbours_are_paired_and_an_odd_one_is_not_left_out() {
        assert_eq!(of("pair", 4), [(0, 1), (2, 3)]);
        assert_eq!(of("pair", 3), [(0, 1), (2, 0)]);
        assert_eq!(of("pair", 1), [(0, 0)]);
        assert!(of("pair", 0).is_empty());
    }

    #[test]
    fn a_ring_takes_everybody_twice() {
        assert_eq!(of("ring", 2), [(0, 1)]);
        assert_eq!(of("ring", 4), [(0, 1), (2, 3), (1, 2), (3, 0)]);
        for node in 0..5 {
            assert_eq!(of("ring", 5).iter().filter(|(a, b)| *a == node || *b == node).count(), 2);
        }
    }

    #[test]
    fn all_pairs_are_met_once_in_rounds_without_a_clash() {
        for count in 2..20 {
            let pairs = of("all-pairs", count);
            let distinct: BTreeSet<_> = pairs.iter().collect();
            assert_eq!((pairs.len(), distinct.len()), (count * (count - 1) / 2, count * (count - 1) / 2));
            assert!(pairs.iter().all(|(a, b)| a < b && *b < count));
            for round in pairs.chunks(count / 2) {
                let ends: BTreeSet<usize> = round.iter().flat_map(|(a, b)| [*a, *b]).collect();
                assert_eq!(ends.len(), 2 * round.len(), "{count}: {round:?}");
            }
        }
    }
}
