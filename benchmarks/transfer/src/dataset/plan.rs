//! Plans `transfer.dataset` from the inventory.

use seatrial_inventory::DiskLoad;
use seatrial_model::{
    About, Bytes, Case, Cause, Limit, Limits, Nanos, Params, PartPlacement, Reason, Site, SiteNode, Writes,
};

use crate::set::Recipe;
use seatrial_bench::directory::{case_in, limit_of_directory, require_known_room};
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
    let recipe = Recipe::planned(params)?;
    let bytes = recipe.bytes();
    let mut case = case_in(about, params, node, path)?;
    require_known_room(&node.machine, path, bytes)?;
    let cores = core_bindings(&node.machine)?;
    let threads = params.count("threads").unwrap_or((cores.len() as u64).min(MOST_THREADS));
    let threads = threads.min(recipe.files);
    case.planned.set("threads", threads);
    recipe.note(&mut case.planned);
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
