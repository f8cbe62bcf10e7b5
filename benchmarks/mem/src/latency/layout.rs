//! The rings, their memory, and which CPU chases along them in which order.

use seatrial_model::{Binding, Bytes, Params, PartPlacement, Value};

use crate::chase::POINTER;
use crate::sizes;

/// Alignment of shared memory: a base page.
const PAGE: u64 = 4096;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Block {
    /// NUMA node that the block is bound to; `None` for first touch by the chaser.
    pub memory: Option<u32>,
    pub bytes: u64,
}

/// A ring of `bytes`, from its first line to its last.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RingSpec {
    pub block: usize,
    /// Offset of the first pointer in the block.
    pub first: u64,
    pub bytes: u64,
}

#[derive(Clone, Debug, PartialEq)]
pub struct ChasePoint {
    pub at: Params,
    pub cpu: u32,
    pub ring: usize,
    /// Whether the ring is loaded into the caches before every visit, as far as it fits.
    pub swept: bool,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct LatencyLayout {
    pub blocks: Vec<Block>,
    pub rings: Vec<RingSpec>,
    pub points: Vec<ChasePoint>,
}

impl LatencyLayout {
    pub fn single(binding: Binding, size: u64) -> Self {
        Self {
            blocks: vec![Block { memory: binding.memory, bytes: size }],
            rings: vec![RingSpec { block: 0, first: 0, bytes: size }],
            points: vec![ChasePoint { at: at_size(size), cpu: binding.cpu, ring: 0, swept: false }],
        }
    }

    /// A ring for every size up to `top`, over lines of `line` bytes, chased from `binding`. Rings above half of
    /// `top` have their own memory and are never swept: other rings evict their lines between visits, and a visit is
    /// much shorter than a lap, so hardly a hop hits a cache. They come first in a round, because one of them is the
    /// headline. Smaller rings are swept and share memory: each line has room for pointers of several rings.
    pub fn sizes(binding: Binding, top: u64, line: u64) -> Self {
        let sizes = sizes::sizes(top);
        let (shared, apart): (Vec<u64>, Vec<u64>) = sizes.iter().partition(|size| **size <= top / 2);
        let slots = (line as usize / POINTER).max(1);
        let mut layout = Self::default();
        let mut end = 0;
        for group in shared.rchunks(slots) {
            let largest = group.last().copied().unwrap_or_default();
            for (slot, size) in group.iter().enumerate().rev() {
                let first = end + (slot * POINTER) as u64;
                layout.rings.push(RingSpec { block: 0, first, bytes: *size });
            }
            end += largest.next_multiple_of(PAGE);
        }
        layout.rings.reverse();
        if end > 0 {
            layout.blocks.push(Block { memory: binding.memory, bytes: end });
        }
        for size in apart {
            layout.rings.push(RingSpec { block: layout.blocks.len(), first: 0, bytes: size });
            layout.blocks.push(Block { memory: binding.memory, bytes: size });
        }
        let point = |(ring, size): (usize, &u64)| ChasePoint {
            at: at_size(*size),
            cpu: binding.cpu,
            ring,
            swept: *size <= top / 2,
        };
        layout.points = sizes.iter().enumerate().rev().map(point).collect();
        layout
    }

    /// A ring of `size` bytes on every node in `memories`, chased from each of `bindings`, one per node with cores.
    pub fn matrix(bindings: &[Binding], memories: &[u32], size: u64) -> Self {
        let mut layout = Self::default();
        for (ring, memory) in memories.iter().enumerate() {
            layout.blocks.push(Block { memory: Some(*memory), bytes: size });
            layout.rings.push(RingSpec { block: ring, first: 0, bytes: size });
        }
        for binding in bindings {
            for (ring, memory) in memories.iter().enumerate() {
                let mut at = Params::default();
                at.set("cpu_node", u64::from(binding.node));
                at.set("memory_node", u64::from(*memory));
                layout.points.push(ChasePoint { at, cpu: binding.cpu, ring, swept: false });
            }
        }
        layout
    }

    pub fn of(params: &Params, chosen: &Params, place: &PartPlacement) -> Option<Self> {
        let size = chosen.bytes("size").ok()??.get();
        let binding = *place.bindings.first()?;
        if let Some(nodes) = chosen.get("memory_nodes") {
            let nodes: Option<Vec<u32>> =
                nodes.to_string().split(' ').map(|word| word.parse().ok()).collect();
            return Some(Self::matrix(&place.bindings, &nodes?, size));
        }
        Some(match params.get("size") {
            Some(word) if *word == Value::from("auto") => {
                Self::sizes(binding, size, chosen.bytes("line").ok()??.get())
            }
            _ => Self::single(binding, size),
        })
    }

    /// Bytes of all memory, including the order of the rings.
    pub fn bytes(&self, line: u64) -> u64 {
        let longest = self.rings.iter().map(|ring| ring.bytes).max().unwrap_or(0);
        let order = longest / line * size_of::<u32>() as u64;
        self.blocks.iter().map(|block| block.bytes).sum::<u64>() + order
    }
}

fn at_size(size: u64) -> Params {
    [("size".to_owned(), Bytes(size).into())].into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const KIB: u64 = 1 << 10;
    const MIB: u64 = 1 << 20;
    const BINDING: Binding = Binding { cpu: 5, node: 0, domain: 0, memory: Some(0) };

    #[test]
    fn no_two_pointers_of_a_sweep_stand_in_the_same_place() {
        for line in [64, 128, 256] {
            let layout = LatencyLayout::sizes(BINDING, MIB, line);
            let mut taken = std::collections::BTreeSet::new();
            for ring in &layout.rings {
                for number in 0..ring.bytes / line {
                    let place = ring.first + number * line;
                    assert!(taken.insert((ring.block, place)), "line {line}: {ring:?}");
                    assert!(place + POINTER as u64 <= layout.blocks[ring.block].bytes, "{ring:?}");
                }
            }
        }
    }

    #[test]
    fn rings_above_half_of_the_largest_have_their_own_memory_and_are_never_swept() {
        let layout = LatencyLayout::sizes(BINDING, 128 * MIB, 64);
        let apart: Vec<u64> = layout
            .points
            .iter()
            .filter(|point| !point.swept)
            .map(|point| layout.rings[point.ring].bytes)
            .collect();
        assert_eq!(apart, [128 * MIB, 96 * MIB]);
        let blocks: Vec<u64> = layout.blocks.iter().map(|block| block.bytes).collect();
        // 64 MiB to 6 MiB, 4 MiB to 384 KiB, 256 KiB to 24 KiB, and 16 KiB to 4 KiB share their lines.
        assert_eq!(blocks, [(64 + 4) * MIB + (256 + 16) * KIB, 96 * MIB, 128 * MIB]);
    }

    #[test]
    fn rings_rise_in_size_and_are_visited_from_the_largest_down() {
        let layout = LatencyLayout::sizes(BINDING, 128 * MIB, 64);
        assert!(layout.rings.windows(2).all(|pair| pair[0].bytes < pair[1].bytes), "{layout:?}");
        let points: Vec<usize> = layout.points.iter().map(|point| point.ring).collect();
        assert_eq!(points, (0..layout.rings.len()).rev().collect::<Vec<_>>());
        assert_eq!(layout.points[points.len() - 3].at.bytes("size"), Ok(Some(Bytes::kib(8))));
    }

    #[test]
    fn a_matrix_chases_every_memory_from_every_node_of_cores() {
        let bindings = [BINDING, Binding { cpu: 9, node: 1, domain: 1, memory: Some(1) }];
        let layout = LatencyLayout::matrix(&bindings, &[0, 1, 4], MIB);
        let points: Vec<_> =
            layout.points.iter().map(|point| (point.cpu, layout.blocks[point.ring].memory)).collect();
        assert_eq!(
            points,
            [(5, Some(0)), (5, Some(1)), (5, Some(4)), (9, Some(0)), (9, Some(1)), (9, Some(4))]
        );
        assert_eq!(layout.points[5].at.to_string(), "cpu_node=1,memory_node=4");
    }
}
