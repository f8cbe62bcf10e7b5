//! Cases of many nodes: whether the nodes have the directory on one file system, and the parts of each trial.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use seatrial_bench::{Part, Prepared, Running, Sink, Stop, stale_dirs};
use seatrial_model::{
    Case, Cause, Finding, Integrity, PartPlacement, PartRecord, Phase, Reason, Severity, Site, Value,
};
use serde::{Deserialize, Serialize};
use serde_json::json;

use seatrial_bench::directory::opened;
use seatrial_bench::directory::{Folder, Leftovers};

/// Planned value: whether the nodes are expected to have the directory on one file system.
const IS_SHARED: &str = "shared";

/// Evidence of each part: whether it sees the folder that the first part made.
const SEES_FOLDER: &str = "sees_folder";

/// Notes in the case of all nodes of `site` whether they are expected to share the directory, and returns it.
pub fn expect_shared(case: &mut Case, site: &Site) -> bool {
    let is_shared = has_one_source(case) || is_one_kernel(site);
    case.planned.set(IS_SHARED, Value::Flag(is_shared));
    is_shared
}

/// Whether `case` is one of many nodes.
pub fn is_of_many(case: &Case) -> bool {
    case.planned.get(IS_SHARED).is_some()
}

/// Clients whose files have to fit into one file system, as planned.
pub fn sharing(case: &Case) -> u64 {
    let is_shared = case.planned.get(IS_SHARED) == Some(&Value::Flag(true));
    if is_shared { case.planned.count(seatrial_bench::group::PARTS).unwrap_or(1) } else { 1 }
}

/// Whether the directory of all nodes is on a network, from one source.
fn has_one_source(case: &Case) -> bool {
    case.facts.get("network") == Some(&Value::Flag(true)) && case.facts.text("source").is_ok()
}

/// Whether the nodes are containers or namespaces of one host, which usually see one directory.
fn is_one_kernel(site: &Site) -> bool {
    let boots: BTreeSet<Option<&String>> =
        site.nodes.iter().map(|node| node.machine.boot_id.known()).collect();
    boots.len() == 1 && !boots.contains(&None)
}

/// What the first part tells the others.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Made {
    folder: PathBuf,
}

/// A part of a case of many nodes in `directory`. The first part makes a folder there, for which the others look by its
/// name: it has 64 random bits, so that a folder of that name elsewhere is no coincidence. `connect` gets the path of that folder.
pub fn part<T: Send + 'static, R: Running + 'static>(
    case: &Case,
    place: &PartPlacement,
    directory: String,
    prepare: impl FnOnce(&Case, &PartPlacement) -> Result<T, Reason> + Send + 'static,
    connect: impl FnOnce(T, &Path) -> Result<R, Reason> + Send + 'static,
) -> Part {
    Part::new(case, place, move |case, place| {
        let prepared = prepare(case, place)?;
        let is_first = place.index == 0;
        let (mut left, mut folder) = (Leftovers::default(), None);
        if is_first {
            let (path, _) = opened(&directory)?;
            left = Leftovers::remove(&path);
            folder = Some(Folder::new(&path, &case.bench)?);
        }
        let for_all = folder.as_ref().map(|folder| folder.inner(stale_dirs::SHARED)).transpose()?;
        let offer = Made { folder: for_all.unwrap_or_default() };
        let prepared = Prepared::new(place, offer, move |offers| {
            let made = offers.iter().find(|offer| offer.index == 0);
            let made =
                Made::deserialize(made.map(|offer| &offer.data).unwrap_or_default()).map_err(|error| {
                    let text = format!("the offer of the first part cannot be parsed: {error}");
                    Reason::new(Cause::Protocol, text)
                })?;
            let sees_folder = made.folder.is_dir();
            Ok(OneOfMany { running: connect(prepared, &made.folder)?, _folder: folder, left, sees_folder })
        })?;
        Ok(prepared.with_peers(vec![0]))
    })
}

/// Refuses the folder of the first part where this node does not have it, for what `setting` needs.
pub fn require_seen(folder: &Path, setting: &str) -> Result<(), Reason> {
    let text = || {
        format!(
            "{}, which the first node made, is not on this node: {setting} needs a directory that all nodes have on one \
             file system",
            folder.display()
        )
    };
    if folder.is_dir() { Ok(()) } else { Err(Reason::new(Cause::Missing, text())) }
}

/// A running part that tells whether it sees the folder of the first part.
struct OneOfMany<R> {
    running: R,
    /// The folder, in the first part. Removed with the worker: until all parts have verified, others work in it.
    _folder: Option<Folder>,
    left: Leftovers,
    sees_folder: bool,
}

impl<R: Running> Running for OneOfMany<R> {
    fn run(&mut self, phase: Phase, stop: &Stop, out: &mut dyn Sink) -> Result<(), Reason> {
        out.evidence(SEES_FOLDER, json!(self.sees_folder));
        self.left.tell(out);
        self.running.run(phase, stop, out)
    }

    fn verify(&mut self) -> Result<Integrity, Reason> {
        self.running.verify()
    }
}

/// The parts of each trial in which all of them ended, in the order of the nodes.
pub fn whole_trials<'a>(case: &Case, parts: &'a [PartRecord]) -> Vec<Vec<&'a PartRecord>> {
    let mut by_trial: BTreeMap<u32, BTreeMap<u32, &PartRecord>> = BTreeMap::new();
    for part in parts {
        by_trial.entry(part.trial).or_default().insert(part.index, part);
    }
    let whole = by_trial.into_values().filter(|all| all.len() == case.places.len());
    whole.map(|all| all.into_values().collect()).collect()
}

/// Finding: the sum is that of several file systems, because a part does not see the folder of the first.
pub fn own_file_systems(case: &Case, parts: &[&PartRecord]) -> Option<Finding> {
    let blind = |part: &&&PartRecord| part.evidence.get(SEES_FOLDER) == Some(&json!(false));
    let nodes: BTreeSet<&str> = parts.iter().filter(blind).map(|part| part.node.as_str()).collect();
    let first = parts.first().filter(|_| !nodes.is_empty())?;
    let text = format!(
        "the nodes have the directory on different file systems: {} did not see the folder that {} made there. The sum \
         is that of several storage systems, and says nothing about a shared one",
        seatrial_model::profile::fold(&nodes.into_iter().collect::<Vec<_>>()),
        first.node
    );
    Some(Finding::new("own-file-systems", Severity::Info, case.subject.clone(), text))
}
