//! Plans `transfer.move`: between the first two nodes, or within one.

use seatrial_bench::directory::{
    file_system_of, in_memory, limit_of_directory, require_known_room, require_usable,
};
use seatrial_bench::{Ends, WITHIN_NODE, core_bindings, link_limits};
use seatrial_inventory::DiskLoad;
use seatrial_model::{
    About, Bound, Bytes, Case, Cause, Limit, Limits, Nanos, Params, Reason, Site, Subject, Unit, Value,
    Writes,
};

use super::tool::Tool;
use crate::set::Recipe;

/// Rates for time limits: slower tools count as hanging.
const SLOWEST_BYTES: u64 = 5_000_000;
const SLOWEST_FILES: u64 = 20;

/// Longest start of a program, with its login.
const STARTS_WITHIN: Nanos = Nanos::secs(10);

/// Typical rate for estimates, in bytes per second.
const USUAL: u64 = 300_000_000;

/// Requests are of this size, but for small files.
const BLOCK: u64 = 1 << 20;

pub fn plan(about: &About, params: &Params, site: &Site) -> Result<Vec<Case>, Reason> {
    let ends = Ends::of(site, params)?;
    let tool = Tool::of(params)?;
    tool.require_reach(!ends.alone())?;
    tool.require_options(params, !ends.alone())?;
    require_plain(tool, "cipher", params.text("cipher")?)?;
    let recipe = Recipe::planned(params)?;
    let bytes = recipe.bytes();
    let paths = [params.text("source")?, params.text("target")?];
    // The second end is that of the first node if there is no other.
    let machines = [0, 1].map(|end| &site.nodes[end.min(site.nodes.len() - 1)].machine);
    for machine in machines {
        // Nobody is pinned, but a node without a CPU that we may run on copies nothing.
        core_bindings(machine)?;
    }
    let budget = seatrial_bench::budget(params)?;
    let mut case = ends.case(about, params, budget);
    let found = [0, 1].map(|end| file_system_of(machines[end], paths[end]));
    if ends.alone() {
        let mount =
            |end: usize| found[end].and_then(|found| found.mount_of(paths[end])).unwrap_or(paths[end]);
        let subject = Subject::device("fs", &format!("{}->{}", mount(0), mount(1)));
        case = Case::new(about, &case.nodes[0], subject, params, budget);
        case.facts.set("kind", "fs");
        case.planned.set(WITHIN_NODE, Value::Flag(true));
    }
    let is_one = ends.alone() && found[0].map(|one| &one.mount) == found[1].map(|other| &other.mount);
    for (end, name) in ["source", "target"].into_iter().enumerate() {
        require_plain(tool, name, paths[end])?;
        require_usable(machines[end], name, paths[end])?;
        require_known_room(machines[end], paths[end], if is_one { bytes.saturating_mul(2) } else { bytes })?;
        let told = found[end].and_then(|found| in_memory(found, paths[end], &case.subject));
        case.findings.extend(told);
    }
    recipe.note(&mut case.planned);
    case.places = ends.places(about.parts.names(), [Vec::new(), Vec::new()]);
    let trials = u64::from(case.budget.trials);
    let rewriting = Nanos(case.budget.measure.get().saturating_mul(trials));
    // The set, and one copy of it at a time.
    let files = Bytes(bytes.saturating_mul(2));
    case.writes = Writes { files, total: Bytes(bytes.saturating_mul(trials)), rewriting };
    let at = |rate: u64| Nanos(bytes.saturating_mul(1000) / (rate / 1_000_000));
    let longest = at(SLOWEST_BYTES).plus(Nanos::secs(recipe.files / SLOWEST_FILES));
    let longest = if tool == Tool::Native { longest } else { longest.plus(STARTS_WITHIN) };
    // A copy that has begun is finished and compared; the set is made before.
    case.budget.warm_up = Nanos::millis(1);
    case.budget.slack = longest;
    case.budget.measure = case.budget.measure.plus(longest);
    case.budget.prepare = Nanos::secs(30).plus(longest);
    case.budget.overhead = Nanos::millis(300).plus(at(USUAL)).plus(at(USUAL));
    Ok(vec![case])
}

/// Refuses a word that a shell on the way would read as something else.
fn require_plain(tool: Tool, name: &str, word: &str) -> Result<(), Reason> {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "/._-+@,=".contains(letter);
    if tool == Tool::Native || word.chars().all(is_plain) && !word.starts_with('-') {
        return Ok(());
    }
    let text = format!(
        "{name}={word}: tool={} passes it through a shell; use letters, digits and / . _ - only, or measure tool=native",
        tool.name()
    );
    Err(Reason::new(Cause::Contradiction, text))
}

pub fn limits(about: &About, case: &Case, site: &Site) -> Limits {
    about.limits(|name| match name {
        "goodput" => goodput(case, site),
        "first_done" | "last_done" => {
            Limit::unknown("no hardware fact bounds when a file is done; see the limit of goodput")
        }
        "files" => Limit::unknown("no hardware fact bounds how many files a tool copies a second"),
        "wire" => {
            Limit::unknown("1 without headers, encryption and repeated packets; no hardware fact bounds it")
        }
        _ => Limit::unknown("no hardware fact bounds the CPU time of a copy"),
    })
}

/// The link between the nodes, the source's disk where it is read from that, and the target's where a copy is over when it is
/// flushed.
fn goodput(case: &Case, site: &Site) -> Limit {
    if case.nodes.len() < 2 {
        return Limit::unknown("within one node the kernel may share blocks instead of copying them");
    }
    let mut all = vec![link(case, site)];
    let mut disk = |end: usize, name: &str, reads: bool| {
        let machine = case.nodes.get(end).and_then(|node| site.machine(node));
        if let Some((machine, path)) = machine.zip(case.params.text(name).ok()) {
            all.push(limit_of_directory(machine, path, DiskLoad { reads, writes: !reads, block: BLOCK }));
        }
    };
    if case.params.text("cache") == Ok("cold") {
        disk(0, "source", true);
    }
    if case.params.text("sync") == Ok("end") {
        disk(1, "target", false);
    }
    let (mut bounds, mut reasons) = (Vec::new(), Vec::new());
    for limit in all {
        match limit {
            Limit::Chain(chain) => bounds.extend(chain),
            Limit::Unknown { reason } | Limit::AtMost { reason, .. } => reasons.push(reason),
        }
    }
    if bounds.is_empty() { Limit::unknown(reasons.join("; ")) } else { Limit::Chain(bounds) }
}

/// What the link lets through, in the unit of disks.
fn link(case: &Case, site: &Site) -> Limit {
    let in_megabytes = |bound: Bound| {
        let value = bound.value.to(Unit::MegabytesPerSecond).unwrap_or(bound.value);
        Bound { value, ..bound }
    };
    match link_limits::tcp(case, site) {
        Ok(bounds) => Limit::Chain(bounds.into_iter().map(in_megabytes).collect()),
        Err(reason) => Limit::unknown(reason),
    }
}
