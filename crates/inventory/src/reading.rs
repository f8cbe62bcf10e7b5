//! One pass over a machine: where to read, and what was odd on the way.

use std::collections::BTreeMap;
use std::fmt;

use seatrial_model::machine::Remark;
use seatrial_sys::cpuset::CpuSet;
use seatrial_sys::root::SysRoot;

use crate::Process;

/// What every reader gets.
pub(crate) struct Reading<'a> {
    pub root: &'a SysRoot,
    pub process: &'a Process,
    remarks: Vec<Remark>,
}

impl<'a> Reading<'a> {
    pub const fn new(root: &'a SysRoot, process: &'a Process) -> Self {
        Self { root, process, remarks: Vec::new() }
    }

    /// Notes something odd about a part.
    pub fn remark(&mut self, subject: &str, text: impl fmt::Display) {
        self.remarks.push(Remark { subject: subject.to_owned(), text: text.to_string() });
    }

    pub fn into_remarks(self) -> Vec<Remark> {
        self.remarks
    }
}

/// The same trouble with many CPUs, told once: hundreds of CPUs lack the same file on some machines.
#[derive(Default)]
pub(crate) struct PerCpu {
    troubles: BTreeMap<&'static str, (CpuSet, String)>,
}

impl PerCpu {
    /// Notes that `what` is not known of `cpu`; the reason of the first one is shown.
    pub fn note(&mut self, what: &'static str, cpu: u32, why: impl fmt::Display) {
        let (cpus, _) = self.troubles.entry(what).or_insert_with(|| (CpuSet::new(), why.to_string()));
        cpus.insert(cpu);
    }

    pub fn report(self, subject: &str, at: &mut Reading<'_>) {
        for (what, (cpus, why)) in self.troubles {
            at.remark(subject, format!("{what} of CPUs {cpus} unknown: {why}"));
        }
    }
}
