//! CPU caches, each instance once, from `/sys/devices/system/cpu/cpuN/cache/indexM` (Linux Documentation:
//! ABI/testing/sysfs-devices-system-cpu).

use std::collections::BTreeMap;

use seatrial_model::Bytes;
use seatrial_model::machine::{Cache, CacheKind, Caches};
use seatrial_sys::root::{ReadError, SysRoot};

use crate::reading::{PerCpu, Reading};
use crate::topology::{CPU, Topology, list};

pub(crate) fn read(at: &mut Reading<'_>, topology: &Topology) -> Caches {
    let mut found: BTreeMap<(u32, CacheKind, Vec<u32>), Cache> = BTreeMap::new();
    let mut troubles = PerCpu::default();
    let mut contradictions = Vec::new();
    for cpu in topology.online.iter() {
        let folder = format!("{CPU}/cpu{cpu}/cache");
        let indices = match at.root.numbered(&folder, "index") {
            Ok(indices) => indices,
            Err(error) => {
                troubles.note("caches", cpu, error);
                continue;
            }
        };
        for index in indices {
            let cache = match instance(at.root, &format!("{folder}/index{index}")) {
                Ok(cache) => cache,
                Err(error) => {
                    troubles.note("a cache", cpu, error);
                    continue;
                }
            };
            let key = (cache.level, cache.kind, cache.cpus.clone());
            let known = found.entry(key).or_insert_with(|| cache.clone());
            if known.size_bytes != cache.size_bytes {
                let (one, other) = (Bytes(known.size_bytes), Bytes(cache.size_bytes));
                contradictions.push(format!("level {} cache of CPU {cpu} is {one} and {other}", cache.level));
                known.size_bytes = known.size_bytes.max(cache.size_bytes);
            }
        }
    }
    troubles.report("cache", at);
    for text in contradictions {
        at.remark("cache", text);
    }
    let mut instances: Vec<Cache> = found.into_values().collect();
    instances.sort_by(|a, b| (a.level, a.kind, &a.cpus).cmp(&(b.level, b.kind, &b.cpus)));
    overlaps(&instances, at);
    Caches { instances, l3_by_libc_bytes: at.process.l3_by_libc_bytes.clone() }
}

fn instance(root: &SysRoot, folder: &str) -> Result<Cache, ReadError> {
    let kind_path = format!("{folder}/type");
    let kind = match root.text(&kind_path)?.as_str() {
        "Data" => CacheKind::Data,
        "Instruction" => CacheKind::Instruction,
        "Unified" => CacheKind::Unified,
        other => return Err(ReadError::garbage(&kind_path, other, "Data, Instruction or Unified")),
    };
    Ok(Cache {
        level: root.value(format!("{folder}/level"))?,
        kind,
        size_bytes: size(root, &format!("{folder}/size"))?,
        line_bytes: root.value(format!("{folder}/coherency_line_size")).ok().filter(|&line| line > 0),
        cpus: list(root, &format!("{folder}/shared_cpu_list"))?.iter().collect(),
    })
}

/// A size in the kernel's form: `32768K`.
fn size(root: &SysRoot, path: &str) -> Result<u64, ReadError> {
    let text = root.text(path)?;
    let kib = text.strip_suffix('K').and_then(|digits| digits.parse::<u64>().ok());
    let bytes = kib.and_then(|kib| kib.checked_mul(1024)).filter(|&bytes| bytes > 0);
    bytes.ok_or_else(|| ReadError::garbage(path, &text, "a size such as 32768K"))
}

/// Instances of one level and kind must not share a CPU; else the sum over instances is too large.
fn overlaps(instances: &[Cache], at: &mut Reading<'_>) {
    let mut owner: BTreeMap<(u32, CacheKind, u32), &Cache> = BTreeMap::new();
    for cache in instances {
        let other = cache.cpus.iter().find_map(|&cpu| owner.insert((cache.level, cache.kind, cpu), cache));
        if let Some(other) = other {
            let (one, two) = (&other.cpus, &cache.cpus);
            at.remark("cache", format!("level {} caches of CPUs {one:?} and {two:?} overlap", cache.level));
        }
    }
}
