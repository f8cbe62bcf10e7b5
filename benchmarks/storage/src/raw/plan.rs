//! Plans which disks are read, from the inventory.

use std::collections::BTreeMap;

use seatrial_inventory::{DiskLoad, disk_limit_under};
use seatrial_model::machine::{Disk, DiskBus, Known, Machine};
use seatrial_model::{
    About, Binding, Budget, Bytes, Case, Cause, Limit, Limits, Nanos, Params, PartPlacement, Reason, Site,
    SiteNode, Subject, Value,
};

use super::config;
use crate::io::limit::in_blocks;
use seatrial_bench::directory::disk_fill_percent;
use seatrial_bench::{core_bindings, each_node};

pub fn plan(about: &About, params: &Params, site: &Site) -> Result<Vec<Case>, Reason> {
    let mut budget = seatrial_bench::budget(params)?;
    // A sleeping disk takes ten seconds and more to spin up.
    budget.prepare = Nanos::secs(60);
    budget.overhead = Nanos::millis(150);
    each_node(site, |node| plan_node(about, params, node, budget))
}

fn plan_node(about: &About, params: &Params, node: &SiteNode, budget: Budget) -> Result<Vec<Case>, Reason> {
    let together = params.flag("together").unwrap_or(false);
    let disks = wanted(params, &node.machine, together)?;
    if together && config::is_random(params) {
        let text =
            "together=true reads only the start of each disk, pattern=random all of it: omit one of them";
        return Err(Reason::new(Cause::Contradiction, text));
    }
    let chosen = |case: &mut Case, names: &str| {
        case.planned.set("disks", names);
        case.planned.set("block", Bytes(config::block(params)));
    };
    let place = |bindings: Vec<Binding>| {
        let (part, node) = ("worker".to_owned(), node.name.clone());
        vec![PartPlacement { part, index: 0, node, bindings }]
    };
    if !together {
        let case = |disk: &&Disk| {
            let subject = Subject::device("disk", &disk.name);
            let mut case = Case::new(about, &node.name, subject, params, budget);
            case.key = Some(disk.key());
            case.facts = facts(disk, &node.machine);
            chosen(&mut case, &disk.name);
            case.places = place(vec![near(disk, &core_bindings(&node.machine)?, 0)]);
            Ok(case)
        };
        return disks.iter().map(case).collect();
    }
    if disks.len() < 2 {
        let text = "together=true needs at least two physical disks; this node has fewer";
        return Err(Reason::new(Cause::Inapplicable, text));
    }
    let mut case = Case::new(about, &node.name, Subject::node(), params, budget);
    let names: Vec<&str> = disks.iter().map(|disk| disk.name.as_str()).collect();
    chosen(&mut case, &names.join(" "));
    case.facts.set("kind", "node");
    case.facts.set("disks", disks.len() as u64);
    // Time for at least two slices of each disk alone, in one half of the time.
    let least = Nanos::secs(1 + disks.len() as u64);
    case.budget.measure = case.budget.measure.max(least);
    let bindings = core_bindings(&node.machine)?;
    case.places = place(disks.iter().enumerate().map(|(turn, disk)| near(disk, &bindings, turn)).collect());
    Ok(vec![case])
}

/// The disks that the parameters name.
fn wanted<'a>(params: &Params, machine: &'a Machine, together: bool) -> Result<Vec<&'a Disk>, Reason> {
    let all = match &machine.disks {
        Known::Known(all) => all,
        Known::Unknown(why) => {
            return Err(Reason::new(Cause::Missing, format!("the disks of this node are not known: {why}")));
        }
    };
    let word = params.text("disk").unwrap_or("auto");
    if word != "auto" {
        if together {
            let text = format!("together=true reads all disks, but disk={word} names one: omit one of them");
            return Err(Reason::new(Cause::Contradiction, text));
        }
        let is_it = |disk: &&Disk| {
            let mapped = disk.bus == DiskBus::Dm && disk.model.known().is_some_and(|model| model == word);
            disk.name == word || disk.key() == word || mapped
        };
        return match all.iter().find(is_it) {
            Some(disk) => Ok(vec![disk]),
            None => {
                let names: Vec<_> = all.iter().map(|disk| disk.name.as_str()).collect();
                let text = format!("this node has no disk '{word}'; its disks: {}", names.join(", "));
                Err(Reason::new(Cause::Missing, text))
            }
        };
    }
    let disks: Vec<&Disk> = all.iter().filter(|disk| is_disk(disk, together)).collect();
    if disks.is_empty() {
        let text = "this node has no disk; loop devices, RAM disks and drives without a medium are read \
            only if named (-p disk=)";
        return Err(Reason::new(Cause::Inapplicable, text));
    }
    Ok(disks)
}

/// Whether disk=auto includes the disk. Composed disks (md, dm) are left out with together=true, because their members
/// would be read twice at the same time.
fn is_disk(disk: &Disk, together: bool) -> bool {
    disk.is_permanent() && !(together && disk.bus.is_made())
}

/// Binding of a disk: on the NUMA node of its controller, if that is known and allowed.
fn near(disk: &Disk, bindings: &[Binding], turn: usize) -> Binding {
    let node = disk.numa_node().known().copied();
    let there: Vec<&Binding> = bindings.iter().filter(|binding| Some(binding.node) == node).collect();
    match there.len() {
        // `bindings` is never empty: the plan fails before.
        0 => bindings[turn % bindings.len()],
        count => *there[turn % count],
    }
}

/// Facts of the disk, and the fill level of its file systems together.
fn facts(disk: &Disk, machine: &Machine) -> Params {
    let mut facts = disk.facts();
    if let Some(percent) = disk_fill_percent(machine, disk) {
        facts.set("fill_percent", Value::Number(percent));
    }
    facts
}

/// Rate of the disk's bus. What several disks share is in no table.
pub fn limits(about: &About, case: &Case, site: &Site) -> Limits {
    let unknown = |reason: &str| Limit::unknown(reason);
    let machine = case.nodes.first().and_then(|node| site.machine(node));
    let together = case.params.flag("together").unwrap_or(false);
    let disk = machine.and_then(|machine| {
        let name = case.planned.text("disks").ok()?;
        machine.disks.known()?.iter().find(|disk| disk.name == name)
    });
    let of_disk = match disk {
        Some(disk) if !together => disk_limit_under(
            disk,
            DiskLoad { reads: true, writes: false, block: config::block(&case.params) },
        ),
        _ => unknown("which links these disks share is not known"),
    };
    let limit = |metric: &str| match metric {
        "throughput" | "first" | "last" => of_disk.clone(),
        "iops" => in_blocks(&of_disk, config::block(&case.params) as f64),
        "latency" | "p99" | "slowest" => unknown("no hardware fact bounds the time of a request"),
        "alone" => unknown("a sum over disks of different kinds; see each disk's own case"),
        _ => unknown("a ratio of two measurements has no limit in the hardware"),
    };
    let limits = about.metrics.iter().map(|metric| (metric.name.to_owned(), limit(metric.name)));
    limits.collect::<BTreeMap<_, _>>()
}
