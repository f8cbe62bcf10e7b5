//! Plans which node reads and which node writes.

use seatrial_model::{
    About, Case, Cause, Finding, Params, PartPlacement, Reason, Severity, Site, SiteNode, Subject, Writes,
};

use super::{READER, whole};
use crate::io::job::JobSpec;
use crate::io::plan::{place_threads, plan_node};
use seatrial_bench::core_bindings;

/// One case: the first node reads, the second writes. A single node does both, in two processes.
pub fn plan(about: &About, params: &Params, site: &Site) -> Result<Vec<Case>, Reason> {
    let (reader, writer) = match site.nodes.as_slice() {
        [] => return Err(Reason::new(Cause::Inapplicable, "there is no node to measure on")),
        [one] => (one, one),
        [one, other, ..] => (one, other),
    };
    let job = JobSpec::of(&whole(params))?;
    let wanted = params.text("directory").map_err(|error| Reason::new(Cause::Protocol, error.to_string()))?;
    if wanted == "disks" {
        let text = "directory=disks: a local disk is not shared with the other node; name a directory on a file \
             system that both nodes mount";
        return Err(Reason::new(Cause::Contradiction, text));
    }
    let mut cases = plan_node(about, params, &job, wanted, reader)?;
    for case in &mut cases {
        case.places[0].part = READER.to_owned();
        let threads = place_threads(&core_bindings(&writer.machine)?, None, job.threads);
        let part = about.parts.names()[1].to_owned();
        case.places.push(PartPlacement { part, index: 1, node: writer.name.clone(), bindings: threads });
        case.planned.set("written_on", writer.name.as_str());
        if reader.name != writer.name {
            case.nodes.push(writer.name.clone());
            // The id names all nodes of the case.
            *case = case.clone().in_group(about, about.id);
        }
        // The writer fills the files again in every trial.
        case.writes = Writes::times(job.total_bytes(), u64::from(case.budget.trials));
        case.findings.extend(same_client(reader, writer, &case.subject));
    }
    Ok(cases)
}

/// Finding: one kernel wrote and read the data, so they may come from its cache.
fn same_client(reader: &SiteNode, writer: &SiteNode, subject: &Subject) -> Option<Finding> {
    let boot = |node: &SiteNode| node.machine.boot_id.known().cloned();
    let one = reader.name == writer.name || boot(reader).is_some_and(|id| boot(writer) == Some(id));
    let text =
        "reader and writer run on the same kernel, whose cache may hold the data; run on two machines (-w)";
    one.then(|| Finding::new("same-client", Severity::Warning, subject.clone(), text.to_owned()))
}
