//! `limits.rtprio` and `limits.memlock`: resource limits of programs started here.

use seatrial_model::machine::{Known, Machine, ProcessLimit};
use seatrial_model::setting::{ApplyCommand, Present, Privilege, SettingAbout, SettingReading, UNLIMITED};
use seatrial_model::{Bytes, Kind, Value};
use seatrial_sys::root::SysRoot;

use crate::Setting;
use crate::found::on_node;

pub struct Limit {
    about: &'static SettingAbout,
    of: fn(&Machine) -> &Known<ProcessLimit>,
    value: fn(u64) -> Value,
    capability: Capability,
}

struct Capability {
    name: &'static str,
    bit: u32,
    lifts_to: fn() -> Value,
}

/// Highest priority of SCHED_FIFO and SCHED_RR on Linux (sched(7)).
const HIGHEST: u64 = 99;

const RTPRIO_ABOUT: SettingAbout = SettingAbout {
    id: "limits.rtprio",
    title: "real-time priority limit (RLIMIT_RTPRIO)",
    doc: "With 0, chrt and -p sched=fifo:N are refused. A real-time program is not preempted by ordinary ones, \
          which avoids single late steps in pipelines and latency. COBALT2 names it as a remedy for its \
          memory test.",
    kind: Kind::Count(0, HIGHEST),
    unit: "",
    fields: &[],
    unlimited: Some(UNLIMITED),
    subject: "node",
    facts: &[],
    source: "the limit RLIMIT_RTPRIO of the agent, and its capability CAP_SYS_NICE",
    apply: &[ApplyCommand::always("prlimit --pid $$ --rtprio={value}")],
    privilege: Privilege::Root,
    remedy: "",
    traps: "Holds for the shell in which it is typed, and its children; rtprio in /etc/security/limits.conf \
            holds from the next login. Slurm passes its own limits to jobs (PropagateResourceLimits, \
            LimitRTPRIO= of slurmd.service), and a service has those of its unit. kernel.sched_rt_runtime_us \
            limits the CPU time of such programs.",
};

pub static RTPRIO: Limit = Limit {
    about: &RTPRIO_ABOUT,
    of: |machine| &machine.confinement.realtime_priority,
    value: Value::Count,
    capability: Capability { name: "CAP_SYS_NICE", bit: 23, lifts_to: || Value::Count(HIGHEST) },
};

pub static MEMLOCK: Limit = Limit {
    about: &SettingAbout {
        id: "limits.memlock",
        title: "locked memory limit (RLIMIT_MEMLOCK)",
        doc: "Memory registered with an RDMA adapter is locked, and so are io_uring's buffers. With the \
              usual 8 MiB or less, RDMA fails to register memory with \"cannot allocate memory\", the most \
              common reason why MPI falls back to TCP.",
        kind: Kind::Size(Bytes(0), Bytes(u64::MAX)),
        source: "the limit RLIMIT_MEMLOCK of the agent, and its capability CAP_IPC_LOCK",
        apply: &[ApplyCommand::always("prlimit --pid $$ --memlock={value}")],
        traps: "Holds for the shell in which it is typed, and its children; memlock in \
                /etc/security/limits.conf, in KiB, holds from the next login. Slurm passes its own limits to \
                jobs (PropagateResourceLimits, LimitMEMLOCK= of slurmd.service).",
        ..RTPRIO_ABOUT
    },
    of: |machine| &machine.confinement.locked_memory,
    value: |bytes| Bytes(bytes).into(),
    capability: Capability { name: "CAP_IPC_LOCK", bit: 14, lifts_to: || Value::from(UNLIMITED) },
};

impl Setting for Limit {
    fn about(&self) -> &'static SettingAbout {
        self.about
    }

    fn read(&self, root: &SysRoot, machine: &Machine) -> Vec<SettingReading> {
        let limit = match (self.of)(machine) {
            Known::Known(limit) => *limit,
            Known::Unknown(why) => return on_node(self.about, Present::Unreadable(why.clone())),
        };
        let words = |limit: Option<u64>| limit.map_or_else(|| Value::from(UNLIMITED), self.value);
        let Capability { name, bit, lifts_to } = &self.capability;
        let (value, note) = match has_capability(root, *bit) {
            Some(true) => (lifts_to(), Some(format!("by {name}; without it {}", words(limit.soft)))),
            _ if limit.soft != limit.hard => {
                (words(limit.soft), Some(format!("a program can raise it to {} itself", words(limit.hard))))
            }
            _ => (words(limit.soft), None),
        };
        let readings = on_node(self.about, Present::Value(value));
        readings.into_iter().map(|reading| SettingReading { note: note.clone(), ..reading }).collect()
    }
}

/// Whether a capability of the initial user namespace (user_namespaces(7)) lifts the limit; `None` if unknown.
fn has_capability(root: &SysRoot, bit: u32) -> Option<bool> {
    let status = root.text("/proc/self/status").ok()?;
    let mask = status.lines().find_map(|line| line.strip_prefix("CapEff:"))?;
    let has_it = u64::from_str_radix(mask.trim(), 16).ok()? >> bit & 1 == 1;
    let map = root.text("/proc/self/uid_map").ok()?;
    let is_first = map.split_whitespace().eq(["0", "0", "4294967295"]);
    Some(has_it && is_first)
}
