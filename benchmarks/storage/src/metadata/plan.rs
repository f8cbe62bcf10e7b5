//! Plans `storage.metadata` from the inventory.

use seatrial_model::{
    About, Bytes, Case, Cause, Limit, Limits, Nanos, Params, PartPlacement, Reason, Site, SiteNode, Writes,
};

use crate::many;
use seatrial_bench::directory::case_in;
use seatrial_bench::group::with_cores;
use seatrial_bench::{core_bindings, each_node, one_of_all};

/// Rate for time limits, in operations per second: a busy, distant server.
const SLOWEST: u64 = 100;

/// Files of a thread with files=auto: of one node, and of each of many nodes, where creating has a share of the time and more
/// files make the time in which all nodes work longer.
const FILES: [u64; 2] = [1_000, 20_000];

pub const MOST_THREADS: u64 = 256;

pub fn plan(about: &About, params: &Params, site: &Site) -> Result<Vec<Case>, Reason> {
    let params = &with_cores(params, "threads", MOST_THREADS, site)?;
    let is_one = site.nodes.len() < 2;
    let files = params.count("files").unwrap_or(FILES[usize::from(!is_one)]);
    let of_node = |node: &SiteNode| plan_node(about, params, files, node).map(|case| vec![case]);
    if is_one {
        return each_node(site, of_node);
    }
    let mut case = one_of_all(about, site, of_node)?;
    many::expect_shared(&mut case, site);
    Ok(vec![case])
}

fn plan_node(about: &About, params: &Params, files: u64, node: &SiteNode) -> Result<Case, Reason> {
    let protocol = |error: seatrial_model::ParamError| Reason::new(Cause::Protocol, error.to_string());
    let path = params.text("directory").map_err(protocol)?;
    let threads = params.count("threads").map_err(protocol)?;
    let mut case = case_in(about, params, node, path)?;
    case.planned.set("files", files);
    let cores = core_bindings(&node.machine)?;
    let bindings = (0..threads as usize).map(|number| cores[number % cores.len()]).collect();
    case.places = vec![PartPlacement::new("worker", 0, &node.name, bindings)];
    let size = params.bytes("size").map_err(protocol)?.map_or(0, Bytes::get);
    let all = size.saturating_mul(files).saturating_mul(threads);
    // Of empty files only names are written.
    let measured = case.budget.measure.get().saturating_mul(u64::from(case.budget.trials));
    let rewriting = Nanos(if all > 0 { measured } else { 0 });
    case.writes = Writes { files: Bytes(all), total: Bytes(0), rewriting };
    case.budget.overhead = Nanos::millis(100);
    // Leftovers are removed one by one, in the time of preparing.
    case.budget.prepare = Nanos::secs(30 + files.saturating_mul(threads) / SLOWEST);
    Ok(case)
}

pub fn limits(about: &About) -> Limits {
    let reason = "no hardware fact bounds the metadata rate of a file system";
    let limit = |name: &str| (name.to_owned(), Limit::unknown(reason));
    about.metrics.iter().map(|metric| limit(metric.name)).collect()
}
