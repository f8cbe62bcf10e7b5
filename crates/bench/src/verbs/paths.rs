//! Bytes over each port of a case, for the path proof by the port's counters.

use seatrial_model::{Case, Fact, Measures, Moved, MovedRows, PathEnd};

use super::port_list::{PLUS, PORTS};
use super::ports::{DISTINCT, INTERFACES};
use crate::Transferred;

/// Puts what went between the ports of a case, in their order, down as `moved` in the evidence: a row for each direction of
/// each, with the ports at both ends. On one node by itself only cards of their own have a path between them that their
/// counters could show.
pub fn tell(by_port: &[Transferred], case: &Case, measures: &mut Measures) {
    let [first, second] = match case.nodes.as_slice() {
        [one] if case.planned.flag(DISTINCT) == Ok(true) => [one, one],
        [first, second, ..] => [first, second],
        _ => return,
    };
    let mut rows = Vec::new();
    for (number, moved) in by_port.iter().enumerate() {
        let directions = [([first, second], [0, 1], moved.forward), ([second, first], [1, 0], moved.reverse)];
        for ([from, to], ends, bytes) in directions.into_iter().filter(|(.., bytes)| *bytes > 0) {
            let [sender, receiver] = ends.map(|end| path_end(case, end, number));
            let (from, to) = (from.clone(), to.clone());
            rows.push(Moved { from, to, bytes, buffered: moved.buffered, sender, receiver });
        }
    }
    MovedRows(rows).put(&mut measures.evidence);
}

/// What counts the bytes of a port of an end: the port itself, or of what software plays the interface under it.
fn path_end(case: &Case, end: usize, number: usize) -> Option<PathEnd> {
    let of = |chosen: &str| Some(case.planned.text(chosen).ok()?.split(PLUS).nth(number)?.to_owned());
    of(INTERFACES[end]).map(PathEnd::Interface).or_else(|| of(PORTS[end]).map(PathEnd::Port))
}

#[cfg(test)]
mod tests {
    use super::*;
    use seatrial_model::{Params, Subject};
    use serde_json::{Value, json};

    fn told(nodes: &[&str], chosen: &[(&str, &str)], distinct: Option<bool>) -> Option<Value> {
        let about = &crate::toy::ABOUT;
        let params: Params = about.defaults();
        let budget = crate::budget(&params).expect("a budget");
        let mut case = Case::new(about, nodes[0], Subject::device("hca", "a/1"), &params, budget);
        case.nodes = nodes.iter().map(|name| (*name).to_owned()).collect();
        chosen.iter().for_each(|(name, value)| case.planned.set(name, *value));
        if let Some(distinct) = distinct {
            case.planned.set(DISTINCT, seatrial_model::Value::Flag(distinct));
        }
        let by_port =
            [(5, 0), (7, 3)].map(|(forward, reverse)| Transferred { forward, reverse, buffered: 1 });
        let mut measures = Measures::default();
        tell(&by_port, &case, &mut measures);
        measures.evidence.get("moved").cloned()
    }

    #[test]
    fn each_port_has_a_row_of_its_own_and_software_one_of_its_interface() {
        let chosen = [("port", "a/1+b/1"), ("peer_port", "rxe0/1+rxe1/1"), ("peer_interface", "eth0+eth1")];
        let wanted = json!([
            { "from": "n1", "to": "n2", "bytes": 5, "buffered": 1,
              "sender": { "port": "a/1" }, "receiver": { "interface": "eth0" } },
            { "from": "n1", "to": "n2", "bytes": 7, "buffered": 1,
              "sender": { "port": "b/1" }, "receiver": { "interface": "eth1" } },
            { "from": "n2", "to": "n1", "bytes": 3, "buffered": 1,
              "sender": { "interface": "eth1" }, "receiver": { "port": "b/1" } },
        ]);
        assert_eq!(told(&["n1", "n2"], &chosen, None), Some(wanted));
    }

    #[test]
    fn on_one_node_only_cards_of_their_own_have_a_path_between_them() {
        let chosen = [("port", "a/1+b/1"), ("peer_port", "c/1+d/1")];
        let rows = told(&["n1"], &chosen, Some(true)).expect("rows");
        let wanted = json!({ "from": "n1", "to": "n1", "bytes": 3, "buffered": 1,
                             "sender": { "port": "d/1" }, "receiver": { "port": "b/1" } });
        assert_eq!(rows[2], wanted);
        assert_eq!(told(&["n1"], &chosen, Some(false)), None);
        assert_eq!(told(&["n1"], &chosen, None), None);
    }
}
