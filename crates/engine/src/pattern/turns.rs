//! Patterns whose pairs are measured without sharing nodes.

use seatrial_stats::Random;

use super::partner;
use super::{Ends, Partners, ROUNDS, Step, one};

/// Neighbours. An odd node at the end is paired with the first, so that no node is left out.
pub(super) fn pair(ends: &Ends<'_>) -> Vec<Step> {
    if ends.partners.is_some() {
        return one(partner::choose(ends));
    }
    let players = ends.players;
    let mut pairs: Vec<_> = players.chunks_exact(2).map(|two| (two[0], two[1])).collect();
    if let [odd] = players.chunks_exact(2).remainder() {
        pairs.push((*odd, players[0]));
    }
    one(pairs)
}

pub(super) fn alone(ends: &Ends<'_>) -> Vec<Step> {
    one(ends.players.iter().map(|node| (*node, *node)).collect())
}

/// Even ends first, then odd ones: two rounds for an even number of nodes. Two nodes are one pair, unless the second
/// is a mere partner.
pub(super) fn ring(ends: &Ends<'_>) -> Vec<Step> {
    let players = ends.players;
    if ends.role().is_some() || players.len() < 2 {
        return one(partner::choose(ends));
    }
    if players.len() == 2 && ends.partners.is_none() {
        return one(vec![(players[0], players[1])]);
    }
    let next = |at: usize| (players[at], players[(at + 1) % players.len()]);
    one((0..players.len()).step_by(2).chain((1..players.len()).step_by(2)).map(next).collect())
}

/// All pairs; where partners are given, every player with every partner.
pub(super) fn all_pairs(ends: &Ends<'_>) -> Vec<Step> {
    match ends.partners {
        None => one(tournament(ends.players.len()).into_iter().flatten().map(named(ends.players)).collect()),
        Some(Partners::Any(all) | Partners::Role(all)) => {
            // Latin square: in each round no node is a partner twice.
            let rounds = 0..all.len();
            let of = |round: usize| {
                let pair = move |(at, player): (usize, &usize)| (*player, all[(at + round) % all.len()]);
                ends.players.iter().enumerate().map(pair).filter(|(one, other)| one != other)
            };
            one(rounds.flat_map(of).collect())
        }
    }
}

/// A fixed seed, so that a run can be resumed.
const SEED: u64 = 20_261_121;

/// Random rounds of a tournament: no pair comes twice, and in a round no node is in two pairs. With an odd number of
/// nodes another node pauses in every round. More rounds than a tournament has make all pairs.
pub(super) fn matchings(ends: &Ends<'_>) -> Vec<Step> {
    let rounds = ends.rounds.map_or(ROUNDS, |rounds| rounds as usize);
    let mut random = Random::of(SEED);
    match ends.partners {
        None => {
            let mut players = ends.players.to_vec();
            random.shuffle(&mut players);
            let mut all = tournament(players.len());
            random.shuffle(&mut all);
            let pairs = all.into_iter().take(rounds).flatten().map(named(&players));
            one(pairs.map(|(one, other)| (one.min(other), one.max(other))).collect())
        }
        Some(Partners::Any(all) | Partners::Role(all)) => {
            let mut partners = all.to_vec();
            random.shuffle(&mut partners);
            let pairs = partner::in_turn(ends.players, &partners, rounds);
            one(pairs)
        }
    }
}

/// Maps positions in `players` to nodes.
fn named(players: &[usize]) -> impl Fn((usize, usize)) -> (usize, usize) {
    move |(one, other)| (players[one], players[other])
}

/// The circle method of round-robin tournaments: one position is fixed, the others rotate; an extra position is a
/// pause.
fn tournament(count: usize) -> Vec<Vec<(usize, usize)>> {
    let positions = count + count % 2;
    let round = |round: usize| {
        let pairs = (0..positions / 2).map(move |at| {
            let sit = |position: usize| {
                if position == 0 { 0 } else { (position - 1 + round) % (positions - 1) + 1 }
            };
            let (a, b) = (sit(at), sit(positions - 1 - at));
            (a.min(b), a.max(b))
        });
        pairs.filter(|(_, b)| *b < count).collect()
    };
    (0..positions.saturating_sub(1)).map(round).collect()
}
