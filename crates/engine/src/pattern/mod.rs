//! Patterns: which nodes a case is measured on, and which cases at the same time.

mod at_once;
mod division;
mod partner;
mod turns;

#[cfg(test)]
mod tests;

pub use division::Division;

#[derive(Clone, Copy, Debug)]
pub struct Pattern {
    pub id: &'static str,
    pub doc: &'static str,
    /// Whether its cases share links on purpose: all cases of a step run at the same time.
    pub at_once: bool,
    /// Whether a case of it may have more than two nodes.
    pub has_groups: bool,
    pub has_rounds: bool,
    /// Whether its pairs are to tell which node is slow: pairs of one direction are then measured in the other, too.
    pub tells_nodes: bool,
    steps: fn(&Ends<'_>) -> Vec<Step>,
}

/// Every pattern; the first is the default.
pub const PATTERNS: &[Pattern] = &[
    Pattern {
        id: "pair",
        doc: "Every node with its neighbour: the first with the second, the third with the fourth.",
        steps: turns::pair,
        ..TURNS
    },
    Pattern {
        id: ALONE,
        doc: "Every node with itself, over its loopback: what its software does without a wire.",
        steps: turns::alone,
        ..TURNS
    },
    Pattern {
        id: "ring",
        doc: "Every node with the next one, and the last with the first.",
        steps: turns::ring,
        ..TURNS
    },
    Pattern {
        id: "all-pairs",
        doc: "Every node with every other, in rounds in which no node is in two pairs; in both directions, if data goes one way.",
        steps: turns::all_pairs,
        tells_nodes: true,
        ..TURNS
    },
    Pattern {
        id: "matchings",
        doc: "A few rounds of random pairs (--rounds, 3 if not given), in both directions, if data goes one way; then nodes \
              that were slow, each with two partners that were good.",
        has_rounds: true,
        tells_nodes: true,
        steps: turns::matchings,
        ..TURNS
    },
    Pattern {
        id: "bisection",
        doc: "The first half of the nodes with the second half, all pairs at the same time.",
        steps: at_once::bisection,
        ..AT_ONCE
    },
    Pattern {
        id: "incast",
        doc: "All other nodes with the first one, at the same time.",
        steps: at_once::incast,
        ..AT_ONCE
    },
    Pattern {
        id: "one-to-many",
        doc: "The first node with all others, at the same time.",
        steps: at_once::one_to_many,
        ..AT_ONCE
    },
    Pattern {
        id: "trunk",
        doc: "One pair between two halves of the nodes, then two at the same time, and so on up to all of them.",
        steps: at_once::trunk,
        ..AT_ONCE
    },
    Pattern {
        id: ALL,
        doc: "All nodes in one case, for benchmarks that can have a part on each node.",
        ..ALL_NODES
    },
    Pattern {
        id: BISECT,
        doc: "All nodes in one case; then, if it misses a bound of the profile or none is stated, groups of half of the \
              nodes and smaller ones, until the node or the boundary that holds all back is found.",
        ..ALL_NODES
    },
    Pattern {
        id: GROUPS,
        doc: "Disjoint groups of nodes (--groups) at the same time, for benchmarks that can have a part on each node.",
        has_groups: true,
        steps: |ends| one_step(ends.division.groups(ends.players)),
        ..AT_ONCE
    },
];

/// All nodes in one case.
const ALL_NODES: Pattern =
    Pattern { has_groups: true, steps: |ends| one_step(vec![ends.players.to_vec()]), ..TURNS };

/// Pairs without a common node run side by side, the others one after the other.
const TURNS: Pattern = Pattern {
    id: "",
    doc: "",
    at_once: false,
    has_groups: false,
    has_rounds: false,
    tells_nodes: false,
    steps: |_| Vec::new(),
};

/// All pairs of a step run at the same time, also pairs with a common node.
const AT_ONCE: Pattern = Pattern { at_once: true, ..TURNS };

/// The pattern of nodes that are measured with themselves.
pub const ALONE: &str = "alone";

/// The pattern of one case over all nodes and of the rule [`Bisect`](crate::Bisect).
pub const BISECT: &str = "isolate";
/// The default of benchmarks of all nodes, and of two parts or more.
pub const ALL: &str = "all";

/// The pattern that the option `--groups` implies.
pub const GROUPS: &str = "groups";

const ROUNDS: usize = 3;

/// The nodes to pair, by position in the list of all nodes.
#[derive(Clone, Copy, Debug)]
pub struct Ends<'a> {
    pub players: &'a [usize],
    /// The nodes on the other side, if given.
    pub partners: Option<Partners<'a>>,
    pub rounds: Option<u32>,
    pub division: Division<'a>,
}

#[derive(Clone, Copy, Debug)]
pub enum Partners<'a> {
    /// Any of these nodes of the run.
    Any(&'a [usize]),
    Role(&'a [usize]),
}

/// Cases that belong together.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Step {
    /// Number of the step in the pattern; for `trunk` the number of pairs.
    pub number: u64,
    /// The nodes of each case by position, each once; the first node runs the first part.
    pub groups: Vec<Vec<usize>>,
}

impl Step {
    /// Adds each pair in the other direction, after its round.
    pub fn both_ways(&mut self) {
        let mut turned: Vec<Vec<usize>> = Vec::new();
        let mut all: Vec<Vec<usize>> = Vec::new();
        for group in std::mem::take(&mut self.groups) {
            // A node comes again: the next round begins.
            if all.iter().rev().take(turned.len()).any(|one| one.iter().any(|node| group.contains(node))) {
                all.append(&mut turned);
            }
            turned.push(group.iter().rev().copied().collect());
            all.push(group);
        }
        all.append(&mut turned);
        self.groups = all;
    }
}

impl Pattern {
    pub fn find(id: &str) -> Option<&'static Self> {
        PATTERNS.iter().find(|pattern| pattern.id == id)
    }

    /// The cases of `ends`, ordered so that neighbours in the list share few nodes and as many as possible run side
    /// by side. A single player has no partner: only `alone` pairs it with itself.
    pub fn steps(&self, ends: &Ends<'_>) -> Vec<Step> {
        let is_of_pairs = !self.is_alone() && !self.has_groups;
        if matches!(ends.players, [_]) && ends.others().is_empty() && is_of_pairs {
            return Vec::new();
        }
        let mut steps = (self.steps)(ends);
        for step in &mut steps {
            step.groups.retain(|group| !group.is_empty());
        }
        steps.retain(|step| !step.groups.is_empty());
        steps
    }

    pub fn is_alone(&self) -> bool {
        self.id == ALONE
    }
}

impl Ends<'_> {
    /// The nodes of the given role; `None` when any node will do.
    fn role(&self) -> Option<&[usize]> {
        match self.partners {
            Some(Partners::Role(role)) => Some(role),
            Some(Partners::Any(_)) | None => None,
        }
    }

    /// All nodes but the only player.
    fn others(&self) -> Vec<usize> {
        let all = match self.partners {
            None => self.players,
            Some(Partners::Any(all) | Partners::Role(all)) => all,
        };
        all.iter().copied().filter(|node| !matches!(self.players, [only] if only == node)).collect()
    }

    /// Two groups that face each other: the players and the nodes of a role that are no players, or the halves of the
    /// players. Of an odd number of players the last is in neither half.
    fn groups(&self) -> (Vec<usize>, Vec<usize>) {
        match self.role() {
            Some(role) => {
                let second = role.iter().copied().filter(|node| !self.players.contains(node)).collect();
                (self.players.to_vec(), second)
            }
            None => {
                let half = self.players.len() / 2;
                (self.players[..half].to_vec(), self.players[half..2 * half].to_vec())
            }
        }
    }
}

fn one(pairs: Vec<(usize, usize)>) -> Vec<Step> {
    one_step(groups(&pairs))
}

fn one_step(groups: Vec<Vec<usize>>) -> Vec<Step> {
    vec![Step { number: 1, groups }]
}

/// A node that is paired with itself is a group of one.
fn groups(pairs: &[(usize, usize)]) -> Vec<Vec<usize>> {
    let group = |(one, other): &(usize, usize)| if one == other { vec![*one] } else { vec![*one, *other] };
    pairs.iter().map(group).collect()
}
