//! Which nodes are one machine.

use std::collections::{BTreeMap, HashMap};

use seatrial_cluster::{Hello, NodeIndex};
use seatrial_model::machine::Machine;
use seatrial_model::profile::fold;

/// The host of each node: the first node with the same boot id (one kernel), unless nodes of one kernel are measured side
/// by side (`share_hosts`). A node that does not report its boot id is its own host.
pub fn of<'a>(machines: impl Iterator<Item = &'a Machine>, share_hosts: bool) -> Vec<NodeIndex> {
    let mut first: HashMap<&str, NodeIndex> = HashMap::new();
    let host = |(at, machine): (usize, &'a Machine)| match machine.boot_id.known() {
        Some(boot) if !share_hosts => *first.entry(boot).or_insert(NodeIndex(at)),
        _ => NodeIndex(at),
    };
    machines.enumerate().map(host).collect()
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
    use seatrial_model::machine::Known;

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

    fn machines(agents: &[Hello]) -> impl Iterator<Item = &Machine> {
        agents.iter().map(|hello| &hello.machine)
    }

    #[test]
    fn nodes_of_one_boot_are_told_and_a_silent_one_is_a_machine_of_its_own() {
        let agents = agents(&[Some("a"), Some("b"), Some("a"), None, None]);
        let hosts = of(machines(&agents), false);
        assert_eq!(of(machines(&agents), true), [0, 1, 2, 3, 4].map(NodeIndex));
        assert_eq!(hosts, [0, 1, 0, 3, 4].map(NodeIndex));
        let words = words(&agents, &hosts).expect("two are one");
        assert!(words.starts_with("n[1,3] run on one kernel (same boot id)"), "{words}");
        assert!(words.contains("--share-hosts"), "{words}");
    }

    #[test]
    fn machines_of_their_own_are_not_spoken_of() {
        let agents = agents(&[Some("a"), Some("b"), None]);
        assert_eq!(words(&agents, &of(machines(&agents), false)), None);
    }
}
