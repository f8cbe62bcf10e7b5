//! Alike boxes of a map in one.

use super::MapBox;
use crate::inventory::{FEWEST_FOLDED, name};

/// Alike boxes without results in one: a server has two dozen of the same disk.
pub fn folded(boxes: Vec<MapBox>) -> Vec<MapBox> {
    let mut kinds: Vec<(MapBox, Vec<MapBox>)> = Vec::new();
    for drawn in boxes {
        let kind = MapBox { name: String::new(), ..drawn.clone() };
        let is_alike = drawn.inside.is_empty() && drawn.all_results().next().is_none();
        match kinds.iter_mut().find(|(known, _)| is_alike && *known == kind) {
            Some((_, alike)) => alike.push(drawn),
            None => kinds.push((kind, vec![drawn])),
        }
    }
    let fold = |(kind, alike): (MapBox, Vec<MapBox>)| {
        if alike.len() < FEWEST_FOLDED {
            return alike;
        }
        let names: Vec<String> = alike.into_iter().map(|drawn| drawn.name).collect();
        vec![MapBox { name: name(&names), ..kind }]
    };
    kinds.into_iter().flat_map(fold).collect()
}
