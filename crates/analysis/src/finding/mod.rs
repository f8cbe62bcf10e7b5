//! Conclusions that follow from records alone: one file a rule, one line in [`RULES`].

mod address;
mod at_once;
mod backlog;
mod bisection;
mod bond_worth;
mod cause;
pub(crate) mod confidence;
mod copy_bound;
mod cost;
mod crossed_rails;
mod culprit;
mod did_not_converge;
mod disturbed;
mod factor;
mod fill;
mod group_faults;
mod hashing;
mod impact;
mod interfaces;
mod kernel_warnings;
mod larger;
mod limit_exceeded;
mod link_lost;
mod load;
mod load_sweep;
mod losf_penalty;
pub(crate) mod loss;
mod lossy;
pub(crate) mod matrix;
mod memory_errors;
mod mpi_over_tcp;
#[cfg(test)]
mod ncsa;
mod nfs;
mod not_made;
mod not_reached;
mod not_verified;
mod not_watched;
mod one_file_system;
mod paired;
pub(crate) mod path;
mod pcie_errors;
mod probes;
mod rdma_ports;
mod sctp_timeouts;
mod setting_gain;
mod shaped;
mod shared_file_systems;
mod shared_links;
mod slow;
mod slow_clock;
mod speeds;
mod sweep;
mod throttled;
mod uneven_flows;

pub use at_once::{AtOnce, Classes, Flow, Line, Repeat, Step, at_once};
pub use bisection::{Bisection, bisections};
pub use cause::{CAUSES, CauseRule, Sign, explain};
pub(crate) use cause::{Observation, cause_of_difference, explain_outliers};
pub use cost::cost_findings;
pub use factor::{FactorInteraction, Factors, Worth, factors, is_of_factors};
pub use fill::{fill, fill_all};
pub use impact::{Impact, ImpactRow, impacts};
pub use load::{cause_word, load_findings};
pub use loss::loss;
pub use matrix::{Matrix, Slow, matrices};
use seatrial_model::Finding;
use seatrial_model::record::CaseRecord;
pub use setting_gain::{
    SettingEffect, SettingGain, SettingStudy, SettingWorth, WRONG_EFFECTS, setting_studies,
};
pub use slow::{Suspect, suspects};
pub(crate) use sweep::is_number;
pub use sweep::{Cell, Table, tables};

#[derive(Clone, Copy, Debug)]
pub struct Rule {
    pub kind: &'static str,
    /// One sentence: when the rule finds something.
    pub doc: &'static str,
    pub find: fn(&[CaseRecord]) -> Vec<Finding>,
}

/// Every rule, in the order of their findings.
pub const RULES: &[Rule] = &[
    not_reached::RULE,
    culprit::RULE,
    slow::NODE,
    slow::LINK,
    group_faults::BOUNDARY,
    group_faults::NOTHING,
    lossy::RULE,
    shared_links::MISSING,
    shared_links::COLLISIONS,
    uneven_flows::RULE,
    losf_penalty::RULE,
    copy_bound::SOURCE,
    copy_bound::TARGET,
    copy_bound::TOOL,
    bond_worth::RULE,
    crossed_rails::RULE,
    factor::RULE,
    setting_gain::RULE,
    impact::RULE,
    limit_exceeded::RULE,
    path::RULE,
    mpi_over_tcp::RULE,
    nfs::SLOW,
    nfs::RETRANSMISSIONS,
    link_lost::RULE,
    throttled::RULE,
    slow_clock::RULE,
    pcie_errors::RULE,
    memory_errors::RULE,
    interfaces::ERRORS,
    interfaces::DROPS,
    backlog::RULE,
    sctp_timeouts::RULE,
    interfaces::PAUSE_FRAMES,
    rdma_ports::ERRORS,
    rdma_ports::RETRANSMISSIONS,
    rdma_ports::NOT_READY,
    rdma_ports::CONGESTION,
    kernel_warnings::RULE,
    disturbed::RULE,
    not_made::RULE,
    not_verified::RULE,
    not_watched::RULE,
    one_file_system::RULE,
    did_not_converge::RULE,
];

pub fn findings(records: &[CaseRecord]) -> Vec<Finding> {
    RULES.iter().flat_map(|rule| (rule.find)(records)).collect()
}

fn about(case: &CaseRecord, finding: Finding) -> Finding {
    let node = match case.nodes.as_slice() {
        [node] => Some(node.clone()),
        _ => None,
    };
    Finding { case: Some(case.case.to_string()), node, ..finding }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge::fixture::measured;

    #[test]
    fn every_rule_has_a_kind_of_its_own_and_says_when_it_finds_something() {
        for rule in RULES {
            assert_eq!(RULES.iter().filter(|other| other.kind == rule.kind).count(), 1);
            assert!(rule.doc.ends_with('.'), "{}", rule.kind);
        }
    }

    #[test]
    fn a_sound_case_gives_no_finding() {
        assert_eq!(findings(&[measured("n1")]), []);
    }

    #[test]
    fn a_finding_names_its_case_and_its_node() {
        let mut case = measured("n1");
        case.metrics.get_mut("bandwidth").unwrap().converged = false;
        let found = findings(std::slice::from_ref(&case));
        let [finding] = found.as_slice() else { panic!("{found:?}") };
        assert_eq!(finding.case.as_deref(), Some(case.case.as_str()));
        assert_eq!(finding.node.as_deref(), Some("n1"));
        case.nodes.push("n2".to_owned());
        assert_eq!(findings(&[case])[0].node, None);
    }
}
