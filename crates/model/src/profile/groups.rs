//! How the pattern `groups` divides the nodes.

use std::fmt;
use std::str::FromStr;

use super::{NodeSet, NodeSetError};

/// The division of nodes into disjoint groups: `4`, `product`, or `n[1-16]+n[17-32]`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Groups {
    /// So many groups of neighbours in the node list.
    Count(u32),
    /// The nodes that have the same value of this fact.
    Fact(String),
    /// The nodes of each set, such as those of a rack or a leaf switch.
    Sets(Vec<NodeSet>),
}

/// Why a text is no division of nodes, as a fragment.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum GroupsError {
    /// No group.
    #[error("0 groups are nothing to measure")]
    Zero,
    /// Not a count, a fact or node sets.
    #[error("'{text}' is not a number of groups, one of {}, or node sets joined by +", Groups::FACTS.join(", "))]
    Unknown {
        /// The text as typed.
        text: String,
    },
    /// A group has whole nodes.
    #[error(
        "a rail is a port of every node, and a group has whole nodes: -p rails= of net.tcp_stream, or a list of ports as \
         -p device= of an rdma benchmark, measures all rails at once"
    )]
    Rail,
    /// A node set that cannot be read.
    #[error(transparent)]
    Set(#[from] NodeSetError),
    /// Groups are disjoint.
    #[error("{node} is in two groups")]
    Twice {
        /// The node that is named twice.
        node: String,
    },
}

impl Groups {
    /// The facts of a node that groups can be made by.
    pub const FACTS: [&str; 4] = ["product", "cpu", "switch", RACK];
}

/// The fact that is in the names of nodes.
pub const RACK: &str = "rack";

/// The rack in the name of a node: all up to its first number, if another number follows: `r12` of `r12n03`, `x1000` of
/// `x1000c0s0b0n0`.
pub fn rack(node: &str) -> Option<&str> {
    let start = node.find(|c: char| c.is_ascii_digit())?;
    let end = start + node[start..].find(|c: char| !c.is_ascii_digit())?;
    // Digits of a domain say nothing about the host.
    let rest = node[end..].split('.').next()?;
    rest.contains(|c: char| c.is_ascii_digit()).then_some(&node[..end])
}

impl fmt::Display for Groups {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Count(count) => write!(f, "{count}"),
            Self::Fact(fact) => f.pad(fact),
            Self::Sets(sets) => f.pad(&sets.iter().map(NodeSet::to_string).collect::<Vec<_>>().join("+")),
        }
    }
}

impl FromStr for Groups {
    type Err = GroupsError;

    fn from_str(text: &str) -> Result<Self, GroupsError> {
        if let Ok(count) = text.parse() {
            return if count == 0 { Err(GroupsError::Zero) } else { Ok(Self::Count(count)) };
        }
        if Self::FACTS.contains(&text) {
            return Ok(Self::Fact(text.to_owned()));
        }
        if text == "rail" {
            return Err(GroupsError::Rail);
        }
        if !text.contains('+') {
            return Err(GroupsError::Unknown { text: text.to_owned() });
        }
        let sets = text.split('+').map(str::parse).collect::<Result<Vec<NodeSet>, _>>()?;
        let mut seen = std::collections::HashSet::new();
        if let Some(twice) = sets.iter().flat_map(NodeSet::names).find(|name| !seen.insert(*name)) {
            return Err(GroupsError::Twice { node: twice.to_owned() });
        }
        Ok(Self::Sets(sets))
    }
}

crate::text_serde!(Groups, "A number of groups, a fact of the nodes, or node sets joined by +.");

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_division_comes_back_from_its_text() {
        for text in ["4", "product", "cpu", "switch", "rack", "n[1-16]+n[17-32]", "n1,n2+n3,n4"] {
            assert_eq!(text.parse::<Groups>().expect(text).to_string(), text);
        }
    }

    #[test]
    fn what_is_no_division_is_told_why() {
        let why = |text: &str| text.parse::<Groups>().expect_err(text).to_string();
        assert_eq!(why("0"), "0 groups are nothing to measure");
        let known =
            "'row' is not a number of groups, one of product, cpu, switch, rack, or node sets joined by +";
        assert_eq!(why("row"), known);
        assert!(why("rail").ends_with("measures all rails at once"));
        assert_eq!(why("n[1-4]+n[4-6]"), "n4 is in two groups");
        assert_eq!(why("n[1-+n2"), "'n[1-' has an unbalanced bracket");
    }

    #[test]
    fn the_rack_is_the_name_up_to_its_first_number_where_another_follows() {
        for (node, wanted) in [
            ("r12n03", Some("r12")),
            ("x1000c0s0b0n0", Some("x1000")),
            ("rack1-node2.cluster2.local", Some("rack1")),
            ("n16", None),
            ("n16.rack2", None),
            ("head", None),
        ] {
            assert_eq!(rack(node), wanted, "{node}");
        }
    }
}
