//! Counters of the system that are read before and after every case, to see what else happened meanwhile.
//!
//! A probe is one file here and one line in [`PROBES`].

mod counters;
mod load;
mod steal;
mod vmstat;

pub use counters::{Counters, Difference};

use crate::root::SysRoot;

/// A group of counters that are read together.
pub trait Probe: Sync {
    /// Its name in records: `steal`, `load`, `vmstat`.
    fn id(&self) -> &'static str;

    /// Reads all of its counters. What cannot be read is noted with the reason, never counted as 0.
    fn read(&self, root: &SysRoot) -> Counters;
}

/// Every probe there is.
pub static PROBES: &[&dyn Probe] = &[&load::Load, &steal::Steal, &vmstat::VmStat];

/// The probe of this name.
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
    fn every_probe_reads_something_here_and_notes_what_an_empty_tree_lacks() {
        let empty = tempfile::tempdir().expect("a folder");
        for probe in PROBES {
            let here = probe.read(&SysRoot::live());
            assert!(!here.counts.is_empty(), "{}: {:?}", probe.id(), here.unreadable);
            let nothing = probe.read(&SysRoot::at(empty.path()));
            assert!(nothing.counts.is_empty() && nothing.levels.is_empty(), "{}", probe.id());
            assert!(!nothing.unreadable.is_empty(), "{}", probe.id());
        }
    }
}
