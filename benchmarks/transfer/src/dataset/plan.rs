//! Plans `transfer.dataset` from the inventory.

use seatrial_inventory::DiskLoad;
use seatrial_model::machine::Medium;
use seatrial_model::{
    About, Bytes, Case, Cause, Finding, Limit, Limits, Nanos, Params, PartPlacement, Reason, Severity, Site,
    SiteNode, Subject, Writes,
};

use crate::set::Recipe;
use seatrial_bench::directory::{file_system_of, limit_of_directory, require_usable};
use seatrial_bench::space::{lacking, room_of};
use seatrial_bench::{core_bindings, each_node};

/// Rates for time limits: slower storage counts as hanging.
const SLOWEST_BYTES: u64 = 20_000_000;
const SLOWEST_FILES: u64 = 100;

/// Typical rate for estimates, in bytes per second.
const USUAL: u64 = 500_000_000;

/// Threads with threads=auto.
const MOST_THREADS: u64 = 16;

/// Requests are of this size, but for small files.
const BLOCK: u64 = 1 << 20;

pub fn plan(about: &About, params: &Params, site: &Site) -> Result<Vec<Case>, Reason> {
    each_node(site, |node| plan_node(about, params, node).map(|case| vec![case]))
}

fn plan_node(about: &About, params: &Params, node: &SiteNode) -> Result<Case, Reason> {
    let protocol = |error: seatrial_model::ParamError| Reason::new(Cause::Protocol, error.to_string());
    let path = params.text("directory").map_err(protocol)?;
    let recipe = Recipe::of(params).map_err(protocol)?;
    if recipe.lowest().is_none() {
        let text = format!(
            "depth={} of breadth={} are more than a million directories: lower one of them",
            recipe.depth, recipe.breadth
        );
        return Err(Reason::new(Cause::Contradiction, text));
    }
    require_usable(&node.machine, "directory", path)?;
    let bytes = recipe.bytes();
    let found = file_system_of(&node.machine, path);
    let room = found.and_then(|found| Some((found, room_of(found)?)));
    if let Some(text) = room.and_then(|(found, (free, size))| lacking(bytes, free, size, &found.mount)) {
        return Err(Reason::new(Cause::NoSpace, text));
    }
    let system = found.map(|found| found.seen_from(path));
    let subject = Subject::device("fs", system.as_ref().map_or(path, |found| found.mount.as_str()));
    let mut case = Case::new(about, &node.name, subject.clone(), params, seatrial_bench::budget(params)?);
    case.facts.set("kind", "fs");
    if let Some(found) = system {
        case.key = Some(found.key());
        case.facts = found.facts();
        if found.medium == Medium::Memory {
            let text = format!("{path} is in memory ({}): no disk or server is measured", found.kind);
            case.findings.push(Finding::new("in-memory", Severity::Warning, subject, text));
        }
    }
    let cores = core_bindings(&node.machine)?;
    let threads = params.count("threads").unwrap_or((cores.len() as u64).min(MOST_THREADS));
    let threads = threads.min(recipe.files);
    case.planned.set("threads", threads);
    case.planned.set("set_files", recipe.files);
    case.planned.set("set_bytes", Bytes(bytes));
    let bindings = (0..threads as usize).map(|number| cores[number % cores.len()]).collect();
    case.places = vec![PartPlacement::new("worker", 0, &node.name, bindings)];
    let trials = u64::from(case.budget.trials);
    let measured = case.budget.measure.get().saturating_mul(trials);
    let total = Bytes(bytes.saturating_mul(trials));
    case.writes = Writes { files: Bytes(bytes), total, rewriting: Nanos(measured) };
    // A set that has begun is made, read and removed.
    let at = |rate: u64| Nanos(bytes.saturating_mul(1000) / (rate / 1_000_000));
    let longest =
        at(SLOWEST_BYTES).plus(at(SLOWEST_BYTES)).plus(Nanos::secs(3 * recipe.files / SLOWEST_FILES));
    case.budget.warm_up = Nanos::millis(1);
    case.budget.slack = longest;
    case.budget.measure = case.budget.measure.plus(longest);
    case.budget.overhead = Nanos::millis(100).plus(at(USUAL)).plus(at(USUAL));
    Ok(case)
}

pub fn limits(about: &About, case: &Case, site: &Site) -> Limits {
    let machine = case.nodes.first().and_then(|node| site.machine(node));
    let path = case.params.text("directory").ok();
    let of = |reads: bool| match machine.zip(path) {
        Some((machine, path)) => {
            limit_of_directory(machine, path, DiskLoad { reads, writes: !reads, block: BLOCK })
        }
        None => Limit::unknown("the node or its directory is not known"),
    };
    about.limits(|name| match name {
        "written" => of(false),
        "read" => of(true),
        "unsynced" => Limit::unknown("the page cache accepts data that the disk has not written yet"),
        _ => Limit::unknown("no hardware fact bounds how many files a file system makes or removes"),
    })
}
