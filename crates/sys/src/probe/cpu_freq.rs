//! CPU clock frequencies as the kernel reports them.

use std::time::{Duration, Instant};

use super::{Counters, Counting};
use crate::root::{ReadError, SysRoot};

const CPUS: &str = "/sys/devices/system/cpu";

/// Time limit of a reading. Kernels 4.14 to 5.17 on x86 sleep 10 ms for a CPU whose last sample is old (Linux
/// arch/x86/kernel/cpu/aperfmperf.c): seconds on a machine of hundreds of CPUs.
const PATIENCE: Duration = Duration::from_millis(20);

/// Levels `min_khz`, `median_khz` and `max_khz` over the CPUs read, and `cpus`, how many answered.
///
/// `scaling_cur_freq` is what the driver measured last or, with some drivers, requested; `cpuinfo_cur_freq` is the
/// hardware's value, for root only (Linux Documentation/admin-guide/pm/cpufreq.rst). CPUs are read in an order spread
/// over all of them, until time is up.
pub(super) struct CpuFreq;

impl Counting for CpuFreq {
    fn id(&self) -> &'static str {
        "cpu_freq"
    }

    fn read(&self, root: &SysRoot) -> Counters {
        let mut counters = Counters::default();
        let cpus = match root.numbered(CPUS, "cpu") {
            Ok(cpus) => cpus,
            Err(error) => {
                counters.unreadable(error);
                return counters;
            }
        };
        let until = Instant::now() + PATIENCE;
        let (mut found, mut first_error) = (Vec::new(), None);
        for cpu in spread(&cpus) {
            match current_khz(root, cpu) {
                Ok(khz) => found.push(khz),
                Err(error) => {
                    first_error.get_or_insert(error);
                }
            }
            if Instant::now() >= until {
                break;
            }
        }
        found.sort_unstable();
        if let (Some(min), Some(max)) = (found.first(), found.last()) {
            counters.level("min_khz", *min);
            counters.level("median_khz", found[found.len() / 2]);
            counters.level("max_khz", *max);
            counters.level("cpus", found.len() as u64);
        } else if let Some(error) = first_error {
            let why =
                "without a cpufreq driver, as in most virtual machines, the kernel does not report the clock";
            counters.unreadable(format_args!("{error}: {why}"));
        } else {
            counters.unreadable(format_args!("{CPUS} lists no CPU"));
        }
        counters
    }
}

fn current_khz(root: &SysRoot, cpu: u32) -> Result<u64, ReadError> {
    let at = |file: &str| root.value(format!("{CPUS}/cpu{cpu}/cpufreq/{file}"));
    // A driver that does not know writes "<unknown>" into one of the files.
    at("scaling_cur_freq").or_else(|error| at("cpuinfo_cur_freq").map_err(|_: ReadError| error))
}

/// The CPUs in steps of about 0.618 of their number (golden section): any first few are spread over all.
fn spread(cpus: &[u32]) -> impl Iterator<Item = u32> {
    let count = cpus.len();
    let near = (count as f64 * 0.618) as usize;
    let step = (near.max(1)..).find(|step| greatest_common_divisor(*step, count) == 1).unwrap_or(1);
    (0..count).map(move |turn| cpus[turn * step % count])
}

fn greatest_common_divisor(a: usize, b: usize) -> usize {
    if b == 0 { a } else { greatest_common_divisor(b, a % b) }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::fs;

    use super::*;

    fn read(files: &[(u32, &str, &str)]) -> Counters {
        let dir = tempfile::tempdir().expect("a folder");
        let root = SysRoot::at(dir.path());
        for (cpu, file, text) in files {
            let place = root.locate(format!("{CPUS}/cpu{cpu}/cpufreq"));
            fs::create_dir_all(&place).expect("made");
            fs::write(place.join(file), text).expect("written");
        }
        CpuFreq.read(&root)
    }

    #[test]
    fn tells_the_slowest_the_middle_and_the_fastest_cpu() {
        let found = read(&[
            (0, "scaling_cur_freq", "3000000\n"),
            (1, "scaling_cur_freq", "800000\n"),
            (10, "scaling_cur_freq", "3600000\n"),
        ]);
        let levels: Vec<_> = found.levels.iter().map(|(name, &value)| (name.as_str(), value)).collect();
        let wanted = [("cpus", 3), ("max_khz", 3_600_000), ("median_khz", 3_000_000), ("min_khz", 800_000)];
        assert_eq!(levels, wanted);
        assert!(found.counts.is_empty() && found.unreadable.is_empty());
    }

    #[test]
    fn asks_the_hardware_where_the_driver_does_not_know() {
        let found = read(&[(0, "scaling_cur_freq", "<unknown>\n"), (0, "cpuinfo_cur_freq", "2500000\n")]);
        assert_eq!(found.levels["median_khz"], 2_500_000);
    }

    #[test]
    fn a_machine_without_cpufreq_has_no_clock_and_says_so() {
        let found = read(&[(0, "something_else", "1\n")]);
        assert!(found.levels.is_empty());
        assert_eq!(found.unreadable.len(), 1);
        assert!(found.unreadable[0].contains("virtual machines"), "{:?}", found.unreadable);
        assert!(read(&[(0, "scaling_cur_freq", "fast\n")]).unreadable[0].contains("\"fast\""));
    }

    #[test]
    fn the_first_few_cpus_asked_are_spread_over_all() {
        for count in [1_u32, 2, 3, 4, 6, 8, 64, 255, 256, 384] {
            let cpus: Vec<u32> = (0..count).collect();
            let order: Vec<u32> = spread(&cpus).collect();
            assert_eq!(order.iter().collect::<BTreeSet<_>>().len(), cpus.len(), "{count}: {order:?}");
            if count >= 64 {
                let quarters: BTreeSet<u32> = order.iter().take(6).map(|cpu| 4 * cpu / count).collect();
                assert_eq!(quarters.len(), 4, "{count}: {order:?}");
            }
        }
    }
}
