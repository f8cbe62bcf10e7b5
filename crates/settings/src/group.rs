//! Settings of each CPU: one reading where all CPUs agree, else one per group of CPUs.

use seatrial_model::setting::{Present, SettingAbout, SettingReading};
use seatrial_model::{Subject, Value};
use seatrial_sys::cpuset::CpuSet;
use seatrial_sys::root::{ReadError, SysRoot};

use crate::found::present;

pub(crate) type OfCpus = (CpuSet, Result<(Value, Option<String>), ReadError>);

/// Readings of `found`, which is not empty: one on `node` where all CPUs agree, else one per group on `cpus:LIST`.
/// Failures of one kind are one group, with the first reason.
pub(crate) fn grouped(about: &SettingAbout, root: &SysRoot, found: Vec<OfCpus>) -> Vec<SettingReading> {
    let mut groups: Vec<(CpuSet, Present, Option<String>)> = Vec::new();
    for (cpus, result) in found {
        let (value, note) = match result {
            Ok((value, note)) => (Ok(value), note),
            Err(error) => (Err(error), None),
        };
        let found = present(root, value);
        let is_same = |known: &Present| match (known, &found) {
            (Present::Value(known), Present::Value(value)) => known == value,
            (known, found) => std::mem::discriminant(known) == std::mem::discriminant(found),
        };
        match groups.iter_mut().find(|(_, known, told)| is_same(known) && *told == note) {
            Some((all, ..)) => *all = all.union(&cpus),
            None => groups.push((cpus, found, note)),
        }
    }
    let differ = groups.len() > 1;
    let reading = |(cpus, present, note): (CpuSet, Present, Option<String>)| {
        let subject = if differ { Subject::device("cpus", &cpus.to_string()) } else { Subject::node() };
        SettingReading { note, ..SettingReading::new(about, subject, present) }
    };
    groups.into_iter().map(reading).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sysctl::ROW;

    #[test]
    fn cpus_that_agree_are_told_once_and_others_by_group() {
        let value = |word: &str| Ok((Value::from(word), None));
        let gone = || Err(ReadError::garbage("/x", "", "a word"));
        let of = |found: Vec<OfCpus>| {
            let readings = grouped(&ROW, &SysRoot::at("/nowhere"), found);
            readings.iter().map(|reading| reading.subject.to_string()).collect::<Vec<_>>()
        };
        let cpus = |ids: &[u32]| CpuSet::from_iter(ids.iter().copied());
        assert_eq!(of(vec![(cpus(&[0]), value("a")), (cpus(&[1]), value("a"))]), ["node"]);
        assert_eq!(
            of(vec![
                (cpus(&[0, 1]), value("a")),
                (cpus(&[2]), gone()),
                (cpus(&[3]), value("b")),
                (cpus(&[4]), value("a")),
                (cpus(&[5]), gone()),
            ]),
            ["cpus:0-1,4", "cpus:2,5", "cpus:3"]
        );
    }
}
