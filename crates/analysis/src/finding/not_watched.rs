//! `probes-left-out`: cases around whose trials no counters were read, because of `--no-probes`.

use seatrial_model::record::CaseRecord;
use seatrial_model::{Actor, Finding, Outcome, Remedy, Severity, Subject};

use super::Rule;

pub(super) const RULE: Rule = Rule {
    kind: "probes-left-out",
    doc: "No counters of the machine were read around the trials, as `--no-probes` asks for.",
    find,
};

/// One finding over all cases, which have the option in common.
fn find(records: &[CaseRecord]) -> Vec<Finding> {
    let is_unwatched = |case: &CaseRecord| case.outcome == Outcome::Measured && !case.has_probes();
    if !records.iter().any(is_unwatched) {
        return Vec::new();
    }
    let text = "probes were left out (--no-probes): what disturbed the trials, throttled the machine or dropped packets was not \
                seen, and no disturbed trial was repeated";
    let remedy = Remedy::new(Actor::User, "measure without --no-probes");
    vec![Finding::new(RULE.kind, Severity::Warning, Subject::node(), text).with_remedy(remedy)]
}

#[cfg(test)]
mod tests {
    use seatrial_model::Value;

    use super::*;
    use crate::judge::fixture::measured;

    #[test]
    fn a_run_without_probes_says_so_once() {
        let unwatched = |node: &str| {
            let mut case = measured(node);
            case.layout.set("probes", Value::Flag(false));
            case
        };
        let found = find(&[unwatched("n1"), measured("n2"), unwatched("n3")]);
        let [finding] = found.as_slice() else { panic!("{found:?}") };
        assert!(finding.text.starts_with("probes were left out (--no-probes)"), "{}", finding.text);
        assert!(find(&[measured("n1")]).is_empty());
    }
}
