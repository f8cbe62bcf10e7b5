//! `one-kernel`: nodes on one kernel, so that their numbers are not those of separate machines.

use std::collections::BTreeMap;

use seatrial_model::profile::fold;
use seatrial_model::{Finding, Severity, Site, SiteNode, Subject};

const KIND: &str = "one-kernel";

pub(super) fn find(site: &Site) -> Vec<Finding> {
    let mut by_boot: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for node in &site.nodes {
        if let Some(boot) = node.machine.boot_id.known() {
            by_boot.entry(boot).or_default().push(&node.name);
        }
    }
    let mut shared: Vec<String> =
        by_boot.into_values().filter(|nodes| nodes.len() > 1).map(|nodes| fold(&nodes)).collect();
    shared.sort_unstable();
    let finding = |nodes: String| {
        let text = format!(
            "{nodes} run on one kernel (same boot id): Seatrial measures them one after the other unless \
             --share-hosts is given; shared disks and memory are still measured once per node"
        );
        Finding::new(KIND, Severity::Info, Subject::node(), text)
    };
    shared.into_iter().map(finding).collect()
}

/// Whether `node` runs on the kernel of another node of `site`.
pub(super) fn is_shared(site: &Site, node: &str) -> bool {
    let boot = |node: &SiteNode| node.machine.boot_id.known().cloned();
    let own = site.node(node).and_then(boot);
    own.is_some() && site.nodes.iter().any(|other| other.name != node && boot(other) == own)
}

#[cfg(test)]
mod tests {
    use super::*;
    use seatrial_model::machine::{Known, Machine};

    #[test]
    fn nodes_of_one_boot_are_told_and_silent_ones_are_not() {
        let node = |name: &str, boot_id| SiteNode::new(name, Machine { boot_id, ..Machine::default() });
        let known = |boot: &str| Known::Known(boot.to_owned());
        let site = Site {
            nodes: vec![
                node("n1", known("a")),
                node("n2", known("b")),
                node("n3", known("a")),
                node("n4", Known::unknown("denied")),
                node("n5", Known::unknown("denied")),
            ],
        };
        let found = find(&site);
        let [finding] = found.as_slice() else { panic!("{found:?}") };
        assert_eq!(["n1", "n2", "n3", "n4"].map(|node| is_shared(&site, node)), [true, false, true, false]);
        assert!(finding.text.starts_with("n[1,3] run on one kernel"), "{}", finding.text);
        assert!(find(&Site { nodes: site.nodes[1..].to_vec() }).is_empty());
    }
}
