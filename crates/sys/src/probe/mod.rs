//! Probes of what else happens on the machine while a case is measured: counters, levels, log lines.
//!
//! A probe is one file here and one line in [`PROBES`].

mod clock;
mod counters;
mod counting;
mod cpu_freq;
mod diskstats;
mod edac;
mod ib_port;
pub(crate) mod kernel_log;
mod line;
mod load;
mod nfs;
mod nic;
mod pcie_aer;
mod qdisc;
mod snmp;
mod softnet;
mod steal;
mod throttle;
mod vmstat;

pub use counters::{CounterReading, Counters, Difference};
pub use counting::Counting;
pub use edac::{CountedPart, corrected_memory_errors, uncorrected_memory_errors};
pub use kernel_log::kernel_lines;
pub use line::Line;
pub use pcie_aer::pcie_error_counters;
pub use throttle::throttle_counters;

use crate::root::SysRoot;

/// A probe. Most probes read counters twice and implement [`Counting`], which implements this trait.
pub trait Probe: Sync {
    /// The name in records: `steal`, `load`, `vmstat`.
    fn id(&self) -> &'static str;

    /// Starts a watch. [`Watch::end`] reports what is unreadable, never as 0.
    fn watch<'a>(&'a self, root: &SysRoot) -> Box<dyn Watch + 'a>;
}

pub trait Watch {
    fn end(self: Box<Self>) -> Difference;
}

pub static PROBES: &[&dyn Probe] = &[
    &clock::ClockProbe,
    &cpu_freq::CpuFreq,
    &diskstats::DiskStats,
    &edac::Edac,
    &ib_port::IbPort,
    &kernel_log::KernelLog,
    &load::Load,
    &nfs::Nfs,
    &nic::Nic,
    &pcie_aer::PcieAer,
    &qdisc::QdiscProbe,
    &snmp::Snmp,
    &softnet::Softnet,
    &steal::Steal,
    &throttle::ThrottleProbe,
    &vmstat::VmStat,
];

pub fn probe(id: &str) -> Option<&'static dyn Probe> {
    PROBES.iter().copied().find(|probe| probe.id() == id)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_unique_and_found() {
        for probe in PROBES {
            assert_eq!(PROBES.iter().filter(|other| other.id() == probe.id()).count(), 1);
            assert_eq!(super::probe(probe.id()).map(Probe::id), Some(probe.id()));
        }
        assert!(probe("warp").is_none());
    }

    #[test]
    fn every_probe_notes_what_an_empty_tree_lacks_and_invents_nothing() {
        let empty = tempfile::tempdir().expect("a folder");
        for probe in PROBES {
            let nothing = probe.watch(&SysRoot::at(empty.path())).end();
            let Difference { counts, levels, lines, unreadable, .. } = nothing;
            assert!(counts.is_empty() && levels.is_empty() && lines.is_empty(), "{}", probe.id());
            assert!(!unreadable.is_empty(), "{}", probe.id());
        }
    }

    #[test]
    fn every_probe_can_be_watched_here_and_names_a_file_where_it_sees_nothing() {
        for probe in PROBES {
            let Difference { unreadable, .. } = probe.watch(&SysRoot::live()).end();
            assert!(unreadable.iter().all(|why| why.contains('/')), "{}: {unreadable:?}", probe.id());
        }
        for id in ["steal", "load", "vmstat"] {
            let here = probe(id).expect("there").watch(&SysRoot::live()).end();
            assert!(!here.counts.is_empty(), "{id}: {:?}", here.unreadable);
        }
    }
}
