//! Which node plays which role.

use std::collections::{BTreeMap, BTreeSet};

use seatrial_model::profile::{NodeSet, Profile};

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Assignment {
    nodes: Vec<String>,
    known: BTreeSet<String>,
    /// Nodes by role; holds every role of the profile.
    players: BTreeMap<String, BTreeSet<String>>,
}

impl Assignment {
    /// The roles of `profile` on `nodes`; roles `given` on the command line override the profile. A single machine
    /// without a given role plays every role.
    pub fn new(profile: &Profile, nodes: &[String], given: &BTreeMap<String, NodeSet>) -> Self {
        let set = |name: &str| given.get(name).or_else(|| profile.roles.get(name).map(|role| &role.nodes));
        let known: BTreeSet<String> = nodes.iter().cloned().collect();
        let players_of = |name: &str| -> BTreeSet<String> {
            let named = set(name).into_iter().flat_map(NodeSet::names);
            named.filter(|node| known.contains(*node)).map(str::to_owned).collect()
        };
        let mut players: BTreeMap<String, BTreeSet<String>> =
            profile.roles.keys().map(|name| (name.clone(), players_of(name))).collect();
        if nodes.len() == 1 && players.values().all(BTreeSet::is_empty) {
            players.values_mut().for_each(|players| players.extend(nodes.iter().cloned()));
        }
        Self { nodes: nodes.to_vec(), known, players }
    }

    /// The nodes that play one of `roles`, in the order of the run; all nodes when `roles` is empty.
    pub fn players<'a>(&'a self, roles: &'a [String]) -> impl Iterator<Item = &'a str> {
        self.nodes.iter().map(String::as_str).filter(|node| self.plays(node, roles))
    }

    pub fn roles_of(&self, node: &str) -> Vec<String> {
        let plays =
            |(role, players): (&String, &BTreeSet<String>)| players.contains(node).then(|| role.clone());
        self.players.iter().filter_map(plays).collect()
    }

    /// Whether `node` is in the run and plays one of `roles`, or `roles` is empty.
    pub fn plays(&self, node: &str, roles: &[String]) -> bool {
        let has = |role: &String| self.players.get(role).is_some_and(|players| players.contains(node));
        self.known.contains(node) && (roles.is_empty() || roles.iter().any(has))
    }
}

#[cfg(test)]
mod tests {
    use seatrial_model::profile::Role;

    use super::*;

    fn profile() -> Profile {
        let role = |nodes: &str| Role { nodes: nodes.parse().unwrap(), expect: None };
        let roles = [("head", "n1"), ("production", "n[2-3]"), ("spare", "")];
        Profile {
            roles: roles.into_iter().map(|(name, nodes)| (name.to_owned(), role(nodes))).collect(),
            ..Profile::default()
        }
    }

    fn players(assignment: &Assignment, role: &str) -> Vec<String> {
        let roles: Vec<String> = role.split_whitespace().map(str::to_owned).collect();
        assignment.players(&roles).map(str::to_owned).collect()
    }

    fn names(text: &str) -> Vec<String> {
        text.split_whitespace().map(str::to_owned).collect()
    }

    #[test]
    fn the_profile_names_the_players() {
        let assignment = Assignment::new(&profile(), &names("n1 n2 n3 n4"), &BTreeMap::new());
        assert_eq!(players(&assignment, "head"), ["n1"]);
        assert_eq!(players(&assignment, "production"), ["n2", "n3"]);
        assert_eq!(players(&assignment, "head production"), ["n1", "n2", "n3"]);
        assert_eq!(players(&assignment, ""), ["n1", "n2", "n3", "n4"]);
        assert!(players(&assignment, "spare").is_empty());
    }

    #[test]
    fn the_command_line_comes_first() {
        let given = [("head".to_owned(), "n4".parse().unwrap())].into_iter().collect();
        let assignment = Assignment::new(&profile(), &names("n1 n2 n3 n4"), &given);
        assert_eq!(players(&assignment, "head"), ["n4"]);
    }

    #[test]
    fn one_machine_that_nobody_named_plays_every_role() {
        let alone = Assignment::new(&profile(), &names("laptop"), &BTreeMap::new());
        for role in ["head", "production", "spare"] {
            assert_eq!(players(&alone, role), ["laptop"]);
        }
        let named = Assignment::new(&profile(), &names("n1"), &BTreeMap::new());
        assert_eq!((players(&named, "head"), players(&named, "production")), (names("n1"), vec![]));
        let two = Assignment::new(&profile(), &names("a b"), &BTreeMap::new());
        assert!(players(&two, "head").is_empty());
    }
}
