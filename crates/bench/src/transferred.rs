//! Bytes transferred between the ends of a case, for the path proof: interface counters must show them.

use seatrial_model::{Case, Fact, Measures, Moved, MovedRows, PathEnd};

/// Bytes of a case over all trials.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Transferred {
    /// Payload received by the second end.
    pub forward: u64,
    /// Payload received by the first end.
    pub reverse: u64,
    /// Bytes per direction that may have been in buffers when the counters were read, so that payload and counters
    /// may differ by them.
    pub buffered: u64,
}

impl Transferred {
    /// Adds the evidence `moved`. A case on one node has no path.
    pub fn tell(&self, case: &Case, measures: &mut Measures) {
        put(case, measures, self.rows(case, None));
    }

    /// As [`Self::tell`], for each of several paths, by its interface at either end: each must have carried its own part.
    pub fn tell_by_interface(paths: &[([String; 2], Self)], case: &Case, measures: &mut Measures) {
        let rows = paths.iter().flat_map(|(names, moved)| moved.rows(case, Some(names)));
        put(case, measures, rows.collect());
    }

    fn rows(&self, case: &Case, interfaces: Option<&[String; 2]>) -> Vec<Moved> {
        let Some(nodes) = case.nodes.first_chunk::<2>() else { return Vec::new() };
        let end = |at: usize| interfaces.map(|names| PathEnd::Interface(names[at].clone()));
        let row = |(from, to, bytes): (usize, usize, u64)| Moved {
            from: nodes[from].clone(),
            to: nodes[to].clone(),
            bytes,
            buffered: self.buffered,
            sender: end(from),
            receiver: end(to),
        };
        let rows = [(0, 1, self.forward), (1, 0, self.reverse)];
        rows.into_iter().filter(|(_, _, bytes)| *bytes > 0).map(row).collect()
    }
}

fn put(case: &Case, measures: &mut Measures, rows: Vec<Moved>) {
    if case.nodes.len() > 1 {
        MovedRows(rows).put(&mut measures.evidence);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use seatrial_model::{Params, Site, SiteNode};
    use serde_json::json;

    use crate::Ends;

    #[test]
    fn each_direction_that_moved_something_is_a_row_and_one_node_has_none() {
        let node = |name: &str| SiteNode::new(name, seatrial_model::machine::Machine::default());
        let case = |nodes: Vec<SiteNode>| {
            let about = &crate::toy::ABOUT;
            let params: Params = about.defaults();
            let site = Site { nodes };
            let ends = Ends::of(&site, &params).expect("ends");
            let budget = crate::budget(&params).expect("a budget");
            ends.case(about, &params, budget)
        };
        let moved = Transferred { forward: 5, reverse: 0, buffered: 2 };
        let mut measures = Measures::default();
        moved.tell(&case(vec![node("n1")]), &mut measures);
        assert_eq!(measures.evidence.get("moved"), None);
        moved.tell(&case(vec![node("n1"), node("n2")]), &mut measures);
        let wanted = json!([{ "from": "n1", "to": "n2", "bytes": 5, "buffered": 2 }]);
        assert_eq!(measures.evidence["moved"], wanted);
        let both = Transferred { forward: 7, reverse: 3, buffered: 0 };
        let straight = ["eth0", "eth0"].map(str::to_owned);
        let crossed = ["eth1", "eth2"].map(str::to_owned);
        let paths = [(straight, moved), (crossed, both)];
        Transferred::tell_by_interface(&paths, &case(vec![node("n1"), node("n2")]), &mut measures);
        let row = |ends: [&str; 4], bytes: u64, buffered: u64| {
            let [from, sender, to, receiver] = ends;
            json!({
                "from": from, "to": to, "bytes": bytes, "buffered": buffered,
                "sender": { "interface": sender }, "receiver": { "interface": receiver },
            })
        };
        let wanted = json!([
            row(["n1", "eth0", "n2", "eth0"], 5, 2),
            row(["n1", "eth1", "n2", "eth2"], 7, 0),
            row(["n2", "eth2", "n1", "eth1"], 3, 0),
        ]);
        assert_eq!(measures.evidence["moved"], wanted);
    }
}
