//! Access patterns: which block comes when.

use std::collections::BTreeSet;

use super::rig::params;
use crate::io::access_pattern::AccessPattern;
use crate::io::job::JobSpec;

fn job(changed: &[(&str, &str)]) -> JobSpec {
    let mut all = vec![("size", "100 KiB"), ("block", "1 KiB")];
    all.extend_from_slice(changed);
    JobSpec::of(&params(&all)).expect("a job")
}

#[test]
fn every_block_comes_once_in_each_pass_and_in_another_order() {
    for (pattern, is_sorted) in [("seq", true), ("random", false)] {
        let mut access = AccessPattern::new(&job(&[("pattern", pattern)]), 5);
        let mut orders = BTreeSet::new();
        for pass in 1..=3 {
            let steps: Vec<_> = (0..100).map(|_| access.advance()).collect();
            assert!(steps.iter().all(|io| io.pass == pass));
            let order: Vec<u64> = steps.iter().map(|io| io.block).collect();
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
            let mut access = AccessPattern::new(&job(&[("pattern", pattern), ("operation", operation)]), 9);
            let mut table = vec![0; 100];
            for _ in 0..1234 {
                let io = access.advance();
                let entry = &mut table[io.block as usize];
                if io.write {
                    *entry = io.pass;
                }
                assert_eq!(io.generation, *entry, "{operation} {pattern} {io:?}");
                assert_eq!(access.generation(io.block), *entry);
            }
            for (block, generation) in (0..).zip(&table) {
                assert_eq!(access.generation(block), *generation, "{operation} {pattern} {block}");
            }
        }
    }
}

#[test]
fn a_mix_reads_the_share_that_was_asked_for() {
    for percent in ["0", "25", "100"] {
        let mut access = AccessPattern::new(&job(&[("operation", "mixed"), ("reads", percent)]), 3);
        let reads = (0..20_000).filter(|_| !access.advance().write).count();
        let wanted: f64 = percent.parse().expect("a number");
        // Four standard deviations of a binomial distribution are 1.3 %.
        assert!((reads as f64 / 200.0 - wanted).abs() < 1.3, "{percent}: {reads}");
    }
}
