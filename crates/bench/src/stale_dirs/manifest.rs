//! The file in a test's directory that names its owner.

use std::fs;
use std::io::Read;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::Standing;

pub const MANIFEST: &str = "seatrial.json";

const MADE_BY: &str = "seatrial";

/// Bytes of a manifest at most.
const MOST: u64 = 64 << 10;

/// Whose a folder is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Manifest {
    pub made_by: String,
    pub benchmark: String,
    /// The host on which it was made.
    pub host: String,
    /// The process that made it, by its number there.
    pub process: u64,
    /// When that process began, in ticks of the clock since the host started (proc_pid_stat(5), starttime): its number
    /// may be another's by now.
    #[serde(default)]
    pub began: Option<u64>,
    /// The installation of its system (machine-id(5)): hosts may share a name.
    #[serde(default)]
    pub machine: Option<String>,
    /// What the kernel called that start of the host.
    #[serde(default)]
    pub boot: Option<String>,
    /// The namespace in which the process has its number.
    #[serde(default)]
    pub namespace: Option<String>,
    pub remove: String,
}

impl Manifest {
    /// One of this process.
    pub fn of_this_process(benchmark: &str) -> Self {
        let process = u64::from(std::process::id());
        Self {
            made_by: MADE_BY.to_owned(),
            benchmark: benchmark.to_owned(),
            host: host(),
            process,
            began: began(process),
            machine: machine(),
            boot: boot(),
            namespace: namespace(),
            remove: "the whole folder, once that process is gone: seatrial clean DIRECTORY".to_owned(),
        }
    }

    pub fn text(&self) -> String {
        // Words and numbers always serialise to JSON.
        format!("{}\n", serde_json::to_string(self).unwrap_or_default())
    }

    /// The manifest of `folder`, or the error as a fragment.
    pub(super) fn read(folder: &Path) -> Result<Self, String> {
        // Never follow a link, and never block on a pipe (open(2)).
        let flags = rustix::fs::OFlags::NOFOLLOW | rustix::fs::OFlags::NONBLOCK;
        let mut options = fs::OpenOptions::new();
        options.read(true).custom_flags(flags.bits().cast_signed());
        let opened = options.open(folder.join(MANIFEST));
        let file = opened.map_err(|error| format!("its manifest {MANIFEST} cannot be read: {error}"))?;
        let mut text = String::new();
        let read = file.take(MOST).read_to_string(&mut text);
        read.map_err(|error| format!("its manifest {MANIFEST} cannot be read: {error}"))?;
        let found: Self = serde_json::from_str(&text)
            .map_err(|error| format!("its {MANIFEST} is not a manifest: {error}"))?;
        if found.made_by == MADE_BY {
            Ok(found)
        } else {
            Err(format!("its {MANIFEST} says that '{}' made it", found.made_by.escape_default()))
        }
    }

    /// Whether the process that made it is gone. On a file system that other hosts may share (`is_shared`) a host is
    /// the same only in the same start: nodes made of one image have one name and one installation.
    pub(super) fn standing(&self, is_shared: bool) -> Standing {
        let differs = |there: &Option<String>, here: Option<String>| match (there, here) {
            (Some(there), Some(here)) => *there != here,
            _ => false,
        };
        // A host without a name may be any.
        let is_here = !self.host.is_empty() && self.host == host() && !differs(&self.machine, machine());
        let is_this_start = self.boot.is_some() && self.boot == boot();
        if !is_here || (is_shared && !is_this_start) {
            Standing::Elsewhere
        } else if differs(&self.boot, boot()) {
            // The host was started again since.
            Standing::Abandoned
        } else if differs(&self.namespace, namespace()) {
            Standing::Elsewhere
        } else {
            match (self.began, began(self.process)) {
                (_, None) => Standing::Abandoned,
                (Some(then), Some(now)) if then != now => Standing::Abandoned,
                (_, Some(_)) => Standing::Alive,
            }
        }
    }
}

fn host() -> String {
    fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default().trim().to_owned()
}

fn machine() -> Option<String> {
    Some(fs::read_to_string("/etc/machine-id").ok()?.trim().to_owned()).filter(|id| !id.is_empty())
}

fn boot() -> Option<String> {
    Some(fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?.trim().to_owned())
}

fn namespace() -> Option<String> {
    Some(fs::read_link("/proc/self/ns/pid").ok()?.display().to_string())
}

/// When a process began; none when there is no such process, or when it is dead and only nobody has reaped it. The name
/// in the second field may hold anything, also blanks and brackets, so fields are counted from the last bracket on.
fn began(process: u64) -> Option<u64> {
    let text = fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    let mut fields = text.rsplit_once(')')?.1.split_whitespace();
    let state = fields.next()?;
    if matches!(state, "Z" | "X") { None } else { fields.nth(18)?.parse().ok() }
}
