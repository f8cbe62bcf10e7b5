//! What a datagram must be to count.

use super::header::Pattern;

#[derive(Clone, Copy, Debug)]
pub struct Rules<'a> {
    pub cookie: u64,
    pub phase: u16,
    pub message: usize,
    pub pattern: &'a Pattern,
}
