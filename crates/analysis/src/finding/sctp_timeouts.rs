//! `sctp-timeouts`: SCTP waited for its retransmission timer.

use seatrial_model::record::CaseRecord;
use seatrial_model::{Finding, Severity};

use super::Rule;
use super::probes::{self, Seen};

pub(super) const RULE: Rule = Rule {
    kind: "sctp-timeouts",
    doc: "SCTP sent packets again after its timer had run out, which is a second without data each time.",
    find,
};

fn find(records: &[CaseRecord]) -> Vec<Finding> {
    let of_sctp = records.iter().filter(|case| case.params.text("protocol") == Ok("sctp"));
    probes::find(of_sctp, "snmp", of_node)
}

fn of_node(case: &CaseRecord, seen: &Seen) -> Option<Finding> {
    let timeouts = seen.count("sctp_timeouts");
    if timeouts == 0 {
        return None;
    }
    let node = seen.node;
    let text = format!(
        "the retransmission timer of SCTP on {node} ran out during the trials (count: {timeouts}), each time after \
         net.sctp.rto_min, usually 1 s, without data: the path or a full receive buffer dropped the packets; raise \
         net.core.rmem_max and -p buffer="
    );
    Some(seen.finding(case, RULE.kind, Severity::Warning, text, timeouts))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::probes::fixture::case;
    use super::*;

    #[test]
    fn timeouts_of_sctp_are_told_where_sctp_was_measured() {
        let mut streams = case("snmp", &json!({ "counts": { "sctp_timeouts": 4 } }));
        assert_eq!(find(std::slice::from_ref(&streams)), [], "SCTP of another program");
        streams.params.set("protocol", "sctp");
        let found = find(std::slice::from_ref(&streams));
        let [finding] = found.as_slice() else { panic!("{found:?}") };
        assert_eq!((finding.node.as_deref(), finding.kind.as_str()), (Some("n1"), "sctp-timeouts"));
        assert!(finding.text.contains("on n1 ran out during the trials (count: 4)"), "{}", finding.text);
        streams
            .evidence
            .insert("probes".to_owned(), json!({ "n1": { "snmp": { "counts": { "sctp_timeouts": 0 } } } }));
        assert_eq!(find(&[streams]), []);
    }
}
