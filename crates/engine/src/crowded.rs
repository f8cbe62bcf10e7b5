//! Nodes that would create their files on one shared file system at the same time, where there is not enough space
//! for all.
//!
//! Each node queries the free space alone, and each finds enough.

use std::collections::BTreeMap;

use seatrial_bench::space::lacking;
use seatrial_model::{Case, Cause, Reason, Value};

/// The file system, the test and its parameters: cases with the same key run side by side.
type Key = (String, String, String);

pub fn crowded(cases: Vec<Case>) -> (Vec<Case>, Vec<(Case, Reason)>) {
    let mut wanted: BTreeMap<Key, (u64, u64)> = BTreeMap::new();
    for case in &cases {
        if let (Some(key), Some(bytes)) = (key(case), bytes(case)) {
            let (sum, nodes) = wanted.entry(key).or_default();
            (*sum, *nodes) = (sum.saturating_add(bytes), *nodes + 1);
        }
    }
    let why = |case: &Case| {
        let key = key(case)?;
        let (sum, nodes) = wanted.get(&key).filter(|(_, nodes)| *nodes > 1)?;
        let fact = |name: &str| case.facts.bytes(name).ok().flatten().map(seatrial_model::Bytes::get);
        let lacking = lacking(*sum, fact("available")?, fact("size").unwrap_or(0), &key.0)?;
        Some(Reason::new(
            Cause::NoSpace,
            format!("{nodes} nodes use the file system at the same time: {lacking}, or name fewer nodes"),
        ))
    };
    let (mut kept, mut left_out) = (Vec::new(), Vec::new());
    for case in cases {
        match why(&case) {
            Some(reason) => left_out.push((case, reason)),
            None => kept.push(case),
        }
    }
    (kept, left_out)
}

fn key(case: &Case) -> Option<Key> {
    let is_shared = case.facts.get("network") == Some(&Value::Flag(true));
    let source = case.facts.text("source").ok().filter(|_| is_shared)?;
    Some((source.to_owned(), case.group.clone(), case.params.to_string()))
}

fn bytes(case: &Case) -> Option<u64> {
    let of =
        |params: &seatrial_model::Params| params.bytes("size").ok().flatten().map(seatrial_model::Bytes::get);
    of(&case.planned).or_else(|| of(&case.params))
}

#[cfg(test)]
mod tests {
    use seatrial_model::{Budget, Bytes, Params, Subject};

    use super::*;

    fn case(node: &str, source: &str, size: u64) -> Case {
        let about = seatrial_registry::REGISTRY.find("storage.file").expect("shipped").about;
        let budget = Budget::NOTHING;
        let mut case = Case::new(about, node, Subject::device("fs", "/home"), &Params::default(), budget);
        case.facts.set("source", source);
        case.facts.set("network", Value::Flag(source.contains(':')));
        case.facts.set("available", Bytes(19 << 30));
        case.facts.set("size", Bytes(100 << 30));
        case.planned.set("size", Bytes(size));
        case
    }

    #[test]
    fn what_fits_for_each_node_and_not_for_all_is_left_out_with_the_sum() {
        let nodes = ["n1", "n2", "n3", "n4"];
        let (kept, left_out) = crowded(nodes.map(|node| case(node, "nas:/home", 4 << 30)).into());
        assert!(kept.is_empty());
        assert_eq!(left_out.len(), 4);
        assert!(
            left_out[0].1.text.starts_with(
                "4 nodes use the file system at the same time: the files take 16 GiB; nas:/home has 19 GiB free"
            ),
            "{}",
            left_out[0].1.text
        );
        // 4 GiB stay free, so that three of 4 GiB fit.
        assert_eq!(
            crowded(nodes[..3].iter().map(|node| case(node, "nas:/home", 4 << 30)).collect()).0.len(),
            3
        );
        // Disks of one name are not one disk.
        assert_eq!(crowded(nodes.map(|node| case(node, "/dev/sda1", 4 << 30)).into()).0.len(), 4);
    }
}
