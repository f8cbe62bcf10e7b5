//! Assigns stations to NUMA nodes, and streams to groups of threads.

use std::collections::BTreeSet;

use seatrial_model::Binding;
use seatrial_sys::cpuset::CpuSet;

use super::settings::Threads;

/// One step of one station: blocks one after the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StreamSlot {
    pub step: usize,
    pub station: u32,
    pub node: u32,
}

/// Threads that share some streams.
#[derive(Clone, Debug, PartialEq)]
pub struct Group {
    pub node: u32,
    /// NUMA node of the memory; `None` where the threads' node has none.
    pub memory: Option<u32>,
    pub threads: Vec<CpuSet>,
    /// Indices of the group's streams.
    pub streams: Vec<usize>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct PipelineLayout {
    pub streams: Vec<StreamSlot>,
    pub groups: Vec<Group>,
}

impl PipelineLayout {
    /// Deals `stations` of `steps` steps to the nodes with cores, round-robin.
    pub fn new(stations: u32, steps: usize, bindings: &[Binding], threads: Threads) -> Self {
        let nodes: Vec<u32> =
            bindings.iter().map(|binding| binding.node).collect::<BTreeSet<_>>().into_iter().collect();
        let mut layout = Self { streams: Vec::new(), groups: Vec::new() };
        for (station, node) in (0..stations).zip(nodes.iter().copied().cycle()) {
            layout.streams.extend((0..steps).map(|step| StreamSlot { step, station, node }));
        }
        for node in nodes {
            let bindings = || bindings.iter().filter(|binding| binding.node == node);
            let memory = bindings().next().and_then(|binding| binding.memory);
            let streams = layout.streams.iter().enumerate().filter(|(_, stream)| stream.node == node);
            let streams: Vec<usize> = streams.map(|(index, _)| index).collect();
            match threads {
                Threads::Core if streams.is_empty() => {}
                Threads::Core => {
                    let threads = bindings().map(|binding| CpuSet::of(binding.cpu)).collect();
                    layout.groups.push(Group { node, memory, threads, streams });
                }
                Threads::Step => {
                    let anywhere: CpuSet = bindings().map(|binding| binding.cpu).collect();
                    let alone = |stream| Group {
                        node,
                        memory,
                        threads: vec![anywhere.clone()],
                        streams: vec![stream],
                    };
                    layout.groups.extend(streams.into_iter().map(alone));
                }
            }
        }
        layout
    }

    pub fn threads(&self) -> usize {
        self.groups.iter().map(|group| group.threads.len()).sum()
    }

    pub fn nodes(&self) -> BTreeSet<u32> {
        self.streams.iter().map(|stream| stream.node).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn binding(cpu: u32, node: u32) -> Binding {
        Binding { cpu, node, domain: node, memory: Some(node) }
    }

    #[test]
    fn stations_go_to_the_nodes_in_turn() {
        let bindings = [binding(0, 0), binding(1, 0), binding(4, 2), binding(5, 2)];
        let layout = PipelineLayout::new(5, 2, &bindings, Threads::Core);
        let nodes: Vec<u32> = layout.streams.iter().map(|stream| stream.node).collect();
        assert_eq!(nodes, [0, 0, 2, 2, 0, 0, 2, 2, 0, 0]);
        assert_eq!(layout.groups.len(), 2);
        assert_eq!(layout.groups[1].streams, [2, 3, 6, 7]);
        assert_eq!(layout.groups[1].threads, [CpuSet::of(4), CpuSet::of(5)]);
        assert_eq!((layout.threads(), layout.nodes().len()), (4, 2));
    }

    #[test]
    fn a_thread_a_step_may_run_anywhere_on_its_node() {
        let bindings = [binding(0, 0), binding(1, 0), binding(4, 2), binding(5, 2)];
        let layout = PipelineLayout::new(18, 10, &bindings, Threads::Step);
        assert_eq!((layout.groups.len(), layout.threads()), (180, 180));
        for group in &layout.groups {
            let (first, second) = if group.node == 0 { (0, 1) } else { (4, 5) };
            assert_eq!(group.threads, [[first, second].into_iter().collect::<CpuSet>()]);
            assert_eq!(group.streams.len(), 1);
        }
    }

    #[test]
    fn nodes_beyond_the_number_of_stations_stay_idle() {
        let bindings: Vec<Binding> = (0..8).map(|node| binding(node, node)).collect();
        for threads in [Threads::Core, Threads::Step] {
            let layout = PipelineLayout::new(3, 1, &bindings, threads);
            assert_eq!((layout.groups.len(), layout.nodes().len()), (3, 3));
        }
    }
}
