//! The page of the causes, from the rules that findings are made with, beside what came of faults that were planted.

use std::fmt::Write;

use seatrial_analysis::{CauseRule, Sign};

use super::File;

const HEAD: &str = "\
<!-- Made by `cargo xtask generate` from the rules of crates/analysis/src/finding/cause/rules and from xtask/src/faults/trials.md. -->
# Diagnosis

Which node is at fault, and why. A finding that names a node (`slow-node`, `lossy-node`, `culprit`) begins with
the size of the loss and the cause, has the id of the cause in the field `cause`, and what to do about it. `known-cause` tells the cause of cases of one node that have
no number.

## Who

Pairs of nodes are measured in both directions by `--pattern matchings` and `all-pairs`, if the data of the benchmark goes one way. A
node is named for what it sends, for what it receives, or for both, if its rates are farther from those of all nodes than their
scatter and their intervals explain, or if it has no result with two partners or more that have results with others.
[architecture.md](architecture.md) has the numbers.

## Why

The first rule that holds for the families of benchmarks in question is the cause. A rule holds if one of its signs is seen on the side on which the node is slow, and
nothing that refutes it. A case without a number is explained by the reason in its record alone, not by signs of a slow node. Where the cause stays
open, the finding ends with the causes whose signs were all looked for and are not there. `uniformity` names a setting or a part
that is not as on the other nodes; if a rule below knows it, the finding has its cause, says what it can slow, and names in
`evidence` the cases whose flows it limits: their `limited-by-...` is then no warning of its own. If each pair of the node that the
cause can slow is slower than every other pair, and their median at least 10 % lower, the finding begins with the loss, and
`evidence` ends with the metric. A difference that no number shows stands last.

| cause | benchmarks | seen | refuted by | in words | who | what to do |
|---|---|---|---|---|---|---|
";

const TRIALS: &str = include_str!("../faults/trials.md");

/// The page of the causes.
pub fn page(rules: &[CauseRule]) -> File {
    let mut text = HEAD.to_owned();
    for rule in rules {
        let words = |signs: &[Sign]| signs.iter().map(Sign::words).collect::<Vec<_>>().join(", or ");
        let seen = match (rule.seen, rule.side_words()) {
            ([], _) => "none of the signs above".to_owned(),
            (signs, "") => words(signs),
            (signs, side) => format!("{}, and {side}", words(signs)),
        };
        let families = if rule.families.is_empty() { "all".to_owned() } else { rule.families.join(", ") };
        let cells = [
            &format!("`{}`", rule.id),
            &families,
            &seen,
            &words(rule.refuted_by),
            rule.cause,
            rule.actor.words(),
            rule.action,
        ];
        let cells: Vec<String> = cells.iter().map(|cell| cell.replace('|', "\\|")).collect();
        writeln!(text, "| {} |", cells.join(" | ")).expect("a String takes all");
    }
    text += "\n`{node}` is the node; `{seen}`, `{device}` and `{command}` are what the sign found; `{nodes}` are \
             the nodes of its first case, as `-w` takes them; `{route}` is `ip route get` with the address of the other node; `{mtu}` compares the MTU of its interface with \
             that of the others; `{tcp_rmem}` is the command that sets the receive buffers of its peers, or up to 32 MiB where theirs are no larger. \
             `INTERFACE`, `MOUNTPOINT`, `DISK`, `MEMBER`, `GROUP` and `ADDRESS` are filled in where the case or the inventory \
             of the node tells them.\n\n";
    text += TRIALS;
    File::new("docs/diagnosis.md", &text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_rule_is_a_row_with_all_its_cells() {
        let text = page(seatrial_analysis::CAUSES).text;
        for rule in seatrial_analysis::CAUSES {
            let start = format!("| `{}` |", rule.id);
            let row = text.lines().find(|line| line.starts_with(&start)).expect("a row");
            assert_eq!(row.replace("\\|", "").matches('|').count(), 8, "{row}");
            assert!(row.contains(rule.action), "{row}");
        }
    }
}
