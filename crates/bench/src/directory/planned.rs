//! A case in a directory, as far as the plan knows what lies below it.

use seatrial_model::machine::{FileSystem, Machine, Medium};
use seatrial_model::{About, Case, Cause, Finding, Params, Reason, Severity, SiteNode, Subject};

use super::{file_system_of, require_usable};
use crate::budget;
use crate::space::{lacking, room_of};

/// A case of `about` on `node` whose subject is the file system of the directory at `path`, with the facts of it.
///
/// # Errors
/// When the directory cannot be used, or the parameters of the budget contradict each other.
pub fn case_in(about: &About, params: &Params, node: &SiteNode, path: &str) -> Result<Case, Reason> {
    require_usable(&node.machine, "directory", path)?;
    let system = file_system_of(&node.machine, path).map(|found| found.seen_from(path));
    let subject = Subject::device("fs", system.as_ref().map_or(path, |found| found.mount.as_str()));
    let mut case = Case::new(about, &node.name, subject.clone(), params, budget(params)?);
    case.facts.set("kind", "fs");
    if let Some(found) = system {
        case.key = Some(found.key());
        case.facts = found.facts();
        case.findings.extend(in_memory(&found, path, &subject));
    }
    Ok(case)
}

/// Finding: the directory at `path` is in memory.
pub fn in_memory(found: &FileSystem, path: &str, subject: &Subject) -> Option<Finding> {
    let text = format!("{path} is in memory ({}): no disk or server is measured", found.kind);
    (found.medium == Medium::Memory)
        .then(|| Finding::new("in-memory", Severity::Warning, subject.clone(), text))
}

/// Refuses files of `bytes` together that do not fit into the directory at `path`, as far as the inventory knows.
///
/// # Errors
/// When they do not fit.
pub fn require_known_room(machine: &Machine, path: &str, bytes: u64) -> Result<(), Reason> {
    let room = file_system_of(machine, path).and_then(|found| Some((found, room_of(found)?)));
    let lack = room.and_then(|(found, (free, size))| lacking(bytes, free, size, &found.mount));
    lack.map_or(Ok(()), |text| Err(Reason::new(Cause::NoSpace, text)))
}
