//! Names for a benchmark under a pattern.

use seatrial_model::Alias;

/// Every such name. Valid wherever a benchmark is named: on the command line and in `use` of a profile.
pub const ALIASES: &[Alias] = &[
    Alias {
        id: "net.pairs",
        bench: "net.tcp_stream",
        pattern: "all-pairs",
        title: "TCP throughput of every pair of nodes, as a matrix",
        doc: "Measures `net.tcp_stream` between every node and every other, in rounds in which no node is in \
              two pairs. The result is a matrix, in which a slow node is a slow row and column, and a slow \
              link a slow cell: findings name both.",
    },
    Alias {
        id: "net.trunk",
        bench: "net.tcp_stream",
        pattern: "trunk",
        title: "TCP throughput of the links between two groups of nodes",
        doc: "Measures `net.tcp_stream` from the first half of the nodes to the second, with one pair, then \
              two at the same time, and so on. The result is a table with a row per number of flows: their \
              total, how many links that is worth, and how many flows had a link for themselves or shared \
              one. Findings name flows that are hashed onto the same link while others are idle, and with \
              `--links` (`links` in a profile) also a link that carries nothing.",
    },
];

pub fn alias(id: &str) -> Option<&'static Alias> {
    ALIASES.iter().find(|alias| alias.id == id)
}

#[cfg(test)]
mod tests {
    use seatrial_model::Parts;

    use super::*;
    use crate::Pattern;

    #[test]
    fn every_name_stands_for_a_benchmark_of_two_parts_under_a_pattern_and_is_no_benchmark_itself() {
        let registry = seatrial_registry::REGISTRY;
        for alias in ALIASES {
            let bench = registry.find(alias.bench).unwrap_or_else(|| panic!("{}", alias.id));
            assert!(matches!(bench.about.parts, Parts::Two(_) | Parts::OneWay(_)), "{}", alias.id);
            assert!(Pattern::find(alias.pattern).is_some(), "{}", alias.id);
            assert!(registry.find(alias.id).is_none());
            assert!(registry.planned.iter().all(|planned| planned.id != alias.id), "{}", alias.id);
            assert!(alias.doc.ends_with('.') && !alias.title.ends_with('.'), "{}", alias.id);
        }
    }
}
