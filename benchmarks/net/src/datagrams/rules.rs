//! What a datagram must be to count.

use super::header::Pattern;

/// What the datagrams of a phase have in common.
#[derive(Clone, Copy, Debug)]
pub struct Rules<'a> {
    pub cookie: u64,
    pub phase: u16,
    pub message: usize,
    pub pattern: &'a Pattern,
}
