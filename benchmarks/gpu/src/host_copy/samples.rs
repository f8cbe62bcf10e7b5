//! What copies leave in the record, and the patterns that are copied.

use super::cell::{Cell, Grid};
use crate::pattern::Pattern;
use seatrial_model::{Bytes, Nanos, Params, Quantity, Sample};
use serde_json::Value;

/// What goes to the device, what comes from it, what stands where nothing was copied.
pub const IN: Pattern = Pattern::of(11);

/// See [`IN`].
pub const OUT: Pattern = Pattern::of(12);

/// See [`IN`].
pub const NOTHING: Pattern = Pattern::of(13);

/// Of what was told of several blocks the one with the fewest pages where they were wanted, or one whose place nobody could
/// tell: an average would hide it behind the others.
pub fn least_right<'a>(places: impl IntoIterator<Item = &'a Value>) -> Value {
    // What was denied has no share, and stands before all.
    let share = |place: &&Value| place["right_percent"].as_f64().unwrap_or(-1.0);
    let least = places.into_iter().min_by(|one, other| share(one).total_cmp(&share(other)));
    least.cloned().unwrap_or_default()
}

/// For the record: the least that was told of a node's memory and, of several nodes, what was told of each.
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

/// The place of a slice's samples on the axes.
pub fn place(grid: &Grid, cell: Cell, slice: u64) -> Params {
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

/// One piece of a slice.
pub fn sample(at: &Params, lane: u64, span: (Nanos, Nanos), bytes: u64) -> Sample {
    let mut at = at.clone();
    at.set("lane", lane);
    Sample::new("copy", at, span, Quantity::bytes(bytes))
}
