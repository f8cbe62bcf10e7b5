//! Pairs by pattern, with exact positions.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;
use proptest::test_runner::RngSeed;

use super::*;

fn ends<'a>(players: &'a [usize], partners: Option<Partners<'a>>) -> Ends<'a> {
    Ends { players, partners, rounds: None, division: Division::Count(2) }
}

fn pair(group: &[usize]) -> (usize, usize) {
    match group {
        [one] => (*one, *one),
        [one, other] => (*one, *other),
        more => panic!("{more:?} is no pair"),
    }
}

fn steps(id: &str, players: &[usize], partners: Option<Partners<'_>>) -> Vec<Vec<(usize, usize)>> {
    let pattern = Pattern::find(id).expect("a pattern");
    let steps = pattern.steps(&ends(players, partners));
    steps.into_iter().map(|step| step.groups.iter().map(|group| pair(group)).collect()).collect()
}

fn of(id: &str, count: usize) -> Vec<(usize, usize)> {
    let players: Vec<usize> = (0..count).collect();
    steps(id, &players, None).concat()
}

#[test]
fn neighbours_are_paired_and_an_odd_one_is_not_left_out() {
    assert_eq!(of("pair", 4), [(0, 1), (2, 3)]);
    assert_eq!(of("pair", 3), [(0, 1), (2, 0)]);
    assert!(of("pair", 0).is_empty());
}

#[test]
fn alone_everybody_is_paired_with_itself() {
    assert_eq!(of("alone", 3), [(0, 0), (1, 1), (2, 2)]);
}

#[test]
fn a_single_node_is_paired_with_itself_by_the_pattern_alone_and_by_no_other() {
    assert_eq!(of("alone", 1), [(0, 0)]);
    for pattern in PATTERNS.iter().filter(|pattern| !pattern.has_groups) {
        assert!(pattern.is_alone() || of(pattern.id, 1).is_empty(), "{}", pattern.id);
        assert!(of(pattern.id, 0).is_empty(), "{}", pattern.id);
    }
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

#[test]
fn halves_face_each_other_and_the_odd_one_pauses() {
    assert_eq!(steps("bisection", &[0, 1, 2, 3], None), [[(0, 2), (1, 3)]]);
    assert_eq!(steps("bisection", &[0, 1, 2, 3, 4], None), [[(0, 2), (1, 3)]]);
    assert_eq!(steps("bisection", &[0, 1], Some(Partners::Role(&[1, 4, 5]))), [[(0, 4), (1, 5)]]);
}

#[test]
fn everybody_sends_to_one() {
    assert_eq!(of("incast", 4), [(1, 0), (2, 0), (3, 0)]);
    assert_eq!(steps("incast", &[0, 1], Some(Partners::Role(&[7, 8]))), [[(0, 7), (1, 7)]]);
    assert_eq!(steps("incast", &[0, 1], Some(Partners::Any(&[0, 1, 2]))), [[(0, 2), (1, 2)]]);
    assert_eq!(of("one-to-many", 4), [(0, 1), (0, 2), (0, 3)]);
    assert_eq!(steps("one-to-many", &[0, 1], Some(Partners::Role(&[7, 8]))), [[(0, 7), (0, 8)]]);
}

#[test]
fn a_trunk_gets_one_flow_more_in_every_step() {
    let players = [0, 1, 2, 3, 4, 5];
    let found = Pattern::find("trunk").expect("trunk").steps(&ends(&players, None));
    assert_eq!(found.iter().map(|step| step.number).collect::<Vec<_>>(), [1, 2, 3]);
    assert_eq!(found[0].groups, [[0, 3]]);
    assert_eq!(found[2].groups, [[0, 3], [1, 4], [2, 5]]);
}

#[test]
fn all_nodes_are_one_case_and_groups_share_no_node() {
    let groups = |id: &str, players: &[usize]| {
        let found = Pattern::find(id).expect(id).steps(&ends(players, None));
        found.into_iter().map(|step| step.groups).collect::<Vec<_>>()
    };
    assert_eq!(groups("all", &[3, 1, 2]), [[[3, 1, 2]]]);
    assert_eq!(groups("groups", &[0, 1, 2, 3, 4]), [[vec![0, 1], vec![2, 3, 4]]]);
    assert!(groups("all", &[]).is_empty() && groups("groups", &[]).is_empty());
}

#[test]
fn partners_take_turns_and_nobody_is_its_own_partner() {
    let any = |all| Some(Partners::Any(all));
    assert_eq!(steps("pair", &[0, 1, 2], any(&[0, 1, 2])), [[(0, 1), (1, 2), (2, 0)]]);
    // The only node of its role is measured with another one.
    for id in ["pair", "ring", "all-pairs", "matchings", "incast"] {
        assert_eq!(steps(id, &[1], any(&[0, 1])), [[(1, 0)]], "{id}");
    }
    let role = |all| Some(Partners::Role(all));
    assert_eq!(steps("pair", &[0, 1, 2, 3], role(&[8, 9])), [[(0, 8), (1, 9), (2, 8), (3, 9)]]);
    // A tested node that is the only one of its role has no partner.
    assert!(steps("pair", &[3], role(&[])).is_empty());
    assert!(steps("pair", &[3], role(&[3])).is_empty());
    assert!(steps("pair", &[0], any(&[0])).is_empty());
    // Both of two nodes are tested where the second is a mere partner.
    assert_eq!(steps("ring", &[0, 1], any(&[0, 1])), [[(0, 1), (1, 0)]]);
}

#[test]
fn all_pairs_with_a_role_meet_everybody_of_it_in_rounds() {
    let found = steps("all-pairs", &[0, 1], Some(Partners::Role(&[5, 6, 7]))).concat();
    assert_eq!(found, [(0, 5), (1, 6), (0, 6), (1, 7), (0, 7), (1, 5)]);
}

fn config() -> ProptestConfig {
    ProptestConfig { failure_persistence: None, rng_seed: RngSeed::Fixed(11), ..ProptestConfig::default() }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn matchings_are_rounds_without_a_clash_or_a_pair_that_comes_twice(count in 2_usize..40, rounds in 1_u32..6) {
        let players: Vec<usize> = (100..100 + count).collect();
        let pattern = Pattern::find("matchings").expect("matchings");
        let ends = Ends { rounds: Some(rounds), ..ends(&players, None) };
        let pairs = pattern.steps(&ends).into_iter().flat_map(|step| step.groups).map(|group| pair(&group)).collect::<Vec<_>>();
        let most = count - 1 + count % 2;
        prop_assert_eq!(pairs.len(), (rounds as usize).min(most) * (count / 2));
        prop_assert_eq!(pairs.iter().collect::<BTreeSet<_>>().len(), pairs.len());
        for round in pairs.chunks(count / 2) {
            let nodes: BTreeSet<usize> = round.iter().flat_map(|(a, b)| [*a, *b]).collect();
            prop_assert_eq!(nodes.len(), 2 * round.len());
            prop_assert!(nodes.iter().all(|node| players.contains(node)));
        }
        let again = pattern.steps(&ends).into_iter().flat_map(|step| step.groups).map(|group| pair(&group)).collect::<Vec<_>>();
        prop_assert_eq!(again, pairs, "the same in every run");
    }

    #[test]
    fn chosen_partners_are_used_as_evenly_as_can_be(count in 1_usize..30, from in 0_usize..20, partners in 2_usize..30) {
        let players: Vec<usize> = (0..count).collect();
        let all: Vec<usize> = (from..from + partners).collect();
        let pairs = steps("pair", &players, Some(Partners::Role(&all))).concat();
        prop_assert_eq!(pairs.len(), count);
        prop_assert!(pairs.iter().all(|(one, other)| one != other && all.contains(other)));
        let mut used: BTreeMap<usize, usize> = all.iter().map(|node| (*node, 0)).collect();
        for (_, partner) in &pairs {
            *used.entry(*partner).or_default() += 1;
        }
        let (least, most) = (used.values().min().unwrap(), used.values().max().unwrap());
        // One more where the last one in line would have to be its own partner.
        prop_assert!(most - least <= 2, "{:?}", used);
    }
}

#[test]
fn every_alias_with_a_pattern_names_one_that_exists_for_a_benchmark_of_two_parts() {
    let registry = seatrial_registry::REGISTRY;
    let mut found = 0;
    for alias in registry.aliases() {
        let Some(pattern) = alias.pattern else { continue };
        assert!(Pattern::find(pattern).is_some(), "{}", alias.id);
        let bench = registry.find(alias.bench).unwrap_or_else(|| panic!("{}", alias.id));
        assert!(
            matches!(bench.about.parts, seatrial_model::Parts::Two(_) | seatrial_model::Parts::OneWay(_)),
            "{}",
            alias.id
        );
        found += 1;
    }
    assert_eq!(found, 2);
}
