//! When each file of a copy was done: the time of its last change at the target.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::SystemTime;

use serde::{Deserialize, Serialize};

use crate::set::DataSet;

/// By so much a file may seem to be done before the copy began: the clock of a file system ticks 100 times a second or more.
const TICK_NS: u64 = 20_000_000;

/// Since the copy began.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DoneTimes {
    pub first_ns: u64,
    pub last_ns: u64,
    pub classes: Vec<SizeClass>,
}

/// The files of more than half of `size` and at most `size`, which is a power of two.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SizeClass {
    pub size: u64,
    pub bytes: u64,
    /// Time in which a file of the class was the next to be done.
    pub ns: u64,
}

/// Of the copy in `folder` that began at `begin`; `None` where a file is missing or its time is that of another clock.
pub fn done_times(set: &DataSet, folder: &Path, begin: SystemTime) -> Option<DoneTimes> {
    let begin_ns = begin.duration_since(SystemTime::UNIX_EPOCH).ok()?.as_nanos() as u64;
    let mut done = Vec::new();
    for number in 0..set.recipe.files {
        let about = fs::symlink_metadata(folder.join(set.path(number))).ok()?;
        let at_ns = u64::try_from(about.ctime()).ok()? * 1_000_000_000 + about.ctime_nsec() as u64;
        if at_ns + TICK_NS < begin_ns {
            return None;
        }
        done.push((at_ns.saturating_sub(begin_ns), about.len()));
    }
    done.sort_unstable();
    Some(DoneTimes { first_ns: done.first()?.0, last_ns: done.last()?.0, classes: classes(&done) })
}

/// The time between two files that were done is that of the second of them.
fn classes(done: &[(u64, u64)]) -> Vec<SizeClass> {
    let (mut classes, mut before) = (BTreeMap::<u64, SizeClass>::new(), 0);
    for (at_ns, bytes) in done {
        let size = bytes.next_power_of_two();
        let class = classes.entry(size).or_insert(SizeClass { size, ..SizeClass::default() });
        class.bytes += bytes;
        class.ns += at_ns - before;
        before = *at_ns;
    }
    classes.into_values().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_between_two_files_is_that_of_the_second_and_all_times_add_up() {
        let done = [(10, 1000), (15, 4096), (40, 4000), (100, 900)];
        let of = |size, bytes, ns| SizeClass { size, bytes, ns };
        assert_eq!(classes(&done), [of(1024, 1900, 70), of(4096, 8096, 30)]);
    }
}
