//! Plans the cases and their time limits from the inventory.

use seatrial_model::machine::Machine;
use seatrial_model::{
    About, Binding, Bytes, Case, Cause, Nanos, Params, PartPlacement, Reason, Site, SiteNode, Writes,
};

use super::clients;
use super::directory::Directory;
use super::job::{JobSpec, Operation};
use super::specs::{MOST_THREADS, THREADS};
use super::work::slots;
use seatrial_bench::group::with_cores;
use seatrial_bench::space::{lacking, room_of};
use seatrial_bench::{core_bindings, each_node, room};

/// Rate for time limits, in bytes per second: slower storage counts as hanging when a phase moves all of the files.
const SLOWEST: u64 = 20_000_000;

/// Typical rate for estimates, in bytes per second.
const USUAL: u64 = 500_000_000;

pub fn plan(about: &About, params: &Params, site: &Site) -> Result<Vec<Case>, Reason> {
    let params = &with_cores(params, THREADS.name, MOST_THREADS, site)?;
    let mut job = JobSpec::of(params)?;
    job.layout = job.layout.on_node(0, site.nodes.len().max(1) as u64);
    let wanted = params.text("directory").map_err(|error| Reason::new(Cause::Protocol, error.to_string()))?;
    let of_node = |node: &SiteNode| plan_node(about, params, &job, wanted, node);
    if site.nodes.len() < 2 {
        return each_node(site, of_node);
    }
    clients::plan(about, site, &job, of_node)
}

pub fn plan_node(
    about: &About,
    params: &Params,
    job: &JobSpec,
    wanted: &str,
    node: &SiteNode,
) -> Result<Vec<Case>, Reason> {
    let machine = &node.machine;
    let cores = core_bindings(machine)?;
    require_memory(job, machine)?;
    let writes = if job.operation == Operation::Read { "make files to read" } else { "write" };
    let mut cases = Vec::new();
    for directory in Directory::all(machine, wanted, writes)? {
        require_room(job, &directory)?;
        let mut case =
            Case::new(about, &node.name, directory.subject(), params, seatrial_bench::budget(params)?);
        case.key = directory.key();
        case.facts = directory.facts(machine);
        case.planned.set("directory", directory.path.as_str());
        case.planned.set("size", Bytes(job.total_bytes()));
        if let Some(found) = directory.file_system {
            case.planned.set("file_system", found.kind.as_str());
            case.planned.set("source", found.source.as_str());
        }
        let disks = directory.disks(machine);
        if !disks.is_empty() {
            let names: Vec<_> = disks.iter().map(|disk| disk.name.as_str()).collect();
            case.planned.set("disks", names.join(" ").as_str());
        }
        let near = disks.iter().find_map(|disk| disk.numa_node().known().copied());
        case.places =
            vec![PartPlacement::new("worker", 0, &node.name, place_threads(&cores, near, job.threads))];
        let total = job.total_bytes();
        let all_of_it = |rate: u64| Nanos(total.saturating_mul(1_000) / (rate / 1_000_000).max(1));
        let trials = u64::from(case.budget.trials.max(1));
        // Files that are only read are filled by the first trial and found by the others.
        let once = if job.is_made_anew() { 1 } else { trials };
        let laid_out = if job.is_laid_out() { all_of_it(USUAL).get() / once } else { 0 };
        case.writes = written(job, trials);
        case.budget.overhead = Nanos::millis(100).plus(Nanos(laid_out));
        case.budget.prepare = Nanos::secs(30).plus(all_of_it(SLOWEST));
        if job.rounds > 1 {
            // Requests in flight at the end of a round are waited for.
            case.budget.measure = Nanos(job.time.get().saturating_mul(job.rounds)).plus(Nanos::secs(1));
        }
        // Phases that move all of the files: once, or out of the cache at the end.
        let buffered = job.operation.writes() && !job.direct;
        if job.once || buffered {
            case.budget.slack =
                all_of_it(SLOWEST).plus(if job.once { case.budget.measure } else { Nanos(0) });
            case.budget.measure = case.budget.measure.plus(all_of_it(SLOWEST));
            case.budget.overhead = case.budget.overhead.plus(all_of_it(USUAL));
        }
        cases.push(case);
    }
    Ok(cases)
}

/// What `trials` trials write: files that are only read are filled by the first; others are filled by each if they are laid
/// out, and then written once, or for the measuring time.
fn written(job: &JobSpec, trials: u64) -> Writes {
    let filled = if job.is_made_anew() { trials } else { 1 };
    let written = if job.operation.writes() && job.once { trials } else { 0 };
    let times = written + if job.is_laid_out() { filled } else { 0 };
    let measured = job.time.get().saturating_mul(trials).saturating_mul(job.rounds);
    let rewriting = Nanos(if job.operation.writes() && !job.once { measured } else { 0 });
    Writes { rewriting, ..Writes::times(job.total_bytes(), times) }
}

/// One core per thread, those next to the disk first, round-robin when there are more threads than cores.
pub fn place_threads(cores: &[Binding], near: Option<u32>, threads: usize) -> Vec<Binding> {
    let mut cores = cores.to_vec();
    if let Some(node) = near {
        cores.sort_by_key(|binding| binding.node != node);
    }
    (0..threads).map(|number| cores[number % cores.len()]).collect()
}

fn require_memory(job: &JobSpec, machine: &Machine) -> Result<(), Reason> {
    let wanted = (job.block * slots(job.depth_with(true)) * job.threads) as u64;
    match room(machine) {
        Some(room) if wanted > room / 2 => {
            let text = format!(
                "{} threads with blocks of {} need {} of memory, more than half of the available memory; \
                 lower threads=, depth= or block=",
                job.threads,
                Bytes(job.block as u64).rounded(),
                Bytes(wanted).rounded()
            );
            Err(Reason::new(Cause::NoSpace, text))
        }
        _ => Ok(()),
    }
}

fn require_room(job: &JobSpec, directory: &Directory<'_>) -> Result<(), Reason> {
    let known = directory.file_system.and_then(room_of);
    let text = known.and_then(|(free, size)| lacking(job.total_bytes(), free, size, &directory.path));
    text.map_or(Ok(()), |text| Err(Reason::new(Cause::NoSpace, text)))
}
