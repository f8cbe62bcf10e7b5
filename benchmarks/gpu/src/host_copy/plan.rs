//! Plans which GPUs copy from and to which memory, from the inventory.

use seatrial_inventory::gpu_host_limit;
use seatrial_model::machine::Gpu;
use seatrial_model::{
    About, Binding, Bytes, Case, Cause, Limit, Limits, Nanos, Params, PartPlacement, Reason, Site, SiteNode,
    Subject,
};

use super::cell::{Grid, directions};
use super::sizes::sizes;
use seatrial_bench::{core_bindings, each_node, matrix_nodes, room};

/// Time per slice: many copies of the default size.
const SLICE: Nanos = Nanos::millis(40);

const SHORT_SLICE: Nanos = Nanos::millis(4);

/// Most cells with long slices.
const FEW: usize = 24;

pub const fn slice_time(grid: &Grid) -> Nanos {
    if grid.cells.len() > FEW { SHORT_SLICE } else { SLICE }
}

const LEAST_SLICES: u64 = 3;

/// Time of the small copies and the chase, per round.
const LATENCIES: Nanos = Nanos::millis(25);

pub fn plan(about: &About, params: &Params, site: &Site) -> Result<Vec<Case>, Reason> {
    each_node(site, |node| {
        let gpus = crate::measured(params, &node.machine)?;
        gpus.into_iter().enumerate().map(|(turn, gpu)| plan_gpu(about, params, node, gpu, turn)).collect()
    })
}

fn plan_gpu(about: &About, params: &Params, node: &SiteNode, gpu: &Gpu, turn: usize) -> Result<Case, Reason> {
    let machine = &node.machine;
    let contradiction = |text: String| Reason::new(Cause::Contradiction, text);
    let sizes = sizes(params.text("size").unwrap_or_default())
        .map_err(|why| contradiction(format!("parameter 'size': {why}")))?;
    let is = |name: &str, word: &str| params.text(name).is_ok_and(|typed| typed == word);
    if is("engine", "sm") && is("memory", "pageable") {
        return Err(contradiction(
            "engine=sm needs memory=pinned: kernels cannot access pageable memory".to_owned(),
        ));
    }
    if is("engine", "sm") && sizes.iter().any(|size| !size.is_multiple_of(16)) {
        return Err(contradiction(
            "engine=sm copies vectors of 16 bytes: every size must be a multiple of 16".to_owned(),
        ));
    }
    if is("scope", "matrix") && sizes.len() > 1 {
        return Err(contradiction("scope=matrix allows only one size".to_owned()));
    }
    let subject = Subject::device("gpu", &gpu.index.to_string());
    let cores = core_bindings(machine)?;
    let (binding, findings) = crate::near(machine, gpu, &cores, turn);
    let mut bindings = vec![binding];
    if is("memory", "pageable") {
        // The driver copies on the CPU, in a thread for each direction.
        let beside = |core: &&Binding| core.node == binding.node && core.cpu != binding.cpu;
        let others: Vec<&Binding> = cores.iter().filter(beside).collect();
        bindings.extend(others.get(turn % others.len().max(1)).copied());
    }
    let mut nodes = vec![binding.memory];
    if is("scope", "matrix") {
        nodes.extend(matrix_nodes(machine)?.into_iter().map(Some).filter(|node| *node != binding.memory));
    }
    let mut case = Case::new(about, &node.name, subject, params, seatrial_bench::budget(params)?);
    case.key = Some(gpu.key());
    case.facts = gpu.facts();
    case.findings = findings;
    crate::chosen(&mut case, &[gpu]);
    let words: Vec<String> =
        nodes.iter().map(|node| node.map_or_else(|| "any".to_owned(), |node| node.to_string())).collect();
    case.planned.set("memory_nodes", words.join(" ").as_str());
    case.places = vec![PartPlacement::new("worker", 0, &node.name, bindings)];
    let directions = directions(params)?;
    let grid = Grid::new(&directions, &sizes, nodes);
    fits(&grid, room(machine))?;

    let round = Nanos(slice_time(&grid).get() * grid.cells.len() as u64 + LATENCIES.get());
    case.budget.measure = case.budget.measure.max(Nanos(round.get() * LEAST_SLICES * 5 / 4));
    case.budget.warm_up = case.budget.warm_up.max(Nanos::millis(300)).max(round);
    // Touching, filling and checking run at some GB/s.
    let touched = Nanos(2 * grid.largest() * grid.nodes.len() as u64);
    case.budget.overhead = Nanos::millis(700).plus(touched);
    case.budget.prepare = Nanos::secs(60).plus(Nanos(touched.get().saturating_mul(10)));
    Ok(case)
}

fn fits(grid: &Grid, room: Option<u64>) -> Result<(), Reason> {
    let wanted = 2 * grid.largest() * grid.nodes.len() as u64;
    match room {
        Some(room) if wanted > room / 2 => {
            let text = format!(
                "the copies need {} of host memory, but at most {}, half of the available memory, is used; \
                 lower -p size=",
                Bytes(wanted).rounded(),
                Bytes(room / 2).rounded()
            );
            Err(Reason::new(Cause::NoSpace, text))
        }
        _ => Ok(()),
    }
}

pub fn limits(about: &About, case: &Case, site: &Site) -> Limits {
    let unknown = |reason: &str| Limit::unknown(reason);
    let machine = case.nodes.first().and_then(|node| site.machine(node));
    let gpus = machine.and_then(|machine| machine.gpus.known());
    let gpu = gpus.and_then(|gpus| gpus.iter().find(|gpu| Some(gpu.key()) == case.key));
    let one_way = gpu.map_or_else(|| unknown("the GPU is not in the inventory"), gpu_host_limit);
    let twice = match one_way.clone() {
        Limit::Chain(bounds) => Limit::Chain(bounds.into_iter().map(crate::both_ways).collect()),
        other => other,
    };
    let limit = |metric: &str| match metric {
        "both" => twice.clone(),
        metric if metric.ends_with("latency") => {
            unknown("no data sheet states the latency of link, processor and driver")
        }
        _ => one_way.clone(),
    };
    about.limits(limit)
}
