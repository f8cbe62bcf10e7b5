//! The finding `slowest-node`: a node far below the others.

use std::collections::BTreeMap;

use seatrial_model::{Case, Finding, Severity, Subject};

use super::BY_NODE;

/// A node is slow below this share of the median of all.
const SLOW: f64 = 0.9;

/// Of two nodes nobody knows which one is slow.
const FEWEST_NODES: usize = 3;

/// The direction of a node's data.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Way {
    Send,
    Receive,
}

impl Way {
    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Send => "send",
            Self::Receive => "receive",
        }
    }
}

/// The Gbit/s of each node, by its position in the case and direction, of each trial.
pub(super) type ByNode = BTreeMap<(usize, Way), Vec<Vec<f64>>>;

/// The node with the lowest median rate in one direction, if that is far below the median of all nodes.
pub(super) fn slow_node(case: &Case, by_node: &ByNode) -> Option<Finding> {
    let median = |values: Vec<f64>| seatrial_stats::median(&values);
    let rates: Vec<(usize, Way, f64)> = by_node
        .iter()
        .filter_map(|((node, way), trials)| Some((*node, *way, median(trials.concat())?)))
        .collect();
    let (node, way, rate) = rates.iter().min_by(|(.., one), (.., other)| one.total_cmp(other))?;
    let usual = median(rates.iter().filter(|(_, own, _)| own == way).map(|(.., rate)| *rate).collect())?;
    if rates.len() < 2 * FEWEST_NODES || *rate >= SLOW * usual {
        return None;
    }
    let (node, way) = (&case.nodes[*node], way.word());
    let text = format!("{node} {way}s {rate:.3} Gbit/s, and half of the nodes {usual:.3} Gbit/s or more");
    let finding = Finding::new("slowest-node", Severity::Warning, Subject::node(), text);
    Some(Finding { node: Some(node.clone()), evidence: vec![BY_NODE.name.to_owned()], ..finding })
}
