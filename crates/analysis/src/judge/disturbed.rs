//! Whether other processes used the measured part of the machine, by the evidence in the record of a case.

use seatrial_model::disturbance::{CpuUse, Disturber, disturber};
use seatrial_model::record::CaseRecord;
use seatrial_model::{Fact, GpuProcesses, NodeReadings};

/// Who used what `case` measured, if anybody: a missed number then says nothing about the hardware. Processes on a
/// GPU of the case come before CPU time that others took on its nodes, which is judged by the shares that make the
/// engine repeat a trial.
pub(crate) fn disturbed_by(case: &CaseRecord) -> Option<Disturber> {
    on_a_gpu(case).or_else(|| {
        let nodes: Vec<CpuUse> = NodeReadings::of(&case.evidence)?.0.values().map(CpuUse::from).collect();
        disturber(&nodes)
    })
}

/// Other processes that computed on a GPU of the case, as its driver lists them.
fn on_a_gpu(case: &CaseRecord) -> Option<Disturber> {
    GpuProcesses::of(&case.evidence)?.0.iter().find_map(|(address, seen)| {
        let named = |pid: &u32| match seen.other_names.get(&pid.to_string()) {
            Some(name) => format!("{name} (process {pid})"),
            None => format!("process {pid}"),
        };
        let names: Vec<String> = seen.others.iter().flatten().map(named).collect();
        let name = names.join(", ");
        (!names.is_empty()).then(|| Disturber {
            text: format!("{name} computed on GPU {address}"),
            percent: None,
            name,
        })
    })
}
