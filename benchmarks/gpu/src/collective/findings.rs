//! Conclusions from the library's log, the curve and the ranks: which rule holds, as a table.

use std::collections::BTreeMap;

use seatrial_bench::median;
use seatrial_model::{Finding, Severity, Subject};

use super::log::NcclLog;

/// What the rules look at.
pub struct Facts<'a> {
    pub log: &'a NcclLog,
    /// Whether all nodes have an active port of InfiniBand or RoCE hardware.
    pub active_hca: bool,
    /// Whether a switch of these GPUs could add up itself, and this many of them take part in its sums.
    pub could_nvls: bool,
    /// The algorithm of the largest size, where the log tells it.
    pub algorithm: Option<&'a str>,
    /// busbw by size.
    pub curve: &'a [(u64, f64)],
    /// Nanoseconds of each rank in the turns of the largest size.
    pub turns: &'a [BTreeMap<u64, f64>],
    /// The variables that steer the library.
    pub variables: &'a BTreeMap<String, String>,
}

struct Rule {
    kind: &'static str,
    severity: Severity,
    /// Where it holds, what was seen.
    holds: fn(&Facts<'_>) -> Option<String>,
    /// What it means; the place of `{}` is for what was seen.
    text: &'static str,
}

/// A smaller size has a rate higher than this one by more than a fifth.
const DROP: f64 = 0.8;

/// A rank is behind when the others wait for it by more than 5 % of the time, in four turns of five, of five or more.
const BEHIND: f64 = 0.95;
const OFTEN: f64 = 0.8;
const LEAST_TURNS: usize = 5;

const RULES: [Rule; 5] = [
    Rule {
        kind: "nccl-over-sockets",
        severity: Severity::Problem,
        holds: |facts| {
            let is_over = facts.active_hca && facts.log.transports.contains("NET/Socket");
            is_over.then(String::new)
        },
        text: "NCCL exchanges data between nodes over TCP although all nodes have an active InfiniBand or RoCE port: check \
               libibverbs, NCCL_IB_DISABLE, NCCL_IB_HCA and NCCL_NET, and that the container has /dev/infiniband",
    },
    Rule {
        kind: "nccl-without-gdr",
        severity: Severity::Warning,
        holds: |facts| {
            let ways = &facts.log.transports;
            ways.contains("NET/IB")
                .then(|| if ways.contains("NET/IB/GDRDMA") { " of some ranks" } else { "" }.to_owned())
        },
        text: "NCCL's data{} go through the memory of the host: InfiniBand without GPUDirect RDMA. Load nvidia-peermem, or use \
               a kernel and driver with DMA-BUF; see NCCL_NET_GDR_LEVEL",
    },
    Rule {
        kind: "nvls-not-used",
        severity: Severity::Info,
        holds: |facts| {
            let algorithm = facts.algorithm.filter(|name| facts.could_nvls && !name.starts_with("NVLS"))?;
            let why = facts.variables.iter().find(|(name, _)| {
                matches!(name.as_str(), "NCCL_NVLS_ENABLE" | "NCCL_ALGO" | "NCCL_P2P_DISABLE")
            });
            let why = why.map(|(name, value)| format!(", {name}={value}")).unwrap_or_default();
            Some(format!("{algorithm}{why}"))
        },
        text: "NCCL chose {} for the largest size, although NVLink switches that add up themselves (NVLS, NVLink SHARP) serve \
               so many GPUs of this kind: check the fabric manager and NCCL_NVLS_ENABLE",
    },
    Rule {
        kind: "rank-behind",
        severity: Severity::Warning,
        holds: |facts| behind(facts.turns).map(|rank| rank.to_string()),
        text: "rank {} comes last: the others wait for it in most turns of the largest size. Compare clock and temperature of \
               its GPU (`watch`), its links (`gpu.peer_copy`) and the load on its cores",
    },
    Rule {
        kind: "drops-at-size",
        severity: Severity::Warning,
        holds: |facts| drop_of(facts.curve).map(|(size, percent)| format!("{size} B by {percent:.0} %")),
        text: "busbw falls at {} below that of a smaller size: NCCL changes algorithm or protocol there; see `nccl_log`, and \
               try NCCL_ALGO and NCCL_PROTO",
    },
];

pub fn found(facts: &Facts<'_>) -> Vec<Finding> {
    let held = RULES.iter().filter_map(|rule| Some((rule, (rule.holds)(facts)?)));
    held.map(|(rule, seen)| {
        Finding::new(rule.kind, rule.severity, Subject::node(), rule.text.replace("{}", &seen))
    })
    .collect()
}

/// The rank that the others wait for: its time is the shortest by far, turn after turn.
fn behind(turns: &[BTreeMap<u64, f64>]) -> Option<u64> {
    let mut counts: BTreeMap<u64, usize> = BTreeMap::new();
    for times in turns {
        let (rank, least) = times.iter().min_by(|one, other| one.1.total_cmp(other.1))?;
        let others: Vec<f64> = times.iter().filter(|(other, _)| *other != rank).map(|(_, ns)| *ns).collect();
        if *least < BEHIND * median(&[others]) {
            *counts.entry(*rank).or_default() += 1;
        }
    }
    let (rank, count) = counts.into_iter().max_by_key(|(_, count)| *count)?;
    (turns.len() >= LEAST_TURNS && count as f64 >= OFTEN * turns.len() as f64).then_some(rank)
}

/// The size with the deepest fall below the best of the smaller ones, and the fall in percent.
fn drop_of(curve: &[(u64, f64)]) -> Option<(u64, f64)> {
    let mut best = 0.0_f64;
    let mut deepest: Option<(u64, f64)> = None;
    for (size, rate) in curve {
        let share = rate / best.max(f64::MIN_POSITIVE);
        if best > 0.0 && share < DROP && deepest.is_none_or(|(_, before)| share < before) {
            deepest = Some((*size, share));
        }
        best = best.max(*rate);
    }
    deepest.map(|(size, share)| (size, 100.0 * (1.0 - share)))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    static NO_LOG: NcclLog = NcclLog {
        network: None,
        transports: BTreeSet::new(),
        channels: None,
        nvls_channels: None,
        choices: BTreeSet::new(),
    };
    static NO_VARIABLES: BTreeMap<String, String> = BTreeMap::new();

    /// Facts of which no rule holds.
    const NOTHING: Facts<'static> = Facts {
        log: &NO_LOG,
        active_hca: false,
        could_nvls: false,
        algorithm: None,
        curve: &[],
        turns: &[],
        variables: &NO_VARIABLES,
    };

    fn kinds(facts: &Facts<'_>) -> Vec<(String, String)> {
        found(facts).into_iter().map(|finding| (finding.kind, finding.text)).collect()
    }

    fn only(found: &[(String, String)]) -> &str {
        assert_eq!(found.len(), 1, "{found:?}");
        &found[0].0
    }

    fn ways(all: &[&str]) -> NcclLog {
        NcclLog { transports: all.iter().map(|way| (*way).to_owned()).collect(), ..NcclLog::default() }
    }

    #[test]
    fn sockets_are_a_problem_only_where_a_port_is_active() {
        let log = ways(&["NET/Socket", "P2P"]);
        assert_eq!(kinds(&Facts { log: &log, ..NOTHING }), []);
        let found = kinds(&Facts { log: &log, active_hca: true, ..NOTHING });
        assert_eq!(only(&found), "nccl-over-sockets");
        let direct = ways(&["NET/IB/GDRDMA"]);
        assert_eq!(kinds(&Facts { log: &direct, ..NOTHING }), []);
        let some = ways(&["NET/IB/GDRDMA", "NET/IB"]);
        let found = kinds(&Facts { log: &some, ..NOTHING });
        assert_eq!(only(&found), "nccl-without-gdr");
        assert!(found[0].1.contains("data of some ranks go"), "{found:?}");
    }

    #[test]
    fn a_switch_that_does_not_add_up_is_told_with_the_variable_that_may_be_why() {
        let variables = BTreeMap::from([("NCCL_NVLS_ENABLE".to_owned(), "0".to_owned())]);
        let facts = Facts { could_nvls: true, algorithm: Some("RING"), variables: &variables, ..NOTHING };
        let found = kinds(&facts);
        assert_eq!(only(&found), "nvls-not-used");
        assert!(found[0].1.starts_with("NCCL chose RING, NCCL_NVLS_ENABLE=0 for the largest"), "{found:?}");
        assert_eq!(kinds(&Facts { could_nvls: true, algorithm: Some("NVLS_TREE"), ..NOTHING }), []);
        assert_eq!(kinds(&Facts { algorithm: Some("RING"), ..NOTHING }), []);
    }

    #[test]
    fn a_rank_is_behind_when_its_time_is_the_shortest_again_and_again() {
        let turn = |second: f64| BTreeMap::from([(0, 100.0), (1, second), (2, 101.0)]);
        let late = vec![turn(80.0); 5];
        let found = kinds(&Facts { turns: &late, ..NOTHING });
        assert_eq!(only(&found), "rank-behind");
        assert!(found[0].1.starts_with("rank 1 comes last"));
        let few = vec![turn(80.0); 4];
        assert_eq!(kinds(&Facts { turns: &few, ..NOTHING }), []);
        let now_and_then = [turn(80.0), turn(100.0), turn(80.0), turn(99.0), turn(100.0)];
        assert_eq!(kinds(&Facts { turns: &now_and_then, ..NOTHING }), []);
    }

    #[test]
    fn a_fall_of_the_curve_is_told_with_its_size() {
        let curve = [(8, 0.1), (64, 40.0), (512, 20.0), (4096, 90.0)];
        let found = kinds(&Facts { curve: &curve, ..NOTHING });
        assert_eq!(only(&found), "drops-at-size");
        assert!(found[0].1.starts_with("busbw falls at 512 B by 50 % below"), "{found:?}");
        assert_eq!(kinds(&Facts { curve: &[(8, 1.0), (64, 0.9), (512, 2.0)], ..NOTHING }), []);
    }
}
