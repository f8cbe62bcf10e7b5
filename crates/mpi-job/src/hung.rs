//! Jobs that were measured and checked, and did not end by themselves.

use seatrial_model::{Actor, Finding, Integrity, PartRecord, Remedy, Severity, Subject};

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
    // The first part tells what all ranks have checked.
    let mut checked = parts.iter().filter(|part| part.index == 0);
    let is_right = checked.all(|part| matches!(part.integrity, Integrity::Verified { .. }));
    let results = if is_right { "complete and their data is right" } else { "complete" };
    let text = format!(
        "MPI_Finalize did not return in {} of {jobs} jobs ({}): {first}. The results are {results}; \
         programs that use this library hang at their end",
        hung.len(),
        library["version"].as_str().unwrap_or("a library without a version"),
    );
    Some(Finding::new("finalize-hung", Severity::Warning, Subject::node(), text).with_remedy(REMEDY))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn told(integrity: [Integrity; 2]) -> String {
        let part = |(trial, integrity)| PartRecord {
            part: "ranks".to_owned(),
            index: 0,
            node: "n1".to_owned(),
            trial,
            samples: Vec::new(),
            integrity,
            evidence: [
                (EVIDENCE.to_owned(), json!("rank 1 is in MPI_Finalize")),
                ("library".to_owned(), json!({ "version": "Some MPI 1.0" })),
            ]
            .into(),
        };
        finding(&(0..).zip(integrity).map(part).collect::<Vec<_>>()).expect("a finding").text
    }

    #[test]
    fn data_is_called_right_only_where_all_of_it_was_checked() {
        let verified = || Integrity::Verified { checked: 8 };
        let unverified = Integrity::Unverified { why: "a barrier moves no data".to_owned() };
        assert!(told([verified(), verified()]).contains("The results are complete and their data is right;"));
        let text = told([verified(), unverified]);
        assert!(text.contains("2 of 2 jobs") && text.contains("The results are complete; "), "{text}");
    }
}
