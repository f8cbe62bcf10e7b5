//! Disks: rate of the link. The medium's rate is in no file.
//!
//! SATA and SAS up to 12 Gbit/s use 8b/10b (Serial ATA Specification, SAS Protocol Layer 3), 24G SAS moves 22.5
//! Gbit/s with 128b/150b (SAS Protocol Layer 4). cgroup limits (`blkio.throttle.*`, `io.max`) are bounds too, on what
//! can be measured from here.

use seatrial_model::machine::{Disk, DiskBus, DiskThrottle, Known};
use seatrial_model::{Bound, Limit, Unit};

use super::{bound, pcie_limit, with_way};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DiskLoad {
    pub reads: bool,
    pub writes: bool,
    pub block: u64,
}

/// All bounds on a disk's rate under a load: of its links, and of cgroups.
pub fn disk_limit_under(disk: &Disk, load: DiskLoad) -> Limit {
    let throttle = disk.throttle.map_or_else(Vec::new, |throttle| throttled(&throttle, load));
    match disk_limit(disk) {
        Limit::Chain(way) => Limit::Chain(way.into_iter().chain(throttle).collect()),
        _ if !throttle.is_empty() => Limit::Chain(throttle),
        unknown => unknown,
    }
}

/// cgroup bounds on a load. The sum of a mix is limited only if both directions are.
fn throttled(throttle: &DiskThrottle, load: DiskLoad) -> Vec<Bound> {
    let DiskThrottle { read_bytes, written_bytes, reads, writes } = *throttle;
    let both = |read: Option<u64>, written: Option<u64>| match (load.reads, load.writes) {
        (true, false) => read,
        (false, true) => written,
        _ => read.zip(written).map(|(read, written)| read.saturating_add(written)),
    };
    let rate = |bytes: u64, formula: String| {
        bound(bytes as f64 / 1e6, Unit::MegabytesPerSecond, formula, "control group")
    };
    let bytes =
        both(read_bytes, written_bytes).map(|bytes| rate(bytes, format!("{bytes} B/s allowed by cgroups")));
    let requests = both(reads, writes).map(|requests| {
        let formula = format!("{requests} requests/s allowed by cgroups x {} B", load.block);
        rate(requests.saturating_mul(load.block), formula)
    });
    bytes.into_iter().chain(requests).collect()
}

/// All bounds on a disk's rate in one direction.
pub fn disk_limit(disk: &Disk) -> Limit {
    let unknown = |reason: &str| Limit::unknown(reason);
    if disk.is_emulated {
        return unknown("an emulated disk has no link that limits it");
    }
    match disk.bus {
        DiskBus::Nvme => match &disk.pci {
            Known::Known(pci) => pcie_limit(&pci.path),
            Known::Unknown(reason) => unknown(reason),
        },
        DiskBus::Sata | DiskBus::Sas => with_way(link(disk), &disk.pci),
        bus if bus.is_made() => {
            let below = disk.slaves.join(", ");
            match below.is_empty() {
                true => unknown("it is in memory or in a file, not on a disk"),
                false => Limit::unknown(format!("it consists of other devices; see {below}")),
            }
        }
        bus => Limit::Unknown {
            reason: format!("the kernel does not report the rate of a link of this kind ({})", bus.word()),
        },
    }
}

fn link(disk: &Disk) -> Known<Bound> {
    disk.link_gbit_s.as_ref().map(|&gbit| {
        let (code, share) = if gbit > 12.0 { ("128/150", 128.0 / 150.0) } else { ("8/10", 8.0 / 10.0) };
        let value = gbit * share / 8.0 * 1000.0;
        let formula = format!("{gbit} Gbit/s x {code} / 8 bit");
        bound(value.round(), Unit::MegabytesPerSecond, formula, "disk link")
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits::tightest;

    fn disk(bus: DiskBus, gbit: f64) -> Disk {
        Disk { bus, link_gbit_s: Known::Known(gbit), ..Disk::default() }
    }

    fn rate(disk: &Disk) -> String {
        tightest(disk_limit(disk)).known().map(|bound| bound.value.to_string()).expect("known")
    }

    #[test]
    fn takes_the_line_code_off_the_link() {
        assert_eq!(rate(&disk(DiskBus::Sata, 1.5)), "150 MB/s");
        assert_eq!(rate(&disk(DiskBus::Sata, 6.0)), "600 MB/s");
        assert_eq!(rate(&disk(DiskBus::Sas, 12.0)), "1200 MB/s");
        assert_eq!(rate(&disk(DiskBus::Sas, 22.5)), "2400 MB/s");
    }

    #[test]
    fn says_why_a_disk_has_no_limit() {
        let why = |disk: &Disk| tightest(disk_limit(disk)).why().expect("unknown").to_owned();
        let made = Disk { slaves: vec!["sda2".to_owned()], ..disk(DiskBus::Dm, 6.0) };
        assert_eq!(why(&made), "it consists of other devices; see sda2");
        assert!(why(&Disk { is_emulated: true, ..disk(DiskBus::Sata, 6.0) }).contains("emulated"));
        assert!(why(&disk(DiskBus::Loop, 6.0)).contains("file"));
        assert!(why(&disk(DiskBus::Usb, 6.0)).contains("usb"));
        assert_eq!(why(&Disk { bus: DiskBus::Nvme, ..Disk::default() }), "not recorded");
    }

    #[test]
    fn what_a_control_group_lets_through_is_a_bound_beside_the_link() {
        let throttle =
            DiskThrottle { read_bytes: Some(20_971_520), reads: Some(100), ..DiskThrottle::default() };
        let of = |disk: &Disk, reads, writes| match disk_limit_under(
            disk,
            DiskLoad { reads, writes, block: 65_536 },
        ) {
            Limit::Chain(bounds) => bounds.iter().map(|bound| bound.value.to_string()).collect::<Vec<_>>(),
            Limit::Unknown { reason } | Limit::AtMost { reason, .. } => vec![reason],
        };
        let sata = Disk { throttle: Some(throttle), ..disk(DiskBus::Sata, 6.0) };
        assert_eq!(of(&sata, true, false), ["600 MB/s", "20.97152 MB/s", "6.5536 MB/s"]);
        assert_eq!(of(&sata, false, true), ["600 MB/s"], "writes are not limited");
        assert_eq!(of(&sata, true, true), ["600 MB/s"], "nor is their sum with reads");
        let emulated = Disk { is_emulated: true, ..sata };
        assert_eq!(of(&emulated, true, false), ["20.97152 MB/s", "6.5536 MB/s"]);
        assert!(of(&emulated, false, true)[0].contains("emulated"));
    }
}
