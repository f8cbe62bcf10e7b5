//! Access patterns: which block comes when.

use std::collections::BTreeSet;

use super::rig::params;
use crate::io::access_pattern::AccessPattern;
use crate::io::job::{JobSpec, Layout};

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

#[test]
fn blocks_of_all_threads_of_all_nodes_alternate_in_one_file() {
    let mut job = job(&[("files", "interleaved"), ("threads", "3"), ("size", "9 KiB"), ("depth", "1")]);
    let alone = job.layout;
    assert_eq!((job.file_count(), job.file_bytes(), job.is_of_many_nodes()), (1, 9 << 10, false));
    let mut offsets = BTreeSet::new();
    for node in 0..4 {
        job.layout = alone.on_node(node, 4);
        assert_eq!((job.file_bytes(), job.is_of_many_nodes()), (36 << 10, true));
        assert_eq!(job.offset(1, 0), (node * 3 + 1) << 10);
        assert_eq!(job.offset(1, 2) - job.offset(1, 1), 12 << 10);
        for thread in 0..3 {
            offsets.extend((0..3).map(|block| job.offset(thread, block)));
            for covered in 0..40 << 10 {
                let filled = (0..3).filter(|block| job.offset(thread, *block) + 1024 <= covered).count();
                assert_eq!(job.laid_out_of(thread, covered), filled as u64, "{node} {thread} {covered}");
            }
        }
    }
    assert_eq!(offsets, (0..36).map(|place| place << 10).collect());
    assert_eq!(Layout::Shared.on_node(3, 4), Layout::Shared);
}
