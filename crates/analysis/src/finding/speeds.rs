//! Matrices of the speeds between nodes, and which node is slow in them.

use super::matrix::{Matrix, matrices};
use seatrial_model::Dimension;
use seatrial_model::record::CaseRecord;

/// Partners that a node must have been slow with: with one alone either may be the slow one.
pub const FEWEST_PARTNERS: usize = 2;

pub fn is_of(case: &CaseRecord, matrix: &Matrix) -> bool {
    case.group == matrix.group && case.bench == matrix.bench && case.params == matrix.params
}

/// The matrices in which a low number is a slow one. The size of the packets that get through is not: `mtu-mismatch` tells.
pub fn speeds(records: &[CaseRecord]) -> Vec<Matrix> {
    let mut all = matrices(records);
    all.retain(|matrix| matrix.unit.dimension() != Dimension::Size);
    all
}

/// Whether `slow-node` names `node` for the question of `group`.
pub fn is_named_slow(records: &[CaseRecord], group: &str, node: &str) -> bool {
    let asked = speeds(records).into_iter().filter(|matrix| matrix.group == group);
    let mut named = asked.flat_map(|matrix| {
        let slow = matrix.slow_nodes(FEWEST_PARTNERS);
        slow.into_iter().map(|slow| matrix.nodes[slow.nodes[0]].clone()).collect::<Vec<_>>()
    });
    named.any(|named| named == node)
}
