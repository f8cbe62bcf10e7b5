//! Sets of CPU or node numbers in the kernel's list format (cpuset(7), "List format"), such as `0-3,8`.

use std::collections::BTreeSet;
use std::fmt;
use std::str::FromStr;

#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CpuSet {
    ids: BTreeSet<u32>,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CpuListError {
    #[error("'{0}' is neither a CPU number nor a range such as 0-3")]
    Syntax(String),
    #[error("range '{0}' ends before it begins")]
    Backwards(String),
    #[error("the list names more than {} CPUs", CpuSet::MAX_ID + 1)]
    TooMany,
    #[error("CPU number {0} is larger than {max}", max = CpuSet::MAX_ID)]
    TooLarge(u32),
}

impl CpuSet {
    /// The largest number accepted, far above what kernels are built for (8192): a stray digit does not allocate
    /// gigabytes.
    pub const MAX_ID: u32 = 65_535;

    pub const fn new() -> Self {
        Self { ids: BTreeSet::new() }
    }

    pub fn of(id: u32) -> Self {
        Self::from_iter([id])
    }

    /// Adds a number; false if it was there already.
    pub fn insert(&mut self, id: u32) -> bool {
        self.ids.insert(id)
    }

    pub fn contains(&self, id: u32) -> bool {
        self.ids.contains(&id)
    }

    pub fn len(&self) -> usize {
        self.ids.len()
    }

    pub fn is_empty(&self) -> bool {
        self.ids.is_empty()
    }

    pub fn first(&self) -> Option<u32> {
        self.ids.first().copied()
    }

    pub fn last(&self) -> Option<u32> {
        self.ids.last().copied()
    }

    pub fn iter(&self) -> impl Iterator<Item = u32> + '_ {
        self.ids.iter().copied()
    }

    #[must_use]
    pub fn intersection(&self, other: &Self) -> Self {
        Self { ids: &self.ids & &other.ids }
    }

    #[must_use]
    pub fn union(&self, other: &Self) -> Self {
        Self { ids: &self.ids | &other.ids }
    }

    #[must_use]
    pub fn difference(&self, other: &Self) -> Self {
        Self { ids: &self.ids - &other.ids }
    }

    pub fn is_subset(&self, other: &Self) -> bool {
        self.ids.is_subset(&other.ids)
    }
}

impl FromIterator<u32> for CpuSet {
    fn from_iter<I: IntoIterator<Item = u32>>(ids: I) -> Self {
        Self { ids: ids.into_iter().collect() }
    }
}

impl fmt::Display for CpuSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut ids = self.iter().peekable();
        let mut comma = "";
        while let Some(from) = ids.next() {
            let mut to = from;
            while let Some(next) = ids.next_if_eq(&(to + 1)) {
                to = next;
            }
            match to {
                _ if to == from => write!(f, "{comma}{from}")?,
                _ => write!(f, "{comma}{from}-{to}")?,
            }
            comma = ",";
        }
        Ok(())
    }
}

impl FromStr for CpuSet {
    type Err = CpuListError;

    /// Parses the list format; empty text is the empty set, as for a node without CPUs.
    fn from_str(text: &str) -> Result<Self, CpuListError> {
        let mut set = Self::new();
        let text = text.trim();
        if text.is_empty() {
            return Ok(set);
        }
        let mut named = 0;
        for part in text.split(',') {
            let (from, to) = part.split_once('-').unwrap_or((part, part));
            let (from, to) = (number(from, part)?, number(to, part)?);
            if to < from {
                return Err(CpuListError::Backwards(part.to_owned()));
            }
            named += to - from + 1;
            if named > Self::MAX_ID + 1 {
                return Err(CpuListError::TooMany);
            }
            set.ids.extend(from..=to);
        }
        Ok(set)
    }
}

fn number(digits: &str, part: &str) -> Result<u32, CpuListError> {
    // `u32::from_str` alone would also take a plus sign.
    let plain = digits.bytes().all(|byte| byte.is_ascii_digit());
    let value: u32 =
        digits.parse().ok().filter(|_| plain).ok_or_else(|| CpuListError::Syntax(part.to_owned()))?;
    if value > CpuSet::MAX_ID { Err(CpuListError::TooLarge(value)) } else { Ok(value) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn reads_and_prints_the_kernel_format() {
        for text in ["", "0", "0-3", "0-3,8", "0,2,4-5,4095"] {
            let set: CpuSet = text.parse().expect("valid");
            assert_eq!(set.to_string(), text);
        }
        assert_eq!("0,1\n".parse::<CpuSet>().map(|set| set.to_string()), Ok("0-1".to_owned()));
    }

    #[test]
    fn rejects_garbage_with_its_reason() {
        let reason = |text: &str| text.parse::<CpuSet>().expect_err(text).to_string();
        assert_eq!(reason("3-1"), "range '3-1' ends before it begins");
        assert_eq!(reason("0-4294967295"), "CPU number 4294967295 is larger than 65535");
        assert_eq!(reason("0-65535,7"), "the list names more than 65536 CPUs");
        for text in ["x", "1,,2", "-3", "1-", "+1", "1 2", "0x3", "99999999999"] {
            assert!(reason(text).contains("neither"), "{text}");
        }
    }

    #[test]
    fn combines_sets() {
        let (a, b): (CpuSet, CpuSet) = ("0-3".parse().expect("set"), "2-5".parse().expect("set"));
        assert_eq!(a.intersection(&b).to_string(), "2-3");
        assert_eq!(a.union(&b).to_string(), "0-5");
        assert_eq!(a.difference(&b).to_string(), "0-1");
        assert!(CpuSet::of(2).is_subset(&a) && !b.is_subset(&a));
        assert_eq!((b.first(), b.last(), b.len()), (Some(2), Some(5), 4));
    }

    proptest! {
        #[test]
        fn prints_what_it_reads_back(ids in proptest::collection::btree_set(0u32..300, 0..80)) {
            let set: CpuSet = ids.into_iter().collect();
            prop_assert_eq!(set.to_string().parse::<CpuSet>(), Ok(set));
        }
    }
}
