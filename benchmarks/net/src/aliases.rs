//! Names for benchmarks of networks under a pattern.

use seatrial_model::Alias;

/// Valid wherever a benchmark is named: on the command line and in `use` of a profile.
pub const ALIASES: &[Alias] = &[
    Alias {
        id: "net.pairs",
        bench: "net.tcp_stream",
        pattern: Some("all-pairs"),
        params: &[],
        title: "TCP throughput of every pair of nodes, as a matrix",
        doc: "Measures `net.tcp_stream` between every node and every other, in rounds in which no node is in \
              two pairs. The result is a matrix, in which a slow node is a slow row and column, and a slow \
              link a slow cell: findings name both.",
    },
    Alias {
        id: "net.trunk",
        bench: "net.tcp_stream",
        pattern: Some("trunk"),
        params: &[],
        title: "TCP throughput of the links between two groups of nodes",
        doc: "Measures `net.tcp_stream` from the first half of the nodes to the second, with one pair, then \
              two at the same time, and so on. The result is a table with a row per number of flows: their \
              total, how many links that is worth, and how many flows had a link for themselves or shared \
              one. Findings name flows that are hashed onto the same link while others are idle, and with \
              `--links` (`links` in a profile) also a link that carries nothing.",
    },
];
