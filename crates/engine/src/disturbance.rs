//! Whether other processes used the machine during a trial.

use seatrial_model::PartRecord;
use seatrial_model::disturbance::{CpuUse, disturber};

use crate::probes::in_trial;

/// What disturbed the trial of these parts, in words; `None` when no disturbance is known. Uses the differences of the probes
/// `steal` and `load` in the evidence of workers; what could not be read does not disturb. Which processes count:
/// [`disturber`].
pub fn disturbance<'a>(parts: impl IntoIterator<Item = &'a PartRecord>) -> Option<String> {
    let nodes: Vec<CpuUse> = in_trial(parts).0.values().map(CpuUse::from).collect();
    disturber(&nodes).map(|found| found.text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use seatrial_model::Evidence;
    use serde_json::{Value, json};

    fn part(node: &str, probes: Value) -> PartRecord {
        PartRecord {
            node: node.to_owned(),
            evidence: Evidence::from([("probes".to_owned(), probes)]),
            ..seatrial_testkit::part(Vec::new())
        }
    }

    fn probes(steal: u64, busy: u64, own: u64) -> Value {
        json!({ "steal": { "counts": { "steal_ns": steal } }, "load": { "counts": { "busy_ns": busy, "own_ns": own } } })
    }

    #[test]
    fn a_machine_of_our_own_disturbs_nothing() {
        assert_eq!(disturbance(&[part("n1", probes(0, 1000, 990)), part("n2", json!({}))]), None);
    }

    #[test]
    fn the_worst_node_tells_what_took_the_cpu() {
        let stolen = disturbance(&[part("n1", probes(0, 100, 100)), part("n2", probes(100, 900, 900))]);
        assert_eq!(stolen.as_deref(), Some("the hypervisor gave 10 % of the CPU time to others"));
        let foreign = disturbance(&[part("n1", probes(0, 1000, 250))]);
        assert_eq!(foreign.as_deref(), Some("other processes took 75 % of the CPU time used"));
    }

    #[test]
    fn threads_of_the_kernel_are_not_foreign() {
        let load = json!({ "busy_ns": 1000, "own_ns": 250, "kernel_ns": 700 });
        assert_eq!(disturbance(&[part("n1", json!({ "load": { "counts": load } }))]), None);
    }

    #[test]
    fn two_workers_of_one_node_are_not_foreign_to_each_other() {
        assert_eq!(disturbance(&[part("n1", probes(0, 1000, 500)), part("n1", probes(0, 1001, 490))]), None);
    }

    /// A node on the kernel of this number, which sees its own worker only.
    fn container(node: &str, kernel: u64, busy: u64, own: u64) -> PartRecord {
        let counts = json!({ "busy_ns": busy, "own_ns": own, "ours_ns": own, "elapsed_ns": 1000 });
        part(node, json!({ "load": { "counts": counts, "levels": { "kernel": kernel } } }))
    }

    #[test]
    fn the_workers_of_other_nodes_on_one_kernel_are_not_foreign_and_everybody_else_is() {
        let all = |kernels: [u64; 3], busy: u64| {
            let nodes = ["n1", "n2", "n3"].into_iter().zip(kernels);
            nodes.map(|(node, kernel)| container(node, kernel, busy, 400)).collect::<Vec<_>>()
        };
        assert_eq!(disturbance(&all([7, 7, 7], 1250)), None);
        let burner = disturbance(&all([7, 7, 7], 2000));
        assert_eq!(burner.as_deref(), Some("other processes took 40 % of the CPU time used"));
        let apart = disturbance(&all([7, 7, 8], 1000));
        assert_eq!(apart.as_deref(), Some("other processes took 60 % of the CPU time used"), "n3 is alone");
        // One that was done early did not count what the others did later.
        let mut early = all([7, 7, 7], 1250);
        early[0] = container("n1", 7, 500, 400);
        assert_eq!(disturbance(&early), None);
    }

    #[test]
    fn heat_and_bad_links_are_the_machine_s_own_and_no_reason_to_repeat() {
        let own = json!({
            "throttle": { "counts": { "package_throttles": 900, "package_throttled_ms": 600 } },
            "pcie_aer": { "counts": { "correctable": 5000 } },
        });
        assert_eq!(disturbance(&[part("n1", own)]), None);
    }
}
