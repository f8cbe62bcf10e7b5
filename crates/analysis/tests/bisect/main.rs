//! How often the search names the right node or boundary of simulated fleets, and how many cases it takes.

mod fleet;

use fleet::{Fleet, Outcome, Truth};
use seatrial_analysis::bisect::{GroupResult, Next, Place, Search};
use seatrial_stats::Random;

/// Share of the noise's variance that the trials of a case show.
const SHOWN: f64 = 0.5;

#[derive(Clone, Copy, Debug)]
enum Kind {
    Sound,
    Slow(usize),
    Unequal,
    Halves,
    Eighth,
    SharedHalves,
    SharedEighth,
    Pair,
}

fn truth(kind: Kind, nodes: usize, by: f64, random: &mut Random) -> Truth {
    let mut order: Vec<usize> = (0..nodes).collect();
    random.shuffle(&mut order);
    match kind {
        Kind::Sound => Truth::Sound,
        Kind::Slow(count) => Truth::Nodes(order.into_iter().take(count).map(|node| (node, by)).collect()),
        Kind::Unequal => Truth::Nodes(vec![(order[0], by), (order[1], 2.0 * by)]),
        Kind::Halves => Truth::Uplink(nodes / 2, by),
        Kind::Eighth => Truth::Uplink(nodes / 8, by),
        Kind::SharedHalves => Truth::SharedUplink(nodes / 2, 1.0 - by),
        // Groups of half of the nodes load the links of an eighth by 14 % less than the whole does.
        Kind::SharedEighth => Truth::SharedUplink(nodes / 8, 1.0 - 3.0 * by),
        Kind::Pair => Truth::Pair(order[0].min(order[1]), order[0].max(order[1]), by),
    }
}

#[derive(Clone, Copy, Debug, Default)]
struct Row {
    right: usize,
    wrong: usize,
    cases: usize,
    most: usize,
}

/// Searches `fleets` fleets with a fault of 10 %.
fn row(kind: Kind, nodes: usize, noise: f64, shown: f64, disturbed: f64, fleets: usize) -> Row {
    let mut random = Random::of(7 + nodes as u64);
    let mut row = Row::default();
    for _ in 0..fleets {
        let truth = truth(kind, nodes, 0.1, &mut random);
        let mut fleet = Fleet { nodes, truth, noise, shown, disturbed, random: Random::of(random.bits()) };
        let (found, cases) = fleet.search(&[]);
        match fleet.outcome(&found) {
            Outcome::Right => row.right += 1,
            Outcome::Wrong => row.wrong += 1,
            Outcome::Missed => {}
        }
        row.cases += cases;
        row.most = row.most.max(cases);
    }
    row
}

#[test]
#[ignore = "minutes"]
#[expect(clippy::print_stdout, reason = "printing the table of docs/bisect.md is the purpose")]
fn table() {
    let kinds = [
        (Kind::Sound, "none"),
        (Kind::Slow(1), "one slow node"),
        (Kind::Slow(2), "two slow nodes"),
        (Kind::Slow(3), "three slow nodes"),
        (Kind::Unequal, "two, one by 20 %"),
        (Kind::Halves, "boundary between halves"),
        (Kind::Eighth, "boundary around an eighth"),
        (Kind::SharedHalves, "narrow links between halves"),
        (Kind::SharedEighth, "narrow links of an eighth, by 30 %"),
        (Kind::Pair, "link of two nodes"),
    ];
    let undisturbed = kinds.into_iter().map(|(kind, words)| (kind, words.to_owned(), 0.0));
    let disturbed = kinds[..4].iter().map(|(kind, words)| (*kind, format!("{words}, 5 % disturbed"), 0.05));
    for (kind, words, disturbed) in undisturbed.chain(disturbed) {
        // An eighth of 8 nodes is a node.
        let sizes = [8, 64, 512, 4096].into_iter();
        for nodes in sizes.filter(|nodes| *nodes > 8 || !matches!(kind, Kind::Eighth | Kind::SharedEighth)) {
            let fleets = if nodes > 1000 { 30 } else { 300 };
            let cell = |noise: f64| {
                let row = row(kind, nodes, noise, SHOWN, disturbed, fleets);
                let percent = |count: usize| 100.0 * count as f64 / fleets as f64;
                let mean = row.cases as f64 / fleets as f64;
                format!("{:.1}, {:.1}, {mean:.0} ({})", percent(row.right), percent(row.wrong), row.most)
            };
            let cells: Vec<String> = [0.005, 0.01, 0.02, 0.03].into_iter().map(cell).collect();
            println!("| {words} | {nodes} | {} |", cells.join(" | "));
        }
    }
}

#[test]
#[ignore = "minutes"]
fn sound_fleets_are_not_blamed_however_much_of_the_noise_the_intervals_show() {
    for shown in [0.0, 1.0] {
        for nodes in [8, 13, 64, 1000] {
            for noise in [0.005, 0.01, 0.02, 0.03] {
                for disturbed in [0.0, 0.05] {
                    let row = row(Kind::Sound, nodes, noise, shown, disturbed, 1000);
                    // Much noise that no interval shows is the one case that the rule does not exclude.
                    let most = if shown == 0.0 && noise > 0.01 { 4 } else { 0 };
                    assert!(row.wrong <= most, "{nodes} {noise} {shown} {disturbed}: {row:?}");
                }
            }
        }
    }
}

#[test]
fn of_a_thousand_sound_fleets_none_is_blamed() {
    let fleets = [(8, 0.005, 0.0), (8, 0.03, 0.0), (13, 0.01, 0.05), (32, 0.02, 0.1), (100, 0.03, 0.0)];
    for (nodes, noise, disturbed) in fleets {
        let row = row(Kind::Sound, nodes, noise, SHOWN, disturbed, 200);
        assert_eq!((row.right, row.wrong), (200, 0), "{nodes} {noise}");
    }
}

#[test]
fn faults_of_10_percent_are_named_at_1_percent_of_noise() {
    for (kind, nodes, fleets) in [
        (Kind::Slow(1), 8, 200),
        (Kind::Slow(1), 11, 100),
        (Kind::Slow(1), 64, 100),
        (Kind::Slow(2), 32, 100),
        (Kind::Slow(3), 30, 100),
        (Kind::Halves, 16, 100),
        (Kind::Eighth, 32, 100),
        (Kind::SharedHalves, 32, 100),
        (Kind::SharedEighth, 32, 100),
        (Kind::Pair, 16, 100),
        (Kind::Slow(1), 4096, 3),
        (Kind::Pair, 1024, 3),
    ] {
        let row = row(kind, nodes, 0.01, SHOWN, 0.0, fleets);
        assert!(100 * row.right >= 99 * fleets && row.wrong == 0, "{kind:?} {nodes}: {row:?}");
    }
}

/// The whole, two groups for each halving, and the confirmation with a group of proven nodes beside it.
#[test]
fn a_slow_node_costs_two_cases_for_each_halving_and_three() {
    for nodes in [4, 5, 8, 9, 16, 100, 1024] {
        for node in [0, nodes / 3, nodes - 1] {
            let truth = Truth::Nodes(vec![(node, 0.1)]);
            let mut fleet =
                Fleet { nodes, truth, noise: 0.002, shown: SHOWN, disturbed: 0.0, random: Random::of(1) };
            let (found, cases) = fleet.search(&[]);
            assert_eq!(fleet.outcome(&found), Outcome::Right, "{node} of {nodes}: {found:?}");
            let halvings = nodes.next_power_of_two().ilog2() as usize;
            // Of four and five nodes there are few groups, so some are measured again.
            assert!(cases <= if nodes < 8 { 10 } else { 2 * halvings + 3 }, "{node} of {nodes}: {cases}");
        }
    }
}

#[test]
fn a_suspect_of_other_measurements_is_confirmed_with_nine_cases_and_a_sound_one_is_cleared() {
    let truth = Truth::Nodes(vec![(40, 0.1)]);
    for (suspects, most) in [(&[40][..], 9), (&[40, 3], 9), (&[3], 15)] {
        let truth = truth.clone();
        let mut fleet =
            Fleet { nodes: 64, truth, noise: 0.005, shown: SHOWN, disturbed: 0.0, random: Random::of(5) };
        let (found, cases) = fleet.search(suspects);
        assert_eq!(fleet.outcome(&found), Outcome::Right, "{suspects:?}: {found:?}");
        assert!(cases <= most, "{suspects:?}: {cases}");
    }
}

#[test]
fn a_fault_states_how_slow_it_is_with_its_interval() {
    let truth = Truth::Nodes(vec![(5, 0.2)]);
    let mut fleet =
        Fleet { nodes: 16, truth, noise: 0.01, shown: SHOWN, disturbed: 0.0, random: Random::of(9) };
    let (found, _) = fleet.search(&[]);
    let [fault] = found.faults.as_slice() else { panic!("{found:?}") };
    assert_eq!(fault.place, Place::Node(5));
    assert!((fault.deficit + 0.8_f64.ln()).abs() < fault.half_width && fault.half_width < 0.05, "{fault:?}");
    assert!(fault.slow.len() >= 2 && fault.slow.iter().all(|group| group.len() == 8), "{fault:?}");
    let shared = fault.slow[0].iter().filter(|node| fault.slow[1].contains(node)).count();
    assert_eq!(shared, 1, "the two groups share only the slow node: {fault:?}");
}

#[test]
fn a_boundary_is_named_wherever_in_the_list_of_nodes_it_lies() {
    for (nodes, inside) in [(8, 2), (8, 3), (16, 5), (16, 7), (64, 27), (64, 33), (100, 2), (100, 25)] {
        let truth = Truth::Uplink(inside, 0.1);
        let mut fleet =
            Fleet { nodes, truth, noise: 0.005, shown: SHOWN, disturbed: 0.0, random: Random::of(9) };
        let (found, _) = fleet.search(&[]);
        assert_eq!(fleet.outcome(&found), Outcome::Right, "{inside} of {nodes}: {found:?}");
    }
}

#[test]
fn a_group_without_a_value_ends_the_search_without_blame() {
    let nodes: Vec<usize> = (0..8).collect();
    let result = |nodes: &[usize], log_rate| GroupResult { nodes: nodes.to_vec(), log_rate, error: 0.0 };
    let results = [result(&nodes, -0.1), result(&nodes[..4], -0.1), result(&nodes[4..], 0.0)];
    let search = Search { nodes: 8, suspects: &[], results: &results, without_value: &[] };
    let Next::Measure(steps) = search.next() else { panic!("{:?}", search.next()) };
    let [step] = steps.as_slice() else { panic!("{steps:?}") };
    assert_eq!(step.as_slice(), [vec![0, 1, 4, 5], vec![2, 3, 6, 7]]);
    let Next::Done(found) = (Search { without_value: &step[..1], ..search }).next() else { panic!() };
    assert_eq!((found.faults.len(), found.stopped_at.as_ref()), (0, step.first()));
}
