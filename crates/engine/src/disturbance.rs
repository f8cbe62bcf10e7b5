//! Whether something else used the machine while a trial measured.

use std::collections::BTreeMap;

use seatrial_model::PartRecord;

use crate::probes::{Seen, in_trial};

/// Share of the CPU time that the hypervisor gave to others above which a trial is repeated, in percent.
const MOST_STOLEN: f64 = 5.0;

/// Share of the CPU time used that went to other processes above which a trial is repeated, in percent.
const MOST_FOREIGN: f64 = 10.0;

/// What disturbed the trial, in words; `None` when nothing is known to have.
///
/// Looks at the differences of the probes `steal` and `load` that workers leave in their evidence; what could not be
/// read disturbs nothing. Only others disturb: a CPU that throttles itself, a link with errors or a kernel that warns
/// is the machine under test, whose number that is. Nor do threads of the kernel: what they did was asked for, and with
/// a network or a disk under test mostly by us. Such a trial counts, and the findings give the reason.
pub fn disturbance(parts: &[PartRecord]) -> Option<String> {
    let nodes = in_trial(parts);
    let worst = |share: fn(&Probes) -> Option<f64>| nodes.values().filter_map(share).fold(0.0, f64::max);
    let (stolen, foreign) = (worst(stolen), worst(foreign));
    if stolen > MOST_STOLEN {
        return Some(format!("the hypervisor gave {stolen:.0} % of the CPU time to others"));
    }
    (foreign > MOST_FOREIGN).then(|| format!("other processes took {foreign:.0} % of the CPU time used"))
}

/// What the probes of one node saw.
type Probes = BTreeMap<String, Seen>;

fn stolen(probes: &Probes) -> Option<f64> {
    let stolen = count(probes, "steal", "steal_ns")?;
    percent(stolen, stolen + count(probes, "load", "busy_ns")?)
}

fn foreign(probes: &Probes) -> Option<f64> {
    let busy = count(probes, "load", "busy_ns")?;
    // Records of before this was counted lack it.
    let kernel = count(probes, "load", "kernel_ns").unwrap_or(0.0);
    percent(busy - count(probes, "load", "own_ns")? - kernel, busy)
}

fn count(probes: &Probes, probe: &str, name: &str) -> Option<f64> {
    probes.get(probe)?.counts.get(name).map(|count| *count as f64)
}

fn percent(part: f64, whole: f64) -> Option<f64> {
    (whole > 0.0).then(|| 100.0 * part / whole)
}

#[cfg(test)]
mod tests {
    use super::*;
    use seatrial_model::{Evidence, Integrity};
    use serde_json::{Value, json};

    fn part(node: &str, probes: Value) -> PartRecord {
        PartRecord {
            part: "worker".to_owned(),
            index: 0,
            node: node.to_owned(),
            trial: 0,
            samples: Vec::new(),
            integrity: Integrity::Verified { checked: 0 },
            evidence: Evidence::from([("probes".to_owned(), probes)]),
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
    fn threads_of_the_kernel_are_no_strangers() {
        let load = json!({ "busy_ns": 1000, "own_ns": 250, "kernel_ns": 700 });
        assert_eq!(disturbance(&[part("n1", json!({ "load": { "counts": load } }))]), None);
    }

    #[test]
    fn two_workers_of_one_node_are_no_strangers_to_each_other() {
        assert_eq!(disturbance(&[part("n1", probes(0, 1000, 500)), part("n1", probes(0, 1001, 490))]), None);
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
