//! Limits of the metrics of reading and writing files.

use seatrial_inventory::DiskLoad;
use seatrial_model::{About, Bound, Case, Limit, Limits, Quantity, Site, Unit};

use super::job::JobSpec;
use crate::many;
use seatrial_bench::directory::limit_of_directory;

pub fn limits(about: &About, case: &Case, site: &Site) -> Limits {
    let block = case.params.bytes("block").ok().flatten().map_or(1.0, |bytes| bytes.get() as f64);
    let (sum, read, written) =
        (rate(case, site, [true, true]), rate(case, site, [true, false]), rate(case, site, [false, true]));
    let unbounded = |what: &str| Limit::unknown(format!("no hardware fact bounds {what}"));
    let of = |name: &str| match name {
        "throughput" | "first_done" | "last_done" | "slowest_node" => sum.clone(),
        "read" => read.clone(),
        "written" | "durable" => written.clone(),
        "iops" => in_blocks(&sum, block),
        "fairness" => Limit::Unknown {
            reason: "the index is at most 1 by definition; hardware does not bound it".to_owned(),
        },
        "cpu_per_io" => unbounded("the CPU time per block"),
        _ => unbounded("how long a request takes"),
    };
    about.limits(of)
}

pub fn in_blocks(limit: &Limit, block: f64) -> Limit {
    let one = |bound: &Bound| {
        let bytes = bound.value.base();
        let value = Quantity::new(bytes / block, Unit::PerSecond).ok()?;
        let (formula, provenance) = (format!("{} / {block} B", bound.formula), bound.provenance.clone());
        Some(Bound { value, formula, provenance, nominal: None })
    };
    match limit {
        Limit::Chain(bounds) => Limit::Chain(bounds.iter().filter_map(one).collect()),
        unknown => unknown.clone(),
    }
}

fn rate(case: &Case, site: &Site, [reads, writes]: [bool; 2]) -> Limit {
    let unknown = |reason: String| Limit::Unknown { reason };
    let Some(machine) = case.nodes.first().and_then(|node| site.machine(node)) else {
        return unknown("the node is not known".to_owned());
    };
    if many::is_of_many(case) {
        let text = "many clients share servers that the inventory does not see: state what these deliver with [[limit]]";
        return unknown(text.to_owned());
    }
    let (Ok(path), Ok(job)) = (case.planned.text("directory"), JobSpec::of(&case.params)) else {
        return unknown("the directory is not known".to_owned());
    };
    if !job.direct {
        let text = "access=buffered: the page cache may move more than the disk for a while";
        return unknown(text.to_owned());
    }
    let load = DiskLoad {
        reads: reads && job.operation.reads(),
        writes: writes && job.operation.writes(),
        block: job.block as u64,
    };
    limit_of_directory(machine, path, load)
}
