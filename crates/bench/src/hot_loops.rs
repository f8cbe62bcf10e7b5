//! What benchmarks of several families do for each block or request; see `cargo xtask instructions`.

use std::hint::black_box;

use seatrial_model::Nanos;
use seatrial_testkit::hot_loop;

use crate::Latencies;
use crate::payload::{Block, Payload, Permutation};

const BLOCK: Block = Block { file: 1, offset: 1 << 20, generation: 3 };

#[test]
fn a_block_of_64_kib_is_made() {
    let (payload, mut bytes) = (Payload::new(42, 0.0), vec![0; 64 << 10]);
    hot_loop(|| payload.fill(black_box(BLOCK), black_box(&mut bytes)));
    assert!(payload.check(BLOCK, &bytes).is_ok());
}

#[test]
fn a_block_of_64_kib_is_checked() {
    let (payload, mut bytes) = (Payload::new(42, 0.0), vec![0; 64 << 10]);
    payload.fill(BLOCK, &mut bytes);
    hot_loop(|| assert!(payload.check(black_box(BLOCK), black_box(&bytes)).is_ok()));
}

#[test]
fn a_latency_is_recorded() {
    let mut latencies = Latencies::default();
    let mut rounds = 0;
    hot_loop(|| {
        rounds += 1;
        latencies.record(black_box(Nanos(12_345)));
    });
    assert_eq!(latencies.count(), rounds);
}

#[test]
fn the_next_block_of_a_random_order_is_found() {
    const BLOCKS: u64 = 1 << 20;
    let order = Permutation::new(BLOCKS, 42);
    let mut at = 0;
    hot_loop(|| at = order.at(black_box(at)));
    assert!(at < BLOCKS);
}
