//! Plans `storage.copy` from the inventory.

use seatrial_inventory::disk_limit;
use seatrial_model::machine::{Disk, FileSystem, Machine, Medium};
use seatrial_model::{
    About, Bytes, Case, Cause, Finding, Limit, Limits, Nanos, Params, PartPlacement, Reason, Severity, Site,
    SiteNode, Subject, Value, Writes,
};

use seatrial_bench::directory::{file_system_of, require_usable};
use seatrial_bench::space::{lacking, room_of};
use seatrial_bench::{core_bindings, each_node};

/// Rate for time limits, in bytes per second: slower storage counts as hanging.
const SLOWEST: u64 = 20_000_000;

/// Typical rate for estimates, in bytes per second.
const USUAL: u64 = 500_000_000;

pub fn plan(about: &About, params: &Params, site: &Site) -> Result<Vec<Case>, Reason> {
    each_node(site, |node| plan_node(about, params, node).map(|case| vec![case]))
}

fn plan_node(about: &About, params: &Params, node: &SiteNode) -> Result<Case, Reason> {
    let protocol = |error: seatrial_model::ParamError| Reason::new(Cause::Protocol, error.to_string());
    let from = params.text("from").map_err(protocol)?;
    let to = target(params).map_err(protocol)?;
    let each = params.bytes("size").map_err(protocol)?.map_or(0, Bytes::get);
    let size = each.saturating_mul(params.count("files").map_err(protocol)?);
    let machine = &node.machine;
    require_usable(machine, "from", from)?;
    require_usable(machine, "to", to)?;
    let (source, sink) = (file_system_of(machine, from), file_system_of(machine, to));
    require_room(source, sink, size)?;
    let mount = |path: &str, found: Option<&FileSystem>| {
        found.and_then(|found| found.mount_of(path)).unwrap_or(path).to_owned()
    };
    let subject = match (mount(from, source), mount(to, sink)) {
        (one, other) if one == other => Subject::device("fs", &one),
        (one, other) => Subject::device("fs", &format!("{one}->{other}")),
    };
    let mut case = Case::new(about, &node.name, subject.clone(), params, seatrial_bench::budget(params)?);
    case.facts = sink.map(|found| found.seen_from(to).facts()).unwrap_or_default();
    if sink.is_none() {
        case.facts.set("kind", "fs");
    }
    let key = |found: &FileSystem, path: &str| found.seen_from(path).key();
    if source.is_some() {
        case.facts.set("from", mount(from, source).as_str());
    }
    case.key = source.zip(sink).map(|(one, other)| format!("{} {}", key(one, from), key(other, to)));
    case.planned.set("to", to);
    for found in [source, sink].into_iter().flatten().filter(|found| found.medium == Medium::Memory) {
        let text = format!("{} is in memory ({}): no disk is measured there", found.mount, found.kind);
        case.findings.push(Finding::new("in-memory", Severity::Warning, subject.clone(), text));
    }
    let cores = core_bindings(machine)?;
    let near = disks(machine, sink).first().and_then(|disk| disk.numa_node().known().copied());
    let binding = cores.iter().find(|binding| Some(binding.node) == near).unwrap_or(&cores[0]);
    let part = "worker".to_owned();
    case.places = vec![PartPlacement { part, index: 0, node: node.name.clone(), bindings: vec![*binding] }];
    let all = |rate: u64| Nanos(size.saturating_mul(1000) / (rate / 1_000_000));
    // Each trial writes the source, and copies it over and over.
    let trials = u64::from(case.budget.trials);
    let rewriting = Nanos(case.budget.measure.get().saturating_mul(trials));
    let total = Bytes(size.saturating_mul(trials));
    case.writes = Writes { files: Bytes(size.saturating_mul(2)), total, rewriting };
    // A copy that has begun is finished, in the measuring time and in the warm-up.
    case.budget.slack = all(SLOWEST);
    case.budget.measure = case.budget.measure.plus(all(SLOWEST));
    case.budget.warm_up = Nanos::millis(1);
    case.budget.overhead = Nanos::millis(100).plus(all(USUAL)).plus(all(USUAL));
    case.budget.prepare = Nanos::secs(30).plus(all(SLOWEST)).plus(all(SLOWEST));
    Ok(case)
}

pub fn target(params: &Params) -> Result<&str, seatrial_model::ParamError> {
    Ok(match params.text("to")? {
        "auto" => params.text("from")?,
        other => other,
    })
}

fn require_room(from: Option<&FileSystem>, to: Option<&FileSystem>, size: u64) -> Result<(), Reason> {
    let is_one = from.zip(to).is_some_and(|(from, to)| from.mount == to.mount);
    let wanted = |times: u64| size.saturating_mul(times);
    let each = if is_one { vec![(to, wanted(2))] } else { vec![(from, wanted(1)), (to, wanted(1))] };
    for (system, bytes) in each {
        let known = system.and_then(|found| Some((found, room_of(found)?)));
        if let Some(text) = known.and_then(|(found, (free, size))| lacking(bytes, free, size, &found.mount)) {
            return Err(Reason::new(Cause::NoSpace, text));
        }
    }
    Ok(())
}

fn disks<'a>(machine: &'a Machine, system: Option<&FileSystem>) -> Vec<&'a Disk> {
    let all = machine.disks.listed();
    let below = system.map_or(&[][..], |found| &found.disks);
    all.iter().filter(|disk| below.contains(&disk.name)).collect()
}

/// The slower of two disks, where the file is copied from one whole disk to another.
pub fn limits(about: &About, case: &Case, site: &Site) -> Limits {
    let rate = limit_of_rate(case, site);
    let unknown = |reason: &str| Limit::unknown(reason);
    let of = |name: &str| match name {
        "throughput" => rate.clone(),
        "unsynced" => unknown("the page cache accepts data that the disk has not written yet"),
        _ => unknown("no hardware fact bounds the CPU time of a copy"),
    };
    about.limits(of)
}

fn limit_of_rate(case: &Case, site: &Site) -> Limit {
    let unknown = |reason: &str| Limit::unknown(reason);
    if case.params.text("method") == Ok("copy_file_range") {
        return unknown("copy_file_range may share blocks or copy on the server, without moving any data");
    }
    if case.params.get("sync") == Some(&Value::from("none")) {
        return unknown("the page cache accepts data that the disk has not written yet");
    }
    let machine = case.nodes.first().and_then(|node| site.machine(node));
    let ends = machine.zip(case.params.text("from").ok().zip(case.planned.text("to").ok()));
    let Some((machine, (from, to))) = ends else { return unknown("the directory of the file is not known") };
    let on = |path: &str| disks(machine, file_system_of(machine, path));
    if case.params.text("source") == Ok("warm") {
        return match &on(to)[..] {
            [to] => disk_limit(to),
            _ => unknown("the copy is not to one disk"),
        };
    }
    match (&on(from)[..], &on(to)[..]) {
        ([from], [to]) if from.name == to.name => {
            unknown("one disk both reads and writes; how it divides its time is not known")
        }
        ([from], [to]) => match (disk_limit(from), disk_limit(to)) {
            (Limit::Chain(one), Limit::Chain(other)) => Limit::Chain(one.into_iter().chain(other).collect()),
            (Limit::Chain(_), why) | (why, _) => why,
        },
        _ => unknown("the copy is not from one disk to another"),
    }
}
