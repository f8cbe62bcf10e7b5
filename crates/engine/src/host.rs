//! Which nodes are one machine.

use std::collections::{BTreeMap, HashMap};

use seatrial_cluster::{Hello, NodeIndex};
use seatrial_model::profile::fold;

/// The host of each node: the first node with the same boot id (one kernel). A node that does not report it is its
/// own host.
pub fn of(agents: &[Hello]) -> Vec<NodeIndex> {
    let mut first: HashMap<&str, NodeIndex> = HashMap::new();
    let mut hosts = Vec::with_capacity(agents.len());
    for (at, hello) in agents.iter().enumerate() {
        let boot = hello.machine.boot_id.known();
        hosts.push(boot.map_or(NodeIndex(at), |boot| *first.entry(boot).or_insert(NodeIndex(at))));
    }
    hosts
}

/// The message about nodes that share a machine; `None` when every node is a machine of its own.
pub fn words(agents: &[Hello], hosts: &[NodeIndex]) -> Option<String> {
    let mut shared: BTreeMap<NodeIndex, Vec<&str>> = BTreeMap::new();
    for (hello, host) in agents.iter().zip(hosts) {
        shared.entry(*host).or_default().push(&hello.node);
    }
    let groups: Vec<String> =
        shared.into_values().filter(|nodes| nodes.len() > 1).map(|nodes| fold(&nodes)).collect();
    if groups.is_empty() {
        return None;
    }
    Some(format!(
        "{} run on one kernel{} (same boot id): Seatrial measures them one after the other; \
         --share-hosts measures them at the same time",
        groups.join(" and "),
        if groups.len() > 1 { " each" } else { "" }
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use seatrial_cluster::PROTOCOL;
    use seatrial_model::machine::{Known, Machine};

    fn agents(boots: &[Option<&str>]) -> Vec<Hello> {
        let hello = |(at, boot): (usize, &Option<&str>)| {
            let boot_id = boot.map_or(Known::unknown("denied"), |boot| Known::Known(boot.to_owned()));
            Hello {
                protocol: PROTOCOL,
                build: "test".to_owned(),
                node: format!("n{}", at + 1),
                machine: Machine { boot_id, ..Machine::default() },
                settings: Vec::new(),
            }
        };
        boots.iter().enumerate().map(hello).collect()
    }

    #[test]
    fn nodes_of_one_boot_are_told_and_a_silent_one_is_a_machine_of_its_own() {
        let agents = agents(&[Some("a"), Some("b"), Some("a"), None, None]);
        let hosts = of(&agents);
        assert_eq!(hosts, [0, 1, 0, 3, 4].map(NodeIndex));
        let words = words(&agents, &hosts).expect("two are one");
        assert!(words.starts_with("n[1,3] run on one kernel (same boot id)"), "{words}");
        assert!(words.contains("--share-hosts"), "{words}");
    }

    #[test]
    fn machines_of_their_own_are_not_spoken_of() {
        let agents = agents(&[Some("a"), Some("b"), None]);
        assert_eq!(words(&agents, &of(&agents)), None);
    }
}
