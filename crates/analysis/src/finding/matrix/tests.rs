//! What is named in a matrix, and how often it is right.

use super::*;
use crate::judge::fixture::{case, metric, no_limit};
use seatrial_stats::Random;

fn pair(one: usize, other: usize, value: f64) -> CaseRecord {
    let mut case = case(&format!("n{one}"), &format!("n{one}->n{other}"));
    case.nodes.push(format!("n{other}"));
    case.metrics.insert("throughput".to_owned(), metric(value, (value, value), no_limit()));
    case
}

/// All pairs of `count` nodes at 100, 99.5 or 100.5, except where `slow` says otherwise.
fn all_pairs(count: usize, slow: impl Fn(usize, usize) -> Option<f64>) -> Matrix {
    let mut records = Vec::new();
    for one in 1..=count {
        for other in one + 1..=count {
            let sound = 99.5 + 0.5 * ((one + other) % 3) as f64;
            records.push(pair(one, other, slow(one, other).unwrap_or(sound)));
        }
    }
    records.reverse();
    let mut found = matrices(&records);
    assert_eq!(found.len(), 1);
    found.remove(0)
}

fn names(matrix: &Matrix, slow: &[Slow]) -> Vec<String> {
    let name =
        |slow: &Slow| slow.nodes.iter().map(|at| matrix.nodes[*at].clone()).collect::<Vec<_>>().join("->");
    slow.iter().map(name).collect()
}

#[test]
fn a_matrix_has_its_nodes_in_order_and_every_pair_where_it_was_measured() {
    let found = all_pairs(11, |_, _| None);
    assert_eq!((found.nodes[1].as_str(), found.nodes[10].as_str()), ("n2", "n11"));
    assert_eq!((found.cells.len(), found.cells[&(0, 1)]), (55, 99.5));
    assert_eq!(found.cells.get(&(1, 0)), None, "the other direction was not measured");
    assert_eq!((found.metric.as_str(), found.unit), ("throughput", Unit::GigabytesPerSecond));
    assert_eq!((found.slow_nodes(2), found.slow_links()), (Vec::new(), Vec::new()));
}

#[test]
fn a_node_that_is_slow_with_everybody_is_named_and_its_partners_are_not() {
    let found = all_pairs(6, |one, other| (one == 4 || other == 4).then_some(80.0));
    let slow = found.slow_nodes(2);
    assert_eq!(names(&found, &slow), ["n4"]);
    assert_eq!((slow[0].value, slow[0].partners), (80.0, 5));
    assert!(found.slow_links().is_empty());
    assert_eq!(found.of_node(3), Some((80.0, 5)));
}

#[test]
fn two_slow_nodes_of_five_are_both_named() {
    let found = all_pairs(5, |one, other| (one <= 2 || other <= 2).then_some(70.0 + one as f64));
    let mut slow = names(&found, &found.slow_nodes(2));
    slow.sort();
    assert_eq!(slow, ["n1", "n2"]);
}

#[test]
fn a_slow_way_between_two_sound_nodes_is_the_way_s_fault() {
    let found = all_pairs(6, |one, other| ((one, other) == (2, 5)).then_some(50.0));
    assert!(found.slow_nodes(2).is_empty());
    let links = found.slow_links();
    assert_eq!(names(&found, &links), ["n2->n5"]);
    assert_eq!((links[0].value, links[0].median), (50.0, 100.0));
}

#[test]
fn of_three_nodes_none_is_named_and_what_ran_beside_others_is_no_cell() {
    let found = all_pairs(3, |one, _| (one == 1).then_some(50.0));
    assert!(found.slow_nodes(1).is_empty());
    let mut beside = pair(1, 2, 100.0);
    beside.origin.step = Some(2);
    assert!(matrices(&[beside]).is_empty());
}

#[test]
fn in_one_round_both_of_a_slow_pair_are_suspects_and_neither_is_named() {
    let records: Vec<CaseRecord> =
        (1..=6).map(|at| pair(2 * at - 1, 2 * at, if at == 3 { 60.0 } else { 100.0 })).collect();
    let matrix = &matrices(&records)[0];
    assert_eq!(matrix.suspects(), [(4, SlowSide::Both), (5, SlowSide::Both)]);
    assert!(matrix.slow_nodes(2).is_empty());
}

/// All ordered pairs of `count` nodes, except where `slow` says otherwise.
fn both_ways(count: usize, mut slow: impl FnMut(usize, usize) -> Option<f64>) -> Matrix {
    let pairs = (1..=count).flat_map(|one| (1..=count).map(move |other| (one, other)));
    let pairs = pairs.filter(|(one, other)| one != other);
    let records: Vec<CaseRecord> = pairs
        .map(|(one, other)| {
            pair(one, other, slow(one, other).unwrap_or(99.5 + 0.5 * ((one + other) % 3) as f64))
        })
        .collect();
    matrices(&records).remove(0)
}

#[test]
fn of_pairs_in_both_directions_the_side_is_told_that_is_slow() {
    let told = |found: &Matrix| -> Vec<(String, SlowSide)> {
        let slow = found.slow_nodes(2).into_iter();
        slow.map(|slow| (found.nodes[slow.nodes[0]].clone(), slow.side)).collect()
    };
    for count in [4, 8] {
        let sends = both_ways(count, |one, _| (one == 3).then_some(8.0));
        assert_eq!(told(&sends), [("n3".to_owned(), SlowSide::Sends)]);
        assert_eq!((sends.slow_nodes(2)[0].value, sends.slow_links()), (8.0, Vec::new()));
        let receives = both_ways(count, |_, other| (other == 3).then_some(80.0));
        assert_eq!(told(&receives), [("n3".to_owned(), SlowSide::Receives)]);
        assert!(receives.slow_links().is_empty());
        let whole = both_ways(count, |one, other| (one == 3 || other == 3).then_some(80.0));
        assert_eq!(told(&whole), [("n3".to_owned(), SlowSide::Both)]);
        assert!(whole.slow_links().is_empty());
        let link = both_ways(count, |one, other| ((one, other) == (3, 4)).then_some(8.0));
        assert_eq!(told(&link), []);
        assert_eq!(names(&link, &link.slow_links()), ["n3->n4"]);
        assert_eq!(told(&both_ways(count, |_, _| None)), []);
    }
}

/// Normal deviate of mean 0 and deviation 1 (Box and Muller).
fn normal(random: &mut Random) -> f64 {
    let (radius, angle) = (random.uniform().max(1e-300), random.uniform());
    (-2.0 * radius.ln()).sqrt() * (std::f64::consts::TAU * angle).cos()
}

/// A matrix of `count` nodes in which each cell has the interval of its scatter.
fn simulated(cells: BTreeMap<(usize, usize), f64>, count: usize, sigma: f64) -> Matrix {
    let better_ends = cells.iter().map(|(at, value)| (*at, value * (1.0 + 1.96 * sigma))).collect();
    let worse_ends = cells.iter().map(|(at, value)| (*at, value * (1.0 - 1.96 * sigma))).collect();
    Matrix { cells, better_ends, worse_ends, nodes: vec![String::new(); count], ..all_pairs(4, |_, _| None) }
}

/// In how many of 200 fleets of 64 nodes the first node is a suspect when it is slow by `slow`, and how many
/// other suspects there are, when a pair's median scatters by `sigma`, in `rounds` rounds.
fn found(rounds: usize, sigma: f64, slow: f64) -> (u32, usize) {
    const NODES: usize = 64;
    let mut random = Random::of(7);
    let (mut hits, mut others) = (0, 0);
    for _ in 0..200 {
        let mut cells = BTreeMap::new();
        while cells.len() < rounds * NODES / 2 {
            let mut nodes: Vec<usize> = (0..NODES).collect();
            for at in (1..NODES).rev() {
                nodes.swap(at, (random.uniform() * (at + 1) as f64) as usize);
            }
            let pairs: Vec<_> = nodes.chunks(2).map(|two| (two[0].min(two[1]), two[0].max(two[1]))).collect();
            if pairs.iter().any(|pair| cells.contains_key(pair)) {
                continue;
            }
            for pair in pairs {
                let rate = if pair.0 == 0 { 100.0 * (1.0 - slow) } else { 100.0 };
                cells.insert(pair, rate * (1.0 + sigma * normal(&mut random)));
            }
        }
        let matrix = simulated(cells, NODES, sigma);
        let suspects = matrix.suspects();
        hits += u32::from(suspects.iter().any(|(node, _)| *node == 0));
        others += suspects.iter().filter(|(node, _)| *node != 0).count();
    }
    (hits, others)
}

/// The table in docs/architecture.md. The last digit of logarithms may differ on other machines and change a
/// fleet.
#[test]
fn a_slow_node_is_suspected_as_often_as_the_documentation_says() {
    for (rounds, sigma, slow, expected) in [
        (3, 0.005, 0.04, 200),
        (3, 0.01, 0.04, 183),
        (3, 0.01, 0.05, 200),
        (3, 0.02, 0.06, 147),
        (3, 0.02, 0.08, 189),
        (3, 0.03, 0.10, 176),
        (5, 0.02, 0.06, 176),
        (5, 0.03, 0.10, 191),
    ] {
        let (hits, others) = found(rounds, sigma, slow);
        assert!(hits.abs_diff(expected) <= 3, "{rounds} {sigma} {slow}: {hits} of 200");
        assert!(others <= 25, "{rounds} {sigma} {slow}: {others} of 12600 sound nodes");
    }
}

#[test]
fn a_node_or_link_that_its_intervals_explain_is_not_named_and_one_good_partner_of_three_speaks_for_a_node() {
    let slow = |one: usize, other: usize| (one == 2 || other == 2).then_some(90.0);
    let mut matrix = all_pairs(4, slow);
    assert_eq!(names(&matrix, &matrix.slow_nodes(2)), ["n2"]);
    for pair in [(0, 1), (1, 2), (1, 3)] {
        matrix.better_ends.insert(pair, 102.0);
    }
    assert_eq!(matrix.slow_nodes(2), []);
    let mut matrix = all_pairs(4, |one, other| if other == 4 { Some(101.0) } else { slow(one, other) });
    assert_eq!(
        (matrix.slow_nodes(2), names(&matrix, &matrix.slow_links()).len()),
        (vec![], 2),
        "links, no node"
    );
    let link = |one, other| ((one, other) == (1, 2)).then_some(90.0);
    matrix = all_pairs(8, link);
    assert_eq!(names(&matrix, &matrix.slow_links()), ["n1->n2"]);
    matrix.better_ends.insert((0, 1), 96.0);
    assert_eq!(matrix.slow_links(), []);
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Planted {
    Nothing,
    Node(SlowSide),
    Link,
}

/// Of `fleets` fleets of `count` nodes, all ordered pairs measured: in how many the first node and its side, or the
/// first pair, is named and nothing else, and in how many something else is named. Each pair scatters by `sigma`.
fn attributed(count: usize, planted: Planted, slow: f64, sigma: f64, fleets: u32) -> (u32, u32) {
    let mut random = Random::of(11);
    let (mut right, mut wrong) = (0, 0);
    for _ in 0..fleets {
        let mut cells = BTreeMap::new();
        for pair in (0..count).flat_map(|one| (0..count).map(move |other| (one, other))) {
            let is_slow = match planted {
                Planted::Nothing => false,
                Planted::Node(side) => side.has(0, pair),
                Planted::Link => pair == (0, 1),
            };
            let rate = if is_slow { 100.0 * (1.0 - slow) } else { 100.0 };
            if pair.0 != pair.1 {
                cells.insert(pair, rate * (1.0 + sigma * normal(&mut random)).max(0.01));
            }
        }
        let matrix = simulated(cells, count, sigma);
        let nodes: Vec<Option<Planted>> = matrix
            .slow_nodes(2)
            .iter()
            .map(|found| (found.nodes == [0]).then_some(Planted::Node(found.side)))
            .collect();
        let links = matrix.slow_links();
        let is_first = |found: &Slow| found.nodes == [0, 1];
        let named: Vec<Option<Planted>> = nodes
            .into_iter()
            .chain(links.iter().map(|found| is_first(found).then_some(Planted::Link)))
            .collect();
        right += u32::from(named == [Some(planted)] || (planted == Planted::Nothing && named.is_empty()));
        wrong += u32::from(named.iter().any(|found| *found != Some(planted)));
    }
    (right, wrong)
}

/// Some cells of the table in docs/architecture.md, which [`tables`] prints.
#[test]
fn the_fault_is_named_and_nothing_else_as_often_as_the_documentation_says() {
    for (count, planted, slow, sigma, least) in [
        (4, Planted::Nothing, 0.0, 0.02, 200),
        (4, Planted::Nothing, 0.0, 0.05, 200),
        (4, Planted::Node(SlowSide::Sends), 0.5, 0.02, 197),
        (8, Planted::Nothing, 0.0, 0.05, 200),
        (8, Planted::Node(SlowSide::Sends), 0.5, 0.02, 197),
        (8, Planted::Node(SlowSide::Receives), 0.1, 0.005, 199),
        (8, Planted::Node(SlowSide::Both), 0.5, 0.02, 197),
        (8, Planted::Link, 0.5, 0.05, 197),
    ] {
        let (right, wrong) = attributed(count, planted, slow, sigma, 200);
        assert!(right >= least && wrong <= 200 - least, "{planted:?} {slow} {sigma}: {right}, {wrong}");
    }
}

/// The loaded lab of docs/diagnosis.md: sound pairs of four nodes have from 0.9 to 20 Gbit/s.
fn scattered(random: &mut Random) -> f64 {
    0.9 * (20.0_f64 / 0.9).powf(random.uniform())
}

#[test]
fn pairs_that_agree_where_all_others_scatter_name_their_node() {
    let mut random = Random::of(3);
    let named = |random: &mut Random, own: [f64; 3]| {
        let matrix = both_ways(4, |one, other| {
            let at = [1, 2, 4].iter().position(|from| *from == one);
            Some(if other == 3 { own[at.expect("a partner")] } else { scattered(random) })
        });
        let slow = matrix.slow_nodes(2);
        slow.iter().map(|slow| (matrix.nodes[slow.nodes[0]].clone(), slow.side)).collect::<Vec<_>>()
    };
    for _ in 0..200 {
        assert_eq!(named(&mut random, [0.4, 0.396, 0.401]), [("n3".to_owned(), SlowSide::Receives)]);
    }
    // Of pairs that do not agree it cannot be told where others may be as slow.
    let apart = (0..200).filter(|_| !named(&mut random, [0.4, 0.7, 0.5]).is_empty()).count();
    assert!(apart < 200, "{apart}");
    let near = |lowest: f64| {
        let other = |one: usize, other: usize| if (one, other) == (1, 2) { lowest } else { 10.0 * lowest };
        let mut matrix = both_ways(4, |one, to| Some(if to == 3 { 0.4 } else { other(one, to) }));
        let plain = matrix.agreeing().iter().count();
        matrix.worse_ends = matrix.cells.iter().map(|(at, value)| (*at, 0.5 * value)).collect();
        (plain, matrix.agreeing().iter().count())
    };
    assert_eq!(near(0.45), (0, 0), "the slowest other pair is nearly as slow");
    assert_eq!(near(0.7), (1, 0), "at its worst another pair is as slow");
    // A loaded lab in which n3 was shaped: the intervals of the others reach below 0.
    let mut matrix = both_ways(4, |one, to| Some(if to == 3 { 0.0794 } else { 2.3 + (one + 2 * to) as f64 }));
    matrix.worse_ends = matrix.cells.keys().map(|at| (*at, if at.1 == 2 { 0.0776 } else { -9.4 })).collect();
    matrix.disturbed = matrix.cells.keys().copied().collect();
    assert!(matrix.agreeing().is_some_and(|slow| slow.nodes == [2]));
}

/// Of 200 fleets of sound nodes, in how many a node or link is named: every pair scatters by `sigma` and loses up to `stolen`
/// of the time of each of three trials; with `lasting`, a case loses the same share in all trials, and its interval is silent.
fn blamed(count: usize, sigma: f64, stolen: f64, lasting: bool) -> usize {
    let mut random = Random::of(23);
    let fleet = |random: &mut Random| {
        let mut cells = BTreeMap::new();
        let (mut better_ends, mut worse_ends, mut disturbed) =
            (BTreeMap::new(), BTreeMap::new(), BTreeSet::new());
        for at in (0..count).flat_map(|one| (0..count).map(move |other| (one, other))) {
            if at.0 == at.1 {
                continue;
            }
            let (of_case, mut taken) = (random.uniform(), 0.0);
            let mut trials: Vec<f64> = (0..3)
                .map(|_| {
                    let lost = stolen * if lasting { of_case } else { random.uniform() };
                    taken += lost / 3.0;
                    (100.0 * (1.0 - lost) * (1.0 + sigma * normal(random))).max(0.01)
                })
                .collect();
            trials.sort_by(f64::total_cmp);
            // As the probe `steal` tells.
            if 100.0 * taken > seatrial_model::disturbance::MOST_STOLEN_PERCENT {
                disturbed.insert(at);
            }
            cells.insert(at, trials[1]);
            worse_ends.insert(at, trials[0]);
            better_ends.insert(at, trials[2]);
        }
        let nodes = vec![String::new(); count];
        Matrix { cells, better_ends, worse_ends, disturbed, nodes, ..all_pairs(4, |_, _| None) }
    };
    let is_blamed = |matrix: Matrix| !matrix.slow_nodes(2).is_empty() || !matrix.slow_links().is_empty();
    (0..200).filter(|_| is_blamed(fleet(&mut random))).count()
}

#[test]
fn no_sound_node_is_named_whatever_the_noise_and_the_stolen_time() {
    for count in [4, 8] {
        for sigma in [0.005, 0.02, 0.05] {
            for (stolen, lasting) in [(0.0, false), (0.1, false), (0.4, false), (0.1, true), (0.4, true)] {
                let blamed = blamed(count, sigma, stolen, lasting);
                assert_eq!(blamed, 0, "{count} nodes, {sigma}, stolen {stolen}, lasting {lasting}");
            }
        }
    }
}

#[test]
#[ignore = "prints the tables of docs/architecture.md"]
#[expect(clippy::print_stdout, reason = "prints the tables")]
fn tables() {
    for (rounds, sigma) in [(3, 0.005), (3, 0.01), (3, 0.02), (3, 0.03), (5, 0.01), (5, 0.02), (5, 0.03)] {
        let hits = [0.04, 0.05, 0.06, 0.08, 0.10, 0.15].map(|slow| found(rounds, sigma, slow).0 / 2);
        println!("| {rounds} | {} % | {} |", 100.0 * sigma, hits.map(|it| it.to_string()).join(" | "));
    }
    for count in [4, 8, 16] {
        for (name, planted) in [
            ("none", Planted::Nothing),
            ("it sends slowly", Planted::Node(SlowSide::Sends)),
            ("it receives slowly", Planted::Node(SlowSide::Receives)),
            ("both", Planted::Node(SlowSide::Both)),
            ("one way of a link", Planted::Link),
        ] {
            let cells = [
                (0.5, 0.005),
                (0.5, 0.02),
                (0.5, 0.05),
                (0.1, 0.005),
                (0.1, 0.02),
                (0.1, 0.05),
                (0.05, 0.005),
                (0.05, 0.02),
            ]
            .map(|(slow, sigma)| {
                let (right, wrong) = attributed(count, planted, slow, sigma, 200);
                format!("{}, {}", right as f64 / 2.0, wrong as f64 / 2.0)
            });
            println!("| {count} | {name} | {} |", cells.join(" | "));
        }
    }
}
