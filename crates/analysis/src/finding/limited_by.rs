//! What limits the flows of the cases in which a node is slow, as their benchmark tells it in the evidence `limited_by`.

use std::collections::BTreeMap;

use seatrial_model::record::CaseRecord;
use seatrial_model::{Actor, Remedy};

/// A limit of a flow.
#[derive(Debug)]
pub(super) struct LimitedBy {
    /// As the evidence has it.
    word: &'static str,
    cause: &'static str,
    pub remedy: Remedy,
}

const ALL: &[LimitedBy] = &[
    LimitedBy {
        word: "path",
        cause: "the path is full: a slower link, a shaper or other traffic on the way",
        remedy: PATH,
    },
    LimitedBy {
        word: "receive-window",
        cause: "the receive window is too small",
        remedy: Remedy::new(Actor::Root, "raise the third value of net.ipv4.tcp_rmem on the receiving node"),
    },
    LimitedBy {
        word: "send-buffer",
        cause: "the send buffer is too small",
        remedy: Remedy::new(Actor::Root, "raise the third value of net.ipv4.tcp_wmem on the sending node"),
    },
    LimitedBy { word: "sender-cpu", cause: "the sender's CPU is busy", remedy: CPU },
    LimitedBy { word: "receiver-cpu", cause: "the receiver's CPU is busy", remedy: CPU },
    LimitedBy { word: "sender-starved", cause: "other programs take the sender's CPU", remedy: STARVED },
    LimitedBy { word: "receiver-starved", cause: "other programs take the receiver's CPU", remedy: STARVED },
];

pub(super) const PATH: Remedy = Remedy::new(
    Actor::NetworkTeam,
    "check the speed of its switch port and of the links behind it, and shapers and policers on the way",
);

const CPU: Remedy = Remedy::new(
    Actor::Root,
    "compare the CPU, its clock and its governor with those of the other nodes: `seatrial run cpu.clock`",
);

const STARVED: Remedy =
    Remedy::new(Actor::Root, "end what else runs on the node, or give the flows cores of their own");

/// Share of all flows that have the limit: fewer say nothing about the node.
const MOST: f64 = 0.8;

/// The limit of most flows of `cases`, with the number of them and of all.
pub(super) fn of<'a>(cases: impl Iterator<Item = &'a CaseRecord>) -> Option<(&'static LimitedBy, u64, u64)> {
    let mut flows: BTreeMap<&str, u64> = BTreeMap::new();
    for (word, count) in cases.filter_map(|case| case.evidence.get("limited_by")?.as_object()).flatten() {
        *flows.entry(word).or_default() += count.as_u64().unwrap_or(0);
    }
    let all: u64 = flows.values().sum();
    let (word, count) = flows.into_iter().max_by_key(|(_, count)| *count)?;
    let limit = ALL.iter().find(|limit| limit.word == word)?;
    (count as f64 >= MOST * all as f64).then_some((limit, count, all))
}

impl LimitedBy {
    /// As the end of a sentence.
    pub fn cause(&self, count: u64, all: u64) -> String {
        format!("in {count} of {all} flows {}", self.cause)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::judge::fixture::case;

    fn limited(counts: serde_json::Value) -> CaseRecord {
        let mut record = case("n1", "n1->n3");
        record.evidence.insert("limited_by".to_owned(), counts);
        record
    }

    #[test]
    fn what_limits_four_in_five_flows_is_the_cause_and_less_is_none() {
        let most = [limited(json!({ "path": 3 })), limited(json!({ "path": 1, "loss": 1 }))];
        let (limit, count, all) = of(most.iter()).expect("four of five");
        assert_eq!(limit.remedy, PATH);
        let told = "in 4 of 5 flows the path is full: a slower link, a shaper or other traffic on the way";
        assert_eq!(limit.cause(count, all), told);
        assert!(of([limited(json!({ "path": 3, "loss": 1 }))].iter()).is_none());
        // What has no word of advice, and a benchmark that tells nothing.
        assert!(of([limited(json!({ "application": 2 }))].iter()).is_none());
        assert!(of([case("n1", "n1->n3")].iter()).is_none());
    }
}
