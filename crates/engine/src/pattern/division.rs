//! Divides nodes into disjoint groups.

/// How the pattern `groups` divides the nodes.
#[derive(Clone, Copy, Debug)]
pub enum Division<'a> {
    /// Into so many groups of neighbours, whose sizes differ by one at most.
    Count(usize),
    /// By the class of each node, given for all positions; a node without a class is in no group.
    Classes(&'a [Option<String>]),
}

impl Division<'_> {
    /// The groups of `players`, in the order of their first nodes.
    pub fn groups(self, players: &[usize]) -> Vec<Vec<usize>> {
        match self {
            Self::Count(count) => {
                let edge = |group: usize| players.len() * group / count.max(1);
                (0..count).map(|group| players[edge(group)..edge(group + 1)].to_vec()).collect()
            }
            Self::Classes(classes) => {
                let mut groups: Vec<(&str, Vec<usize>)> = Vec::new();
                for player in players {
                    let Some(class) = classes.get(*player).and_then(Option::as_deref) else { continue };
                    match groups.iter_mut().find(|(known, _)| *known == class) {
                        Some((_, group)) => group.push(*player),
                        None => groups.push((class, vec![*player])),
                    }
                }
                groups.into_iter().map(|(_, group)| group).collect()
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_node_is_in_one_of_as_many_groups_as_asked_for_and_neighbours_stay_together() {
        let nodes: Vec<usize> = (10..20).collect();
        let groups = Division::Count(3).groups(&nodes);
        assert_eq!(groups, [vec![10, 11, 12], vec![13, 14, 15], vec![16, 17, 18, 19]]);
        assert_eq!(Division::Count(1).groups(&nodes), [nodes]);
    }

    #[test]
    fn nodes_of_one_class_are_a_group_and_those_without_a_class_are_in_none() {
        let classes =
            ["a", "b", "", "a", "b", "b"].map(|class| Some(class.to_owned()).filter(|it| !it.is_empty()));
        let groups = Division::Classes(&classes).groups(&[0, 1, 2, 3, 5]);
        assert_eq!(groups, [vec![0, 3], vec![1, 5]]);
    }
}
