//! The caches and cores of a NUMA node; alike ones are counted.

use std::collections::{BTreeMap, BTreeSet};

use seatrial_model::Bytes;
use seatrial_model::machine::{Cache, CpuThread, Machine, NumaNode};

use super::MapBox;
use crate::inventory::system;
use crate::words::count;

/// The cores that share one level 3 cache.
type Domain<'a> = Vec<&'a CpuThread>;

/// A box of the level 3 caches of each kind with their cores, or of the cores alone.
pub fn cores(machine: &Machine, node: &NumaNode) -> Vec<MapBox> {
    let mut domains: BTreeMap<Option<u32>, Domain<'_>> = BTreeMap::new();
    for thread in node.cpus.iter().filter_map(|cpu| machine.cpu.thread(*cpu)) {
        domains.entry(thread.l3).or_default().push(thread);
    }
    let mut kinds: Vec<(Option<String>, MapBox, usize)> = Vec::new();
    for threads in domains.values() {
        let l3 = machine.caches.l3().find(|cache| has(cache, threads)).map(|cache| Bytes(cache.size_bytes));
        let (l3, cores) = (l3.map(|size| format!("L3 cache {size}")), cores_of(machine, threads));
        match kinds.iter_mut().find(|(known, of, _)| (known, of) == (&l3, &cores)) {
            Some((.., number)) => *number += 1,
            None => kinds.push((l3, cores, 1)),
        }
    }
    kinds.into_iter().map(|(l3, cores, number)| shared(l3, cores, number)).collect()
}

fn has(cache: &Cache, threads: &[&CpuThread]) -> bool {
    threads.iter().any(|thread| cache.cpus.contains(&thread.id))
}

fn shared(l3: Option<String>, cores: MapBox, number: usize) -> MapBox {
    let times = |name: &str| if number > 1 { format!("{number} × {name}") } else { name.to_owned() };
    match l3 {
        Some(l3) => MapBox { name: times(&l3), inside: vec![cores], is_place: true, ..MapBox::default() },
        None => MapBox { name: times(&cores.name), ..cores },
    }
}

fn cores_of(machine: &Machine, threads: &[&CpuThread]) -> MapBox {
    let known: BTreeSet<u32> = threads.iter().filter_map(|thread| thread.core).collect();
    let unknown = threads.iter().filter(|thread| thread.core.is_none()).count();
    let cores = known.len() + unknown;
    let each = threads.len() / cores.max(1);
    let mut words: Vec<String> =
        (each > 1).then(|| format!("{each} hardware threads each")).into_iter().collect();
    words.extend(private_caches(machine, threads));
    MapBox { name: count(cores, "core"), words, ..MapBox::default() }
}

/// `L2 1 MiB` and `L1d 32 KiB` of the first thread.
fn private_caches(machine: &Machine, threads: &[&CpuThread]) -> Vec<String> {
    let Some(first) = threads.first() else { return Vec::new() };
    let own =
        machine.caches.instances.iter().filter(|cache| cache.level < 3 && cache.cpus.contains(&first.id));
    own.map(system::cache_text).collect()
}
