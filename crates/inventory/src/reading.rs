//! One pass over a machine: its root, and remarks.

use std::collections::BTreeMap;
use std::fmt;

use seatrial_model::machine::Remark;
use seatrial_sys::cpuset::CpuSet;
use seatrial_sys::root::SysRoot;

use crate::Process;

pub(crate) struct Reading<'a> {
    pub root: &'a SysRoot,
    pub process: &'a Process,
    remarks: Vec<Remark>,
}

impl<'a> Reading<'a> {
    pub const fn new(root: &'a SysRoot, process: &'a Process) -> Self {
        Self { root, process, remarks: Vec::new() }
    }

    pub fn remark(&mut self, subject: &str, text: impl fmt::Display) {
        self.remarks.push(Remark { subject: subject.to_owned(), text: text.to_string() });
    }

    /// The folder of a device behind a link such as `/sys/class/net/eth0`; `None`, with a remark, for a broken link.
    pub fn folder(&mut self, subject: &str, list: &str, name: &str) -> Option<String> {
        let folder = self.root.resolve(format!("{list}/{name}")).map_err(|error| error.to_string());
        let found = folder.and_then(|folder| match folder.starts_with("/sys/") {
            true => Ok(folder),
            false => Err(format!("its link leads to {folder}")),
        });
        found.map_err(|why| self.remark(subject, format!("{name:?} left out: {why}"))).ok()
    }

    /// The folder with the names of its files.
    pub fn device(&mut self, subject: &str, list: &str, name: &str) -> Option<(String, Vec<String>)> {
        let folder = self.folder(subject, list, name)?;
        match self.root.list(&folder) {
            Ok(files) => Some((folder, files)),
            Err(error) => {
                self.remark(subject, format!("{name:?} left out: {error}"));
                None
            }
        }
    }

    pub fn into_remarks(self) -> Vec<Remark> {
        self.remarks
    }
}

/// Collects a problem of many CPUs into one remark: some machines lack a file for hundreds of CPUs.
#[derive(Default)]
pub(crate) struct PerCpu {
    troubles: BTreeMap<&'static str, (CpuSet, String)>,
}

impl PerCpu {
    /// Notes that `what` is unknown for `cpu`; the first reason is shown.
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
