//! Probes that read counters at the start and at the end.

use super::{Counters, Difference, Probe, Watch};
use crate::root::SysRoot;

pub trait Counting: Sync {
    fn id(&self) -> &'static str;

    /// Reads all counters. Unreadable counters are noted with the reason, never counted as 0.
    fn read(&self, root: &SysRoot) -> Counters;

    /// The difference of two readings, summed up where a probe reads more than a record should hold.
    fn between(&self, before: &Counters, after: &Counters) -> Difference {
        after.since(before)
    }
}

impl<T: Counting> Probe for T {
    fn id(&self) -> &'static str {
        Counting::id(self)
    }

    fn watch<'a>(&'a self, root: &SysRoot) -> Box<dyn Watch + 'a> {
        Box::new(Between { probe: self, root: root.clone(), before: self.read(root) })
    }
}

struct Between<'a, T> {
    probe: &'a T,
    root: SysRoot,
    before: Counters,
}

impl<T: Counting> Watch for Between<'_, T> {
    fn end(self: Box<Self>) -> Difference {
        self.probe.between(&self.before, &self.probe.read(&self.root))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Size;

    impl Counting for Size {
        fn id(&self) -> &'static str {
            "size"
        }

        fn read(&self, root: &SysRoot) -> Counters {
            let mut counters = Counters::default();
            match root.bytes("/log") {
                Ok(bytes) => counters.count("bytes", bytes.len() as u64),
                Err(error) => counters.unreadable(error),
            }
            counters
        }
    }

    #[test]
    fn reads_when_the_watch_starts_and_when_it_ends() {
        let dir = tempfile::tempdir().expect("a folder");
        let root = SysRoot::at(dir.path());
        std::fs::write(dir.path().join("log"), "seven..").expect("written");
        let watch = Size.watch(&root);
        std::fs::write(dir.path().join("log"), "seven and more").expect("written");
        assert_eq!(watch.end().counts["bytes"], 7);
    }
}
