//! The ports of the nodes of a case: chosen by the plan, noted in the case, and read by the parts.

use std::collections::BTreeSet;

use seatrial_bench::verbs::params::DEVICE;
use seatrial_bench::verbs::{End, PLUS, PORT, joined, partner, wanted};
use seatrial_model::{Cause, Params, Reason, Site};

/// Stands between the lists of the nodes, where not all have the same.
const COMMA: char = ',';

/// The ports of each node, the same number on each, for each case: one over each active port of the first node, or one over
/// the ports that are asked for.
///
/// # Errors
/// When a port is not there, or a node has none that goes with one of the first node.
pub fn choose<'a>(params: &Params, site: &'a Site) -> Result<Vec<Vec<Vec<End<'a>>>>, Reason> {
    let first = site.nodes.first();
    let first = first.ok_or_else(|| Reason::new(Cause::Inapplicable, "there is no node to measure on"))?;
    let asked = params.text(DEVICE.name).unwrap_or("auto");
    let own = if asked.contains(PLUS) {
        let one = |word: &str| match word.trim() {
            "" | "auto" => {
                let text = format!("device={asked} is not a list of ports, such as mlx5_0/1+mlx5_1/1");
                Err(Reason::new(Cause::Contradiction, text))
            }
            word => Ok(wanted(first, word, DEVICE.name)?[0]),
        };
        vec![asked.split(PLUS).map(one).collect::<Result<Vec<End<'a>>, Reason>>()?]
    } else {
        wanted(first, asked, DEVICE.name)?.into_iter().map(|port| vec![port]).collect()
    };
    own.into_iter().map(|own| on_all(&own, params, site)).collect()
}

/// These ports of the first node, and those that go with them on each other node.
fn on_all<'a>(own: &[End<'a>], params: &Params, site: &'a Site) -> Result<Vec<Vec<End<'a>>>, Reason> {
    let mut all = vec![own.to_vec()];
    for node in &site.nodes[1..] {
        all.push(own.iter().map(|port| partner(*port, node, params)).collect::<Result<_, _>>()?);
    }
    for ports in &all {
        let labels: BTreeSet<String> = ports.iter().map(End::label).collect();
        if labels.len() < ports.len() {
            let (node, labels) = (&ports[0].node.name, list(ports));
            let text =
                format!("{node} would use a port twice: {labels}; name as many ports as all nodes have");
            return Err(Reason::new(Cause::Contradiction, text));
        }
    }
    Ok(all)
}

/// `mlx5_0/1+mlx5_1/1`.
pub fn list(ports: &[End<'_>]) -> String {
    joined(ports.iter().map(End::label))
}

/// Notes the ports of each node: one list where all nodes have the same, else one for each.
pub fn note(planned: &mut Params, nodes: &[Vec<End<'_>>]) {
    let mut lists: Vec<String> = nodes.iter().map(|ports| list(ports)).collect();
    if lists.iter().all(|own| *own == lists[0]) {
        lists.truncate(1);
    }
    planned.set(PORT, lists.join(&COMMA.to_string()).as_str());
}

/// The list of the ports of the node in this place.
pub fn of_node(planned: &Params, node: usize) -> Option<&str> {
    let mut lists = planned.text(PORT).ok()?.split(COMMA);
    let first = lists.next()?;
    if node == 0 { Some(first) } else { Some(lists.nth(node - 1).unwrap_or(first)) }
}

/// The port of a part: the parts of a node take its ports in turn.
pub fn of_part(planned: &Params, part: u32, per_node: u32) -> Option<&str> {
    let list = of_node(planned, (part / per_node) as usize)?;
    let count = list.split(PLUS).count();
    list.split(PLUS).nth((part % per_node) as usize % count)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_take_the_ports_of_their_node_in_turn_and_nodes_that_are_alike_are_told_once() {
        let of = |port: &str, part: u32, per_node: u32| {
            let planned = Params::from([(PORT, port.into())]);
            of_part(&planned, part, per_node).map(str::to_owned)
        };
        let told = |port: &str, per_node: u32| -> Vec<String> {
            (0..4).map(|part| of(port, part, per_node).expect("a port")).collect()
        };
        assert_eq!(told("a/1", 1), ["a/1"; 4]);
        assert_eq!(told("a/1+b/1", 2), ["a/1", "b/1", "a/1", "b/1"]);
        assert_eq!(told("a/1+b/1", 4), ["a/1", "b/1", "a/1", "b/1"]);
        assert_eq!(told("a/1,b/1,c/1,d/1", 1), ["a/1", "b/1", "c/1", "d/1"]);
        assert_eq!(told("a/1+b/1,c/1+d/1", 2), ["a/1", "b/1", "c/1", "d/1"]);
    }
}
