//! What took CPU time from a benchmark whose threads need all of it.

use seatrial_model::disturbance::CpuUse;
use seatrial_model::record::CaseRecord;
use seatrial_model::{Fact, Hold, NodeReadings};

/// Families whose threads never wait: CPU time that others take is time lost. Threads that wait for a device or the network
/// may lose nothing by it.
const NEVER_WAIT: &[&str] = &["mem", "cpu"];

/// The shares of a hypervisor and of other processes, from the probes `steal` and `load` over all trials of `case`.
pub(super) fn holds(case: &CaseRecord) -> Vec<Hold> {
    let family = case.bench.split('.').next().unwrap_or_default();
    let readings = NodeReadings::of(&case.evidence).unwrap_or_default().0;
    let Some(probes) =
        readings.values().next().filter(|_| NEVER_WAIT.contains(&family) && readings.len() == 1)
    else {
        return Vec::new();
    };
    let (stolen, foreign) = CpuUse::from(probes).taken();
    let hold = |what: &str, share: Option<f64>, source: &str| {
        let share = share.filter(|share| *share > 0.0)?;
        Some(Hold { what: what.to_owned(), share, source: source.to_owned(), ..Hold::default() })
    };
    let stolen = hold("hypervisor takes CPU time", stolen, "steal time of /proc/stat");
    let foreign = hold("other programs take CPU time", foreign, "CPU times of all processes");
    stolen.into_iter().chain(foreign).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::judge::fixture::measured;

    #[test]
    fn cpu_time_of_others_holds_back_what_never_waits_and_nothing_else() {
        let mut case = measured("n1");
        let load =
            json!({ "counts": { "busy_ns": 900, "own_ns": 500, "kernel_ns": 40, "elapsed_ns": 1000 } });
        let steal = json!({ "counts": { "steal_ns": 100 } });
        case.evidence.insert("probes".to_owned(), json!({ "n1": { "load": load, "steal": steal } }));
        let told = |case: &CaseRecord| -> Vec<(String, f64)> {
            let round = |share: f64| (share * 1000.0).round() / 1000.0;
            holds(case).into_iter().map(|hold| (hold.what, round(hold.share))).collect()
        };
        case.bench = "mem.bandwidth".to_owned();
        let expected = [("hypervisor takes CPU time", 0.1), ("other programs take CPU time", 0.4)];
        assert_eq!(told(&case), expected.map(|(what, share)| (what.to_owned(), share)));
        case.bench = "storage.file".to_owned();
        assert_eq!(told(&case), []);
        case.bench = "mem.bandwidth".to_owned();
        case.evidence.remove("probes");
        assert_eq!(told(&case), []);
    }
}
