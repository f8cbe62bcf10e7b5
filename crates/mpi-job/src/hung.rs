//! Jobs that were measured and checked, and did not end by themselves.

use seatrial_model::{Actor, Finding, PartRecord, Remedy, Severity, Subject};

/// The evidence that says why.
pub const EVIDENCE: &str = "hung_at_end";

const REMEDY: Remedy = Remedy::new(
    Actor::Administrator,
    "try another version of the library, or another transport of it: variables such as UCX_TLS and FI_PROVIDER",
);

/// The finding about the trials whose ranks did not return from MPI_Finalize.
pub fn finding(parts: &[PartRecord]) -> Option<Finding> {
    let hung: Vec<&str> = parts.iter().filter_map(|part| part.evidence.get(EVIDENCE)?.as_str()).collect();
    let jobs = parts.iter().filter(|part| part.evidence.contains_key("library")).count();
    let (first, library) = (hung.first()?, parts.first()?.evidence.get("library")?);
    let text = format!(
        "MPI_Finalize did not return in {} of {jobs} jobs ({}): {first}. The results are complete and their data is right; \
         programs that use this library hang at their end",
        hung.len(),
        library["version"].as_str().unwrap_or("a library without a version"),
    );
    Some(Finding::new("finalize-hung", Severity::Warning, Subject::node(), text).with_remedy(REMEDY))
}
