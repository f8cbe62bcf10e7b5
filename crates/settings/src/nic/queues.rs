//! `nic.rps` and `nic.xps`: CPUs of the queues of an interface (networking/scaling.rst).

use seatrial_model::machine::{Machine, NicKind};
use seatrial_model::setting::{ApplyCommand, Privilege, SettingAbout, SettingFile, SettingReading};
use seatrial_model::{Kind, Value};
use seatrial_sys::cpuset::CpuSet;
use seatrial_sys::root::{ReadError, SysRoot};

use super::inventory::ABOUT as OF_NIC;
use crate::Setting;
use crate::devices::{self, Device, Found};

/// The CPUs of each queue of an interface.
pub struct OfQueues {
    about: &'static SettingAbout,
    /// Start of the names of the queues, and the file in each.
    stem: &'static str,
    file: &'static str,
}

const NONE: &str = "none";
const SPREAD: &str = "spread";

const ABOUT: SettingAbout = SettingAbout {
    id: "nic.rps",
    title: "CPUs that process received packets (RPS)",
    doc: "With none the CPU that takes the interrupt also passes the packets through the network stack; one busy CPU then \
          limits a NIC with fewer queues than cores. RPS hands the flows of each queue to the CPUs named here. Values: \
          none, a list as 0-3,8 for all queues, or spread, which divides all CPUs among the queues.",
    kind: Kind::Text,
    source: "/sys/class/net/NAME/queues/rx-*/rps_cpus",
    apply: &[ApplyCommand {
        file: "/sys/class/net/{name}/queues/rx-*/rps_cpus",
        ..ApplyCommand::always("echo MASK_OF_{value} | tee /sys/class/net/{name}/queues/rx-*/rps_cpus")
    }],
    privilege: Privilege::Root,
    traps: "The file holds a mask in hexadecimal digits: 3 is CPUs 0 and 1. Costs an interrupt between CPUs for each \
            batch, so it is slower where the NIC has a queue for each core. Lost at the next boot.",
    ..OF_NIC
};

pub static RPS: OfQueues = OfQueues { about: &ABOUT, stem: "rx-", file: "rps_cpus" };

pub static XPS: OfQueues = OfQueues {
    about: &SettingAbout {
        id: "nic.xps",
        title: "CPUs of each send queue (XPS)",
        doc: "A CPU sends by a queue that names it. With a queue for each CPU no two CPUs wait for the lock of one queue, \
              and the CPU that sends is the one that frees the packet. Values: none, a list as 0-3,8 for all queues, or \
              spread, which divides all CPUs among the queues.",
        source: "/sys/class/net/NAME/queues/tx-*/xps_cpus",
        apply: &[ApplyCommand {
            file: "/sys/class/net/{name}/queues/tx-*/xps_cpus",
            ..ApplyCommand::always("echo MASK_OF_{value} | tee /sys/class/net/{name}/queues/tx-*/xps_cpus")
        }],
        traps: "The file holds a mask in hexadecimal digits: 3 is CPUs 0 and 1. Packets of a connection may be reordered \
                once. Many drivers set it when they start, and again when nic.channels changes. Lost at the next boot.",
        ..ABOUT
    },
    stem: "tx-",
    file: "xps_cpus",
};

impl Setting for OfQueues {
    fn about(&self) -> &'static SettingAbout {
        self.about
    }

    fn read(&self, root: &SysRoot, machine: &Machine) -> Vec<SettingReading> {
        let none = "there is no network interface but loopback";
        devices::readings(self.about, &machine.nics, none, |nic| {
            (nic.kind != NicKind::Loopback).then(|| Device::nic(nic, self.found(root, &nic.name)))
        })
    }

    fn files(
        &self,
        root: &SysRoot,
        machine: &Machine,
        reading: &SettingReading,
        file: SettingFile,
    ) -> Result<Vec<SettingFile>, String> {
        let nic = devices::nic(machine, reading)?;
        let queues = self.queues(root, &nic.name).map_err(|error| error.to_string())?;
        let all: Vec<u32> = machine.cpu.threads.iter().map(|thread| thread.id).collect();
        let wanted = |at: usize| match file.text.as_str() {
            NONE => Ok(CpuSet::default()),
            SPREAD if queues.len() < 2 || all.len() < 2 => {
                Err(format!("{SPREAD} needs two queues and two CPUs: write a list such as 0-3, or {NONE}"))
            }
            SPREAD if queues.len() > all.len() => Ok(CpuSet::of(all[at % all.len()])),
            SPREAD => Ok(all.iter().copied().skip(at).step_by(queues.len()).collect()),
            list => list.parse().map_err(|_| format!("'{list}' is neither {NONE}, {SPREAD} nor a list as 0-3,8")),
        };
        let mut files = Vec::new();
        for (at, Queue { path, text, cpus }) in queues.iter().enumerate() {
            let wanted = wanted(at)?;
            // The text of the kernel where nothing changes, which may have more digits.
            let text = if wanted == *cpus { text.clone() } else { mask(&wanted, text) };
            files.push(SettingFile { path: path.clone(), text });
        }
        Ok(files)
    }
}

struct Queue {
    path: String,
    text: String,
    cpus: CpuSet,
}

impl OfQueues {
    fn queues(&self, root: &SysRoot, nic: &str) -> Result<Vec<Queue>, ReadError> {
        let folder = format!("/sys/class/net/{nic}/queues");
        let queue = |number: u32| {
            let path = format!("{folder}/{}{number}/{}", self.stem, self.file);
            let text = root.text(&path)?;
            let cpus = cpus(&text).ok_or_else(|| ReadError::garbage(&path, &text, "a mask of CPUs"))?;
            Ok(Queue { path, text, cpus })
        };
        root.numbered(&folder, self.stem)?.into_iter().map(queue).collect()
    }

    fn found(&self, root: &SysRoot, nic: &str) -> Found {
        let queues = match self.queues(root, nic) {
            Ok(queues) if queues.is_empty() => return Found::absent("it has no queue"),
            Ok(queues) => queues,
            // The kernel has the file of a queue that is the only one, and refuses to read it.
            Err(error) if error.is_missing() => return Found::absent("it has one queue"),
            Err(error) => return Found::unreadable(&error.to_string()),
        };
        let sets: Vec<&CpuSet> = queues.iter().map(|queue| &queue.cpus).collect();
        let is_spread = sets.iter().enumerate().all(|(at, set)| {
            let others = sets[..at].iter().filter(|other| *other != set);
            !set.is_empty() && others.into_iter().all(|other| other.intersection(set).is_empty())
        });
        let value = match sets[0] {
            first if sets.iter().all(|set| *set == first) => match first.is_empty() {
                true => NONE.to_owned(),
                false => first.to_string(),
            },
            _ if is_spread => SPREAD.to_owned(),
            _ => "mixed".to_owned(),
        };
        Found::value(Value::Text(value))
    }
}

/// The CPUs of a mask of the kernel: groups of 32 bits in hexadecimal digits, the last CPUs first.
fn cpus(mask: &str) -> Option<CpuSet> {
    let digits: Vec<u32> =
        mask.chars().rev().filter(|c| *c != ',').map(|digit| digit.to_digit(16)).collect::<Option<_>>()?;
    let bits = digits.iter().enumerate().flat_map(|(at, digit)| {
        (0..4).filter(move |bit| digit >> bit & 1 != 0).map(move |bit| at as u32 * 4 + bit)
    });
    (!digits.is_empty()).then(|| bits.collect())
}

/// The mask of `cpus`, with as many digits as the kernel writes in `like`.
fn mask(cpus: &CpuSet, like: &str) -> String {
    let own = cpus.last().map_or(1, |last| last as usize / 4 + 1);
    let count = like.chars().filter(char::is_ascii_hexdigit).count().max(own);
    let digit = |at: usize| {
        let value = (0..4).filter(|bit| cpus.contains(at as u32 * 4 + bit)).map(|bit| 1 << bit).sum();
        char::from_digit(value, 16).unwrap_or('0')
    };
    let mut text = String::new();
    for at in (0..count).rev() {
        text.push(digit(at));
        if at > 0 && at % 8 == 0 {
            text.push(',');
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mask_has_the_first_cpus_last_and_as_many_digits_as_before() {
        let set = |text: &str| text.parse::<CpuSet>().expect("a list");
        for (text, list) in [("f", "0-3"), ("00000001,00000000", "32"), ("80,00000001", "0,39")] {
            assert_eq!(cpus(text), Some(set(list)), "{text}");
            assert_eq!(mask(&set(list), text), text);
        }
        assert_eq!(cpus("0"), Some(CpuSet::default()));
        assert_eq!(mask(&CpuSet::default(), "00000000,00000000"), "00000000,00000000");
        assert_eq!(mask(&set("4"), "1"), "10");
        assert_eq!((cpus(""), cpus("zz")), (None, None));
    }
}
