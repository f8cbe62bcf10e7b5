//! Which blocks come when.

use std::collections::BTreeSet;

use super::super::course::Course;
use super::super::scheme::Scheme;
use super::rig::params;

fn scheme(changed: &[(&str, &str)]) -> Scheme {
    let mut all = vec![("size", "100 KiB"), ("block", "1 KiB")];
    all.extend_from_slice(changed);
    Scheme::of(&params(&all)).expect("a scheme")
}

#[test]
fn every_block_comes_once_in_each_pass_and_in_another_order() {
    for (pattern, is_sorted) in [("seq", true), ("random", false)] {
        let mut course = Course::new(&scheme(&[("pattern", pattern)]), 5);
        let mut orders = BTreeSet::new();
        for pass in 1..=3 {
            let steps: Vec<_> = (0..100).map(|_| course.advance()).collect();
            assert!(steps.iter().all(|step| step.pass == pass));
            let order: Vec<u64> = steps.iter().map(|step| step.block).collect();
            assert_eq!(order.is_sorted(), is_sorted);
            assert_eq!(order.iter().copied().collect::<BTreeSet<_>>(), (0..100).collect());
            orders.insert(order);
        }
        assert_eq!(orders.len(), if is_sorted { 1 } else { 3 });
    }
}

#[test]
fn generations_are_those_of_a_table() {
    for operation in ["read", "write", "mixed"] {
        for pattern in ["seq", "random"] {
            let mut course = Course::new(&scheme(&[("pattern", pattern), ("operation", operation)]), 9);
            let mut table = vec![0; 100];
            for _ in 0..1234 {
                let step = course.advance();
                let entry = &mut table[step.block as usize];
                if step.write {
                    *entry = step.pass;
                }
                assert_eq!(step.generation, *entry, "{operation} {pattern} {step:?}");
                assert_eq!(course.generation(step.block), *entry);
            }
            for (block, generation) in (0..).zip(&table) {
                assert_eq!(course.generation(block), *generation, "{operation} {pattern} {block}");
            }
        }
    }
}

#[test]
fn a_mix_reads_the_share_that_was_asked_for() {
    for percent in ["0", "25", "100"] {
        let mut course = Course::new(&scheme(&[("operation", "mixed"), ("reads", percent)]), 3);
        let reads = (0..20_000).filter(|_| !course.advance().write).count();
        let wanted: f64 = percent.parse().expect("a number");
        // Four standard deviations of a binomial distribution are 1.3 %.
        assert!((reads as f64 / 200.0 - wanted).abs() < 1.3, "{percent}: {reads}");
    }
}
