//! What is measured where, and how long it may take, decided from the inventory alone.

use seatrial_inventory::disk_limit;
use seatrial_model::machine::{Machine, Medium};
use seatrial_model::{
    About, Bound, Bytes, Case, Cause, Limit, Limits, Nanos, Params, Place, Quantity, Reason, Seat, Site,
    SiteNode, Unit,
};

use super::directory::Directory;
use super::scheme::{Operation, Scheme};
use super::work::slots;
use crate::common;
use crate::common::{each_node, room, seats};

/// A rate that is reckoned with where time limits are set: slower storage is given up as hanging when it has to move all
/// of the files in one phase. In bytes a second.
const SLOWEST: u64 = 20_000_000;

/// A usual rate, for estimates.
const USUAL: u64 = 500_000_000;

pub fn plan(about: &About, params: &Params, site: &Site) -> Result<Vec<Case>, Reason> {
    let scheme = Scheme::of(params)?;
    let wanted = params.text("directory").map_err(|error| Reason::new(Cause::Protocol, error.to_string()))?;
    each_node(site, |node| plan_node(about, params, &scheme, wanted, node))
}

fn plan_node(
    about: &About,
    params: &Params,
    scheme: &Scheme,
    wanted: &str,
    node: &SiteNode,
) -> Result<Vec<Case>, Reason> {
    let machine = &node.machine;
    let cores = seats(machine)?;
    require_memory(scheme, machine)?;
    let writes = if scheme.operation == Operation::Read { "make files to read" } else { "write" };
    let mut cases = Vec::new();
    for directory in Directory::all(machine, wanted, writes)? {
        require_room(scheme, &directory)?;
        let mut case = Case::new(about, &node.name, directory.subject(), params, common::budget(params)?);
        case.key = directory.key();
        case.facts = directory.facts();
        case.chosen.set("directory", directory.path.as_str());
        case.chosen.set("size", Bytes(scheme.total_bytes()));
        if let Some(found) = directory.file_system {
            case.chosen.set("file_system", found.kind.as_str());
            case.chosen.set("source", found.source.as_str());
        }
        let disks = directory.disks(machine);
        if !disks.is_empty() {
            let names: Vec<_> = disks.iter().map(|disk| disk.name.as_str()).collect();
            case.chosen.set("disks", names.join(" ").as_str());
        }
        let near = disks.iter().find_map(|disk| disk.numa_node().known().copied());
        case.places = vec![Place {
            part: "worker".to_owned(),
            index: 0,
            node: node.name.clone(),
            seats: seating(&cores, near, scheme.threads),
        }];
        let total = scheme.total_bytes();
        let all_of_it = |rate: u64| Nanos(total.saturating_mul(1_000) / (rate / 1_000_000).max(1));
        let laid_out = if scheme.is_laid_out() { all_of_it(USUAL) } else { Nanos(0) };
        case.budget.overhead = Nanos::millis(100).plus(laid_out);
        case.budget.prepare = Nanos::secs(30).plus(all_of_it(SLOWEST));
        // Where all of the files have to move within the phase: once, or out of the cache at its end.
        let buffered = scheme.operation.writes() && !scheme.direct;
        if scheme.once || buffered {
            case.budget.measure = case.budget.measure.plus(all_of_it(SLOWEST));
        }
        cases.push(case);
    }
    Ok(cases)
}

/// A core each, those next to the disk first, in turn where threads are more.
fn seating(cores: &[Seat], near: Option<u32>, threads: usize) -> Vec<Seat> {
    let mut cores = cores.to_vec();
    if let Some(node) = near {
        cores.sort_by_key(|seat| seat.node != node);
    }
    (0..threads).map(|number| cores[number % cores.len()]).collect()
}

fn require_memory(scheme: &Scheme, machine: &Machine) -> Result<(), Reason> {
    let wanted = (scheme.block * slots(scheme.depth_with(true)) * scheme.threads) as u64;
    match room(machine) {
        Some(room) if wanted > room / 2 => {
            let text = format!(
                "{} threads with blocks of {} take {} of memory, more than half of what is available to us; lower \
                 threads=, depth= or block=",
                scheme.threads,
                Bytes(scheme.block as u64).rounded(),
                Bytes(wanted).rounded()
            );
            Err(Reason::new(Cause::NoSpace, text))
        }
        _ => Ok(()),
    }
}

/// Refused here, before anything is written.
fn require_room(scheme: &Scheme, directory: &Directory<'_>) -> Result<(), Reason> {
    let available = directory.file_system.and_then(|found| found.available_bytes.known().copied());
    match available {
        Some(room) if scheme.total_bytes() > room => {
            let text = format!(
                "the files take {}, but only {} are free in {}; free some, or lower size=",
                Bytes(scheme.total_bytes()).rounded(),
                Bytes(room).rounded(),
                directory.path
            );
            Err(Reason::new(Cause::NoSpace, text))
        }
        _ => Ok(()),
    }
}

pub fn limits(about: &About, case: &Case, site: &Site) -> Limits {
    let rate = limit_of_rate(case, site);
    let block = case.params.bytes("block").ok().flatten().map_or(1.0, |bytes| bytes.get() as f64);
    let per_second = match &rate {
        Limit::Chain(bounds) => Limit::Chain(bounds.iter().filter_map(|one| in_blocks(one, block)).collect()),
        unknown @ Limit::Unknown { .. } => unknown.clone(),
    };
    let unbounded = |what: &str| Limit::Unknown { reason: format!("no hardware fact bounds {what}") };
    let of = |name: &str| match name {
        "throughput" | "read" | "written" | "durable" | "first_done" | "last_done" => rate.clone(),
        "iops" => per_second.clone(),
        "fairness" => Limit::Unknown { reason: "it is at most 1, which no hardware sets".to_owned() },
        "cpu_per_io" => unbounded("the time that a processor needs for a block"),
        _ => unbounded("how long a request takes"),
    };
    about.metrics.iter().map(|metric| (metric.name.to_owned(), of(metric.name))).collect()
}

fn in_blocks(bound: &Bound, block: f64) -> Option<Bound> {
    let bytes = bound.value.value() * bound.value.unit().factor();
    let value = Quantity::new(bytes / block, Unit::PerSecond).ok()?;
    Some(Bound {
        value,
        formula: format!("{} / {block} B", bound.formula),
        provenance: bound.provenance.clone(),
    })
}

fn limit_of_rate(case: &Case, site: &Site) -> Limit {
    let unknown = |reason: String| Limit::Unknown { reason };
    let Some(machine) = case.nodes.first().and_then(|node| site.machine(node)) else {
        return unknown("the node is not known".to_owned());
    };
    let Ok(path) = case.chosen.text("directory") else {
        return unknown("the directory is not known".to_owned());
    };
    if path == "auto" {
        return unknown(
            "the directory is only known on the node itself; name it with -p directory=".to_owned(),
        );
    }
    if !case.params.text("access").is_ok_and(|access| access == "direct") {
        let text = "through the page cache, memory may take or give more than the disk for a while";
        return unknown(text.to_owned());
    }
    let Some(found) = super::directory::file_system_of(machine, path) else {
        return unknown(format!("no file system is known at {path}"));
    };
    match (found.medium, &found.disks[..]) {
        (Medium::Network, _) => unknown(format!(
            "{} is on servers, and which interface leads there is not known; a [[limit]] in the profile supplies it",
            found.source
        )),
        (Medium::Host, _) => unknown(format!("{} is at the host of this virtual machine", found.source)),
        (Medium::Memory, _) => unknown(format!("{} is in memory", found.mount)),
        (_, []) => unknown(format!("no disk is known below {}", found.mount)),
        (_, [one]) => {
            let disk = machine.disks.known().and_then(|disks| disks.iter().find(|disk| disk.name == *one));
            disk.map_or_else(|| unknown(format!("nothing is known of disk {one}")), disk_limit)
        }
        (_, several) => unknown(format!(
            "{} lies on {} disks, and how they share the work is not known",
            found.mount,
            several.len()
        )),
    }
}
