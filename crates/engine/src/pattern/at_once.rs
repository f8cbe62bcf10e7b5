//! Patterns whose pairs share links on purpose.

use super::{Ends, Partners, Step, groups, one};

/// Each node of the first group with its counterpart in the second.
pub(super) fn bisection(ends: &Ends<'_>) -> Vec<Step> {
    let (first, second) = ends.groups();
    one(first.into_iter().zip(second).collect())
}

/// All nodes with one: the first player, or the first of the partners.
pub(super) fn incast(ends: &Ends<'_>) -> Vec<Step> {
    let target = match ends.partners {
        Some(Partners::Role(role)) => role.first(),
        Some(Partners::Any(all)) => {
            // The tested node comes first in a pair, so a node that is not tested is the better hub.
            all.iter().find(|node| !ends.players.contains(node)).or(ends.players.first())
        }
        None => ends.players.first(),
    };
    let Some(target) = target else { return Vec::new() };
    one(ends.players.iter().filter(|node| *node != target).map(|node| (*node, *target)).collect())
}

/// The first player with all other nodes: players, or partners.
pub(super) fn one_to_many(ends: &Ends<'_>) -> Vec<Step> {
    let Some(source) = ends.players.first() else { return Vec::new() };
    let all = match ends.partners {
        None => ends.players,
        Some(Partners::Any(all) | Partners::Role(all)) => all,
    };
    one(all.iter().filter(|node| *node != source).map(|node| (*source, *node)).collect())
}

/// The pairs of a bisection, one more in every step.
pub(super) fn trunk(ends: &Ends<'_>) -> Vec<Step> {
    let (first, second) = ends.groups();
    let pairs: Vec<_> = first.into_iter().zip(second).collect();
    (1..=pairs.len()).map(|count| Step { number: count as u64, groups: groups(&pairs[..count]) }).collect()
}
