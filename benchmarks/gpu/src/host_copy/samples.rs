//! Samples and evidence of copies, and the patterns that are copied.

use super::cell::{Cell, Grid};
use crate::pattern::Pattern;
use seatrial_model::{Bytes, Params};
use serde_json::Value;

pub const IN: Pattern = Pattern::of(11);

pub const OUT: Pattern = Pattern::of(12);

/// Pattern of a target before the first copy.
pub const NOTHING: Pattern = Pattern::of(13);

/// The worst placement of several blocks: the fewest pages on the wanted node, or a placement that could not be read.
/// An average would hide it.
pub fn least_right<'a>(places: impl IntoIterator<Item = &'a Value>) -> Value {
    // A placement that could not be read has no share, and comes first.
    let share = |place: &&Value| place["right_percent"].as_f64().unwrap_or(-1.0);
    let least = places.into_iter().min_by(|one, other| share(one).total_cmp(&share(other)));
    least.cloned().unwrap_or_default()
}

/// Evidence: the worst placement of all nodes and, with several nodes, that of each.
pub fn evidence_of_nodes(grid: &Grid, of_node: &[Value]) -> Value {
    let mut all = least_right(of_node);
    if grid.nodes.len() > 1 && all["right_percent"].is_f64() {
        let each = grid.nodes.iter().zip(of_node);
        let each: serde_json::Map<String, Value> = each
            .filter_map(|(node, place)| Some((node.as_ref()?.to_string(), place["right_percent"].clone())))
            .collect();
        all["right_percent_by_node"] = each.into();
    }
    all
}

pub fn coords(grid: &Grid, cell: Cell, slice: u64) -> Params {
    let mut at = Params::default();
    at.set("direction", cell.direction.name());
    at.set("size", Bytes(cell.size));
    if let Some(node) = grid.nodes[cell.memory] {
        at.set("memory_node", u64::from(node));
    }
    at.set("near", u64::from(cell.memory == 0));
    at.set("slice", slice);
    at
}
