//! Bytes transferred between the ends of a case, for the path proof: interface counters must show them.

use seatrial_model::{Case, Fact, Measures, Moved, MovedRows};

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

    /// As [`Self::tell`], for each of several paths, by interface name: each must have carried its own part.
    pub fn tell_by_interface(paths: &[(String, Self)], case: &Case, measures: &mut Measures) {
        let rows = paths.iter().flat_map(|(name, moved)| moved.rows(case, Some(name)));
        put(case, measures, rows.collect());
    }

    fn rows(&self, case: &Case, interface: Option<&str>) -> Vec<Moved> {
        let [first, second, ..] = case.nodes.as_slice() else { return Vec::new() };
        let rows = [(first, second, self.forward), (second, first, self.reverse)];
        let row = |(from, to, bytes): &(&String, &String, u64)| Moved {
            from: (*from).clone(),
            to: (*to).clone(),
            bytes: *bytes,
            buffered: self.buffered,
            interface: interface.map(str::to_owned),
            sender: None,
            receiver: None,
        };
        rows.iter().filter(|(_, _, bytes)| *bytes > 0).map(row).collect()
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
        let paths = [("eth0".to_owned(), moved), ("eth1".to_owned(), both)];
        Transferred::tell_by_interface(&paths, &case(vec![node("n1"), node("n2")]), &mut measures);
        let wanted = json!([
            { "from": "n1", "to": "n2", "bytes": 5, "buffered": 2, "interface": "eth0" },
            { "from": "n1", "to": "n2", "bytes": 7, "buffered": 0, "interface": "eth1" },
            { "from": "n2", "to": "n1", "bytes": 3, "buffered": 0, "interface": "eth1" },
        ]);
        assert_eq!(measures.evidence["moved"], wanted);
    }
}
