//! Chooses partners for tested nodes when the other side is not tested.

use std::collections::HashMap;

use super::{Ends, Partners};

/// Every player with one partner: the least used, of equals the nearest behind it in the list, and never itself.
pub(super) fn choose(ends: &Ends<'_>) -> Vec<(usize, usize)> {
    let all = match ends.partners {
        None => ends.players,
        Some(Partners::Any(all) | Partners::Role(all)) => all,
    };
    in_turn(ends.players, all, 1)
}

/// The same, `rounds` times, with new partners for each player as long as there are some.
pub(super) fn in_turn(players: &[usize], partners: &[usize], rounds: usize) -> Vec<(usize, usize)> {
    let mut used: HashMap<usize, usize> = HashMap::new();
    let mut pairs: Vec<(usize, usize)> = Vec::new();
    for _ in 0..rounds {
        for player in players {
            // A player that is no partner itself begins at the front.
            let place = partners.iter().position(|node| node == player).unwrap_or(0);
            let rank = |(at, node): &(usize, &usize)| {
                let behind = (at + partners.len() - place) % partners.len();
                (used.get(*node).copied().unwrap_or(0), behind)
            };
            let others = partners.iter().enumerate().filter(|(_, node)| *node != player);
            let fresh = others.filter(|(_, node)| !pairs.contains(&(*player, **node)));
            if let Some((_, partner)) = fresh.min_by_key(rank) {
                *used.entry(*partner).or_default() += 1;
                pairs.push((*player, *partner));
            }
        }
    }
    pairs
}
