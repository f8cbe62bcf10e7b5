//! The machine as a whole: product, software, and limits on this process.

use seatrial_model::Bytes;
use seatrial_model::machine::{Cache, CacheKind, Dimms, Known, Machine, ProcessLimit};

use super::counted;
use crate::notes::Notes;
use crate::words::count;

pub fn rows(machine: &Machine, notes: &mut Notes) -> Vec<(&'static str, String)> {
    let rows = [
        ("system", Some(product(machine, notes))),
        ("kernel", Some(kernel(machine, notes))),
        ("runs in", virtualization(machine, notes)),
        ("cpu", Some(cpu(machine, notes))),
        ("caches", caches(machine)),
        ("memory", Some(memory(machine, notes))),
        ("modules", Some(modules(machine, notes))),
        ("for us", Some(confinement(machine))),
    ];
    rows.into_iter()
        .filter_map(|(label, text)| Some((label, text?)))
        .filter(|(_, text)| !text.is_empty())
        .collect()
}

/// Processor, memory and GPUs in one line; what is unknown is left out.
pub fn in_short(machine: &Machine) -> String {
    let cpu = &machine.cpu;
    let counts =
        [counted(cpu.sockets.known().copied(), "socket"), counted(cpu.cores.known().copied(), "core")];
    let counts: Vec<String> = counts.into_iter().flatten().collect();
    let model = cpu.model.known().map(|model| match counts.is_empty() {
        true => model.clone(),
        false => format!("{model} ({})", counts.join(", ")),
    });
    let memory = machine.memory.total_bytes.known().map(|&bytes| Bytes(bytes).rounded());
    let gpus = machine.gpus.known().map(Vec::len).filter(|number| *number > 0);
    let guest = match &machine.virtualization {
        Known::Known(virtualization) => virtualization.hypervisor.as_deref(),
        Known::Unknown(_) => None,
    };
    let parts = [
        model,
        memory.map(|memory| format!("{memory} of memory")),
        gpus.map(|number| count(number, "GPU")),
        guest.map(|name| format!("a virtual machine ({name})")),
    ];
    parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
}

/// The fact, or a reference to the reason.
fn told<T: std::fmt::Display>(fact: &Known<T>, notes: &mut Notes) -> String {
    match fact {
        Known::Known(value) => value.to_string(),
        Known::Unknown(why) => format!("unknown {}", notes.refer(why)),
    }
}

fn product(machine: &Machine, notes: &mut Notes) -> String {
    let product = &machine.product;
    let mut words: Vec<String> =
        [&product.vendor, &product.name].into_iter().filter_map(|fact| fact.known().cloned()).collect();
    if words.is_empty() {
        words.push(told(&product.name, notes));
    }
    let firmware: Vec<&str> = [&product.firmware_vendor, &product.firmware_version, &product.firmware_date]
        .into_iter()
        .filter_map(|fact| fact.known().map(String::as_str))
        .collect();
    if !firmware.is_empty() {
        words.push(format!("· firmware {}", firmware.join(" ")));
    }
    words.join(" ")
}

fn kernel(machine: &Machine, notes: &mut Notes) -> String {
    let facts = [&machine.distribution, &machine.kernel, &machine.architecture];
    facts.map(|fact| told(fact, notes)).join(" · ")
}

fn virtualization(machine: &Machine, notes: &mut Notes) -> Option<String> {
    let virtualization = match &machine.virtualization {
        Known::Known(virtualization) => virtualization,
        Known::Unknown(why) => return Some(format!("unknown {}", notes.refer(why))),
    };
    let layers: Vec<String> = [
        virtualization.hypervisor.as_ref().map(|name| format!("a virtual machine ({name})")),
        virtualization.container.as_ref().map(|name| format!("a container ({name})")),
    ]
    .into_iter()
    .flatten()
    .collect();
    (!layers.is_empty()).then(|| layers.join(" · "))
}

fn cpu(machine: &Machine, notes: &mut Notes) -> String {
    let cpu = &machine.cpu;
    let online = cpu.threads.iter().filter(|thread| thread.online).count();
    let counts = [
        counted(cpu.sockets.known().copied(), "socket"),
        counted(cpu.cores.known().copied(), "core"),
        Some(count(online, "hardware thread")),
    ];
    let counts: Vec<String> = counts.into_iter().flatten().collect();
    let isa = cpu.isa.known().map(|isa| isa.join(" ")).filter(|isa| !isa.is_empty());
    let mut text = format!("{} · {}", told(&cpu.model, notes), counts.join(", "));
    if let Some(isa) = isa {
        text += &format!(" · {isa}");
    }
    text
}

/// One entry per level and kind: size and count.
/// `L1d 32 KiB`.
pub fn cache_text(cache: &Cache) -> String {
    let kind = match cache.kind {
        CacheKind::Data => "d",
        CacheKind::Instruction => "i",
        CacheKind::Unified => "",
    };
    format!("L{}{kind} {}", cache.level, Bytes(cache.size_bytes))
}

fn caches(machine: &Machine) -> Option<String> {
    let mut told: Vec<(String, usize)> = Vec::new();
    for cache in &machine.caches.instances {
        let text = cache_text(cache);
        match told.iter_mut().find(|(known, _)| *known == text) {
            Some((_, number)) => *number += 1,
            None => told.push((text, 1)),
        }
    }
    let texts: Vec<String> = told.into_iter().map(|(text, number)| format!("{number} × {text}")).collect();
    (!texts.is_empty()).then(|| texts.join(" · "))
}

fn memory(machine: &Machine, notes: &mut Notes) -> String {
    let memory = &machine.memory;
    let mut parts = vec![told(&memory.total_bytes.as_ref().map(|&bytes| Bytes(bytes).rounded()), notes)];
    parts.push(count(machine.numa.len(), "NUMA node"));
    if let Known::Known(pools) = &memory.huge_pages {
        let some = pools.iter().filter(|pool| pool.total > 0);
        parts.extend(some.map(|pool| {
            format!("{} of {} huge pages of {} free", pool.free, pool.total, Bytes(pool.page_bytes))
        }));
    }
    if let Known::Known(word) = &memory.transparent_huge_pages {
        parts.push(format!("transparent huge pages: {word}"));
    }
    parts.join(" · ")
}

/// Equal modules are counted.
fn modules(machine: &Machine, notes: &mut Notes) -> String {
    match &machine.dimms {
        Known::Known(dimms) => {
            format!("{} · {} slots ({})", modules_of(dimms), dimms.slots, dimms.source.provenance())
        }
        Known::Unknown(why) => format!("unknown {}", notes.refer(why)),
    }
}

/// `12 × 16 GiB DDR4 at 2666 MT/s`.
pub fn modules_of(dimms: &Dimms) -> String {
    let mut told: Vec<(String, usize)> = Vec::new();
    for dimm in &dimms.modules {
        let size = dimm.size_bytes.map(|bytes| Bytes(bytes).to_string());
        let speed = match (dimm.configured_mts, dimm.rated_mts) {
            (Some(now), Some(rated)) if now != rated => Some(format!("at {now} MT/s of {rated}")),
            (Some(now), _) => Some(format!("at {now} MT/s")),
            (None, Some(rated)) => Some(format!("rated {rated} MT/s")),
            (None, None) => None,
        };
        let text: Vec<String> = [size, dimm.kind.clone(), speed].into_iter().flatten().collect();
        let text = text.join(" ");
        match told.iter_mut().find(|(known, _)| *known == text) {
            Some((_, number)) => *number += 1,
            None => told.push((text, 1)),
        }
    }
    let texts: Vec<String> = told.into_iter().map(|(text, number)| format!("{number} × {text}")).collect();
    texts.join(" + ")
}

/// The part of the machine that this process may use.
fn confinement(machine: &Machine) -> String {
    let confinement = &machine.confinement;
    let usable = machine.cpu.usable().count();
    let mut parts = vec![count(usable, "CPU")];
    if let Known::Known(bytes) = &machine.memory.effective_available_bytes {
        parts.push(format!("{} of memory", Bytes(*bytes).rounded()));
    }
    if let Known::Known(Some(quota)) = &machine.cpu.quota {
        parts.push(format!(
            "{:.1} CPUs of time ({})",
            quota.quota_us as f64 / quota.period_us.max(1) as f64,
            quota.group
        ));
    }
    let size =
        |limit: &ProcessLimit| limit.soft.map_or("no limit".to_owned(), |bytes| Bytes(bytes).rounded());
    let number = |limit: &ProcessLimit| limit.soft.map_or("no limit".to_owned(), |number| number.to_string());
    parts.extend(confinement.locked_memory.known().map(|limit| format!("locked memory: {}", size(limit))));
    parts.extend(confinement.open_files.known().map(|limit| format!("open files: {}", number(limit))));
    parts.extend(
        confinement.realtime_priority.known().map(|limit| format!("real-time priority: {}", number(limit))),
    );
    parts.join(" · ")
}
