//! CPU time that other processes and other virtual machines used during trials, from the probes `steal` and `load`.

use crate::fact::ProbeReadings;

/// Steal time above which a trial counts as disturbed, in percent of the CPU time.
pub const MOST_STOLEN_PERCENT: f64 = 5.0;

/// CPU time of other processes above which a trial counts as disturbed, in percent of the CPU time used, if it is
/// also more than this share of one CPU: on a node that waits for a disk, any service has a large share.
pub const MOST_FOREIGN_PERCENT: f64 = 10.0;

/// Prefix of the counter of one process's CPU time.
pub const PROCESS_PREFIX: &str = "process:";

/// CPU time of one node during trials, in nanoseconds; `None` where it was not read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CpuUse {
    stolen: Option<u64>,
    busy: Option<u64>,
    own: Option<u64>,
    /// CPU time of our processes, also of other nodes on the same kernel.
    ours: Option<u64>,
    kernel: Option<u64>,
    elapsed: Option<u64>,
    /// The other process with the most CPU time.
    largest: Option<(String, u64)>,
}

/// What disturbed a measurement.
#[derive(Clone, Debug, PartialEq)]
pub struct Disturber {
    /// The hypervisor, the name of a process, or other processes.
    pub name: String,
    /// Its share of the CPU time, in percent; unknown for a GPU.
    pub percent: Option<f64>,
    /// The CPU time it took, in words.
    pub text: String,
}

/// From the probes `steal` and `load`; a counter that could not be read disturbs nothing.
impl From<&ProbeReadings> for CpuUse {
    fn from(probes: &ProbeReadings) -> Self {
        let read = ["steal", "load"].iter().filter_map(|probe| probes.0.get(*probe));
        read.flat_map(|reading| &reading.counts).map(|(name, count)| (name.as_str(), *count)).collect()
    }
}

impl<'a> FromIterator<(&'a str, u64)> for CpuUse {
    /// From the counters of both probes by name.
    fn from_iter<T: IntoIterator<Item = (&'a str, u64)>>(counts: T) -> Self {
        let mut found = Self::default();
        for (name, count) in counts {
            match name {
                "steal_ns" => found.stolen = Some(count),
                "busy_ns" => found.busy = Some(count),
                "own_ns" => found.own = Some(count),
                "ours_ns" => found.ours = Some(count),
                "kernel_ns" => found.kernel = Some(count),
                "elapsed_ns" => found.elapsed = Some(count),
                _ => {
                    if let Some(process) = name.strip_prefix(PROCESS_PREFIX)
                        && found.largest.as_ref().is_none_or(|(_, most)| count > *most)
                    {
                        found.largest = Some((process.to_owned(), count));
                    }
                }
            }
        }
        found
    }
}

impl CpuUse {
    fn stolen_percent(&self) -> Option<f64> {
        let stolen = self.stolen? as f64;
        percent(stolen, stolen + self.busy? as f64)
    }

    /// CPU time of processes that are not ours; `None` in records older than the counter of kernel threads.
    fn foreign(&self) -> Option<f64> {
        let ours = self.own?.max(self.ours.unwrap_or(0));
        Some(self.busy? as f64 - ours as f64 - self.kernel.unwrap_or(0) as f64)
    }

    fn foreign_percent(&self) -> Option<f64> {
        let foreign = self.foreign()?;
        let of_a_cpu = self.elapsed.and_then(|elapsed| percent(foreign, elapsed as f64));
        percent(foreign, self.busy? as f64)
            .filter(|_| of_a_cpu.is_none_or(|share| share > MOST_FOREIGN_PERCENT))
    }

    /// The shares of the CPU time, 0 to 1, that a hypervisor and other processes took; none where they were not read.
    pub fn taken(&self) -> (Option<f64>, Option<f64>) {
        let share = |percent: Option<f64>| percent.map(|percent| percent.max(0.0) / 100.0);
        (share(self.stolen_percent()), share(self.foreign_percent()))
    }

    /// The process with at least half of the CPU time of all other processes.
    fn process(&self) -> Option<&str> {
        let foreign = self.foreign()?;
        let (name, most) = self.largest.as_ref()?;
        (2.0 * *most as f64 >= foreign).then_some(name)
    }
}

/// The disturber with the largest share above the limit, over all nodes.
///
/// Throttling, link errors and kernel warnings are properties of the machine under test and disturb nothing. CPU time
/// of kernel threads and interrupts is not foreign: most of it serves our own network and disk traffic.
pub fn disturber(nodes: &[CpuUse]) -> Option<Disturber> {
    let most = |share: fn(&CpuUse) -> Option<f64>| {
        let shares = nodes.iter().filter_map(|node| Some((share(node)?, node)));
        shares.max_by(|(one, _), (other, _)| one.total_cmp(other))
    };
    if let Some((stolen, _)) = most(CpuUse::stolen_percent).filter(|(share, _)| *share > MOST_STOLEN_PERCENT)
    {
        let text = format!("the hypervisor gave {stolen:.0} % of the CPU time to others");
        return Some(Disturber { name: "the hypervisor".to_owned(), percent: Some(stolen), text });
    }
    let (foreign, node) = most(CpuUse::foreign_percent).filter(|(share, _)| *share > MOST_FOREIGN_PERCENT)?;
    let mut text = format!("other processes took {foreign:.0} % of the CPU time used");
    let name = match node.process() {
        Some(process) => {
            text += &format!(", mostly {process}");
            process.to_owned()
        }
        None => "other processes".to_owned(),
    };
    Some(Disturber { name, percent: Some(foreign), text })
}

fn percent(part: f64, whole: f64) -> Option<f64> {
    (whole > 0.0).then(|| 100.0 * part / whole)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(counts: &[(&str, u64)]) -> Option<(String, String)> {
        let node: CpuUse = counts.iter().copied().collect();
        disturber(&[CpuUse::default(), node]).map(|found| (found.name, found.text))
    }

    fn words(name: &str, text: &str) -> Option<(String, String)> {
        Some((name.to_owned(), text.to_owned()))
    }

    #[test]
    fn a_process_that_took_most_of_what_others_took_is_named() {
        let used = [("busy_ns", 1000), ("own_ns", 500), ("kernel_ns", 100), ("elapsed_ns", 1000)];
        let unnamed = words("other processes", "other processes took 40 % of the CPU time used");
        assert_eq!(told(&used), unnamed);
        let with = |most| told(&[&used[..], &[("process:python3", most), ("process:sshd", 3)]].concat());
        assert_eq!(
            with(200),
            words("python3", "other processes took 40 % of the CPU time used, mostly python3")
        );
        assert_eq!(with(199), unnamed);
    }

    #[test]
    fn the_partner_on_a_node_of_the_same_kernel_is_not_foreign() {
        let used = [("busy_ns", 1000), ("own_ns", 400), ("ours_ns", 950), ("elapsed_ns", 1000)];
        assert_eq!(told(&used), None);
    }

    #[test]
    fn the_hypervisor_disturbs_above_a_twentieth_of_the_time() {
        assert_eq!(told(&[("steal_ns", 50), ("busy_ns", 950)]), None);
        let stolen = words("the hypervisor", "the hypervisor gave 10 % of the CPU time to others");
        assert_eq!(told(&[("steal_ns", 100), ("busy_ns", 900)]), stolen);
    }

    #[test]
    fn a_service_on_a_node_that_waits_disturbs_nothing() {
        let waiting = [("busy_ns", 50), ("own_ns", 10), ("elapsed_ns", 1000)];
        assert_eq!(told(&waiting), None);
        // Records of before the time was counted.
        assert!(told(&waiting[..2]).is_some());
        assert!(told(&[("busy_ns", 1000), ("own_ns", 850), ("elapsed_ns", 1000)]).is_some());
    }
}
