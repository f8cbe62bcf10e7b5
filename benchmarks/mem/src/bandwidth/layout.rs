//! Which threads work on which memory: the points that are measured in turn.

use std::collections::BTreeMap;

use seatrial_model::{Binding, Nanos, Params, PartPlacement, Value};

/// Level for all threads of an L3 domain.
pub const ALL: u32 = u32::MAX;

/// Key of the planned memory nodes of a matrix.
pub const MEMORY_NODES: &str = "memory_nodes";

/// Key of the planned cores that are measured each alone.
pub const CORES: &str = "cores";

/// Time of a slice: long compared with clock resolution and thread start, short compared with drift.
const SLICE: Nanos = Nanos::millis(25);

/// Time of a slice of one core among many: some ten blocks.
const CORE_SLICE: Nanos = Nanos::millis(10);

/// A shard of every array, on one NUMA node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ShardSlot {
    pub thread: usize,
    /// NUMA node that the shard is bound to; `None` for first touch.
    pub memory: Option<u32>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct MeasurePoint {
    pub at: Params,
    /// Threads, each with the slots that it works through in turn, by index.
    pub threads: Vec<(usize, Vec<usize>)>,
    /// Time of a slice.
    pub span: Nanos,
}

#[derive(Clone, Debug, PartialEq)]
pub struct BandwidthLayout {
    pub slots: Vec<ShardSlot>,
    pub points: Vec<MeasurePoint>,
}

impl BandwidthLayout {
    /// Points with different numbers of threads per L3 domain: `levels`, limited to the cores of a domain.
    pub fn levels(bindings: &[Binding], levels: &[usize]) -> Self {
        let mut domains: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
        for (index, binding) in bindings.iter().enumerate() {
            domains.entry(binding.domain).or_default().push(index);
        }
        let mut points: Vec<MeasurePoint> = Vec::new();
        for level in levels {
            let threads: Vec<_> =
                domains.values().flat_map(|domain| domain.iter().take(*level)).copied().collect();
            if points.iter().all(|point| point.threads.len() != threads.len()) {
                let mut at = Params::default();
                at.set("threads", threads.len() as u64);
                points.push(MeasurePoint {
                    at,
                    threads: threads.into_iter().map(|thread| (thread, vec![thread])).collect(),
                    span: SLICE,
                });
            }
        }
        let slots = bindings
            .iter()
            .enumerate()
            .map(|(thread, binding)| ShardSlot { thread, memory: binding.memory })
            .collect();
        Self { slots, points }
    }

    /// Every core alone, then all together. A core works through the memory of all cores that share its L3 and its NUMA
    /// node: its own shard alone might fit in that cache.
    pub fn cores(bindings: &[Binding]) -> Self {
        let mut layout = Self::levels(bindings, &[usize::MAX]);
        let alone = bindings.iter().enumerate().map(|(thread, binding)| {
            let is_near = |other: &Binding| (other.domain, other.memory) == (binding.domain, binding.memory);
            let all = (0..bindings.len()).map(|step| (thread + step) % bindings.len());
            let mut at = Params::default();
            at.set("cpu", u64::from(binding.cpu));
            let slots = all.filter(|slot| is_near(&bindings[*slot])).collect();
            MeasurePoint { at, threads: vec![(thread, slots)], span: CORE_SLICE }
        });
        layout.points.splice(0..0, alone);
        layout
    }

    /// Time to measure every point once.
    pub fn round(&self) -> Nanos {
        Nanos(self.points.iter().map(|point| point.span.get()).sum())
    }

    /// One point for every node with cores and every node in `memories`.
    pub fn matrix(bindings: &[Binding], memories: &[u32]) -> Self {
        let mut by_node: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
        for (index, binding) in bindings.iter().enumerate() {
            by_node.entry(binding.node).or_default().push(index);
        }
        let largest = by_node.values().max_by_key(|threads| threads.len()).cloned().unwrap_or_default();
        let mut layout = Self { slots: Vec::new(), points: Vec::new() };
        for memory in memories {
            // Touched by the node's own cores if it has as many as the largest node; bound in any case.
            let own =
                by_node.get(memory).filter(|threads| threads.len() == largest.len()).unwrap_or(&largest);
            let first = layout.slots.len();
            layout
                .slots
                .extend(own.iter().map(|thread| ShardSlot { thread: *thread, memory: Some(*memory) }));
            for (cpus, own) in &by_node {
                let mut at = Params::default();
                at.set("cpu_node", u64::from(*cpus));
                at.set("memory_node", u64::from(*memory));
                let threads = own.iter().enumerate().map(|(nth, thread)| (*thread, vec![first + nth]));
                layout.points.push(MeasurePoint { at, threads: threads.collect(), span: SLICE });
            }
        }
        layout
    }

    pub fn of(chosen: &Params, place: &PartPlacement) -> Self {
        let numbers = |name: &str| -> Vec<u32> {
            let text = chosen.get(name).map(Value::to_string).unwrap_or_default();
            text.split(' ')
                .filter_map(|word| if word == "all" { Some(ALL) } else { word.parse().ok() })
                .collect()
        };
        match (chosen.get(MEMORY_NODES), chosen.get(CORES)) {
            (Some(_), _) => Self::matrix(&place.bindings, &numbers(MEMORY_NODES)),
            (None, Some(_)) => Self::cores(&place.bindings),
            (None, None) => {
                let levels: Vec<_> = numbers("levels").into_iter().map(|level| level as usize).collect();
                Self::levels(&place.bindings, &levels)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn binding(cpu: u32, node: u32, domain: u32) -> Binding {
        Binding { cpu, node, domain, memory: Some(node) }
    }

    #[test]
    fn levels_spread_over_domains_and_repeat_no_thread_count() {
        let bindings: Vec<_> = (0..8).map(|cpu| binding(cpu, 0, cpu / 4)).collect();
        let layout = BandwidthLayout::levels(&bindings, &[1, 2, 4, usize::MAX]);
        let counts: Vec<_> = layout.points.iter().map(|point| point.threads.len()).collect();
        assert_eq!(counts, [2, 4, 8]);
        assert_eq!(layout.points[0].threads, [(0, vec![0]), (4, vec![4])]);
        assert_eq!(layout.slots.len(), 8);
    }

    #[test]
    fn a_core_alone_works_through_the_memory_of_its_neighbours() {
        let bindings: Vec<_> = (0..4).map(|cpu| binding(cpu + 8, 0, cpu / 2)).collect();
        let layout = BandwidthLayout::cores(&bindings);
        assert_eq!((layout.points.len(), layout.slots.len()), (5, 4));
        assert_eq!(layout.points[1].at.to_string(), "cpu=9");
        assert_eq!(layout.points[1].threads, [(1, vec![1, 0])]);
        assert_eq!(layout.points[2].threads, [(2, vec![2, 3])]);
        assert_eq!(layout.points[4].at.to_string(), "threads=4");
        assert_eq!(layout.round(), Nanos::millis(4 * 10 + 25));
    }

    #[test]
    fn a_matrix_has_a_cell_for_every_pair_and_memory_without_cores() {
        let bindings = [binding(0, 0, 0), binding(1, 0, 0), binding(2, 1, 1)];
        let layout = BandwidthLayout::matrix(&bindings, &[0, 1, 2]);
        assert_eq!(layout.points.len(), 6);
        assert_eq!(layout.slots.len(), 6);
        let far = &layout.points[5];
        assert_eq!(far.at.to_string(), "cpu_node=1,memory_node=2");
        assert_eq!(far.threads, [(2, vec![4])]);
        assert_eq!(layout.slots[4].memory, Some(2));
    }
}
