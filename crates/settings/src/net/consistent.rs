//! `net.rmem_consistent`, `net.wmem_consistent`, `net.rcvbuf_at_least_sndbuf`: buffer sizes of which one must not exceed
//! the other.

use seatrial_model::machine::Machine;
use seatrial_model::setting::{ApplyCommand, Present, SettingAbout, SettingReading};
use seatrial_model::{Bytes, Kind, Value};
use seatrial_sys::root::{ReadError, SysRoot};

use crate::Setting;
use crate::found::{on_node, present};
use crate::sysctl::ROW;

/// A buffer size in bytes, one of the numbers of a file.
struct Size {
    name: &'static str,
    path: &'static str,
    field: usize,
}

/// The fact `by` where it is wrong, the size that must not exceed the other, and the other.
type Pair = (&'static str, Size, Size);

pub struct Consistent {
    about: &'static SettingAbout,
    pairs: &'static [Pair],
}

const ABOUT: SettingAbout = SettingAbout {
    doc: "The kernel accepts a default that is larger than the maximum. Programs that set a buffer then get less than \
          those that set none, which shows as datagrams lost by the careful program only.",
    kind: Kind::Flag,
    traps: "Raises the maximum to the default. Lost at the next boot unless a file in /etc/sysctl.d sets it.",
    ..ROW
};

const fn file(name: &'static str, path: &'static str) -> Size {
    Size { name, path, field: 0 }
}

pub static RMEM_CONSISTENT: Consistent = Consistent {
    about: &SettingAbout {
        id: "net.rmem_consistent",
        title: "rmem_default not above rmem_max",
        source: "/proc/sys/net/core/rmem_default and rmem_max",
        apply: &[ApplyCommand::always("sysctl -w net.core.rmem_max=$(sysctl -n net.core.rmem_default)")],
        ..ABOUT
    },
    pairs: &[(
        "",
        file("the default", "/proc/sys/net/core/rmem_default"),
        file("the maximum", "/proc/sys/net/core/rmem_max"),
    )],
};

pub static WMEM_CONSISTENT: Consistent = Consistent {
    about: &SettingAbout {
        id: "net.wmem_consistent",
        title: "wmem_default not above wmem_max",
        source: "/proc/sys/net/core/wmem_default and wmem_max",
        apply: &[ApplyCommand::always("sysctl -w net.core.wmem_max=$(sysctl -n net.core.wmem_default)")],
        ..ABOUT
    },
    pairs: &[(
        "",
        file("the default", "/proc/sys/net/core/wmem_default"),
        file("the maximum", "/proc/sys/net/core/wmem_max"),
    )],
};

/// Buffers that programs set, and those that TCP sizes itself.
const CORE: &str = "net.core";
const TCP: &str = "net.ipv4.tcp";

pub static RCVBUF_AT_LEAST_SNDBUF: Consistent = Consistent {
    about: &SettingAbout {
        id: "net.rcvbuf_at_least_sndbuf",
        title: "receive buffers not below send buffers",
        doc: "The receiver's buffer bounds the window, so a send buffer above it is never in flight as a whole: the \
              sender waits, and its memory is spent for nothing. Compared are the maxima that programs can set \
              (net.core.rmem_max, wmem_max) and those of TCP's autotuning (the last of tcp_rmem, tcp_wmem).",
        facts: &["by"],
        source: "/proc/sys/net/core/rmem_max and wmem_max, /proc/sys/net/ipv4/tcp_rmem and tcp_wmem",
        apply: &[
            ApplyCommand {
                by: CORE,
                command: "sysctl -w net.core.rmem_max=$(sysctl -n net.core.wmem_max)",
                file: "",
                words: &[],
            },
            ApplyCommand {
                by: TCP,
                command: "sysctl -w net.ipv4.tcp_rmem=\"$(sysctl -n net.ipv4.tcp_rmem | cut -f1,2) \
                          $(sysctl -n net.ipv4.tcp_wmem | cut -f3)\"",
                file: "",
                words: &[],
            },
        ],
        traps: "Raises the receive maximum to the send maximum. Where both pairs are wrong, the second command is told \
                after the first is done. Lost at the next boot unless a file in /etc/sysctl.d sets it.",
        ..ABOUT
    },
    pairs: &[
        (
            CORE,
            file("wmem_max", "/proc/sys/net/core/wmem_max"),
            file("rmem_max", "/proc/sys/net/core/rmem_max"),
        ),
        (
            TCP,
            Size { name: "the maximum of tcp_wmem", path: "/proc/sys/net/ipv4/tcp_wmem", field: 2 },
            Size { name: "that of tcp_rmem", path: "/proc/sys/net/ipv4/tcp_rmem", field: 2 },
        ),
    ],
};

impl Size {
    fn read(&self, root: &SysRoot) -> Result<u64, ReadError> {
        let text = root.text(self.path)?;
        let number = text.split_whitespace().nth(self.field).and_then(|word| word.parse().ok());
        number.ok_or_else(|| ReadError::garbage(self.path, &text, "buffer sizes in bytes"))
    }
}

impl Setting for Consistent {
    fn about(&self) -> &'static SettingAbout {
        self.about
    }

    fn read(&self, root: &SysRoot, _: &Machine) -> Vec<SettingReading> {
        for (by, size, most) in self.pairs {
            let (size_bytes, most_bytes) = match (size.read(root), most.read(root)) {
                (Ok(size), Ok(most)) => (size, most),
                (Err(error), _) | (_, Err(error)) => return on_node(self.about, present(root, Err(error))),
            };
            if size_bytes > most_bytes {
                let note =
                    format!("{} is {}, {} {}", size.name, Bytes(size_bytes), most.name, Bytes(most_bytes));
                let told = |reading: SettingReading| {
                    let reading = reading.noting(note.as_str());
                    if by.is_empty() { reading } else { reading.with_fact("by", *by) }
                };
                return on_node(self.about, Present::Value(Value::Flag(false))).into_iter().map(told).collect();
            }
        }
        on_node(self.about, Present::Value(Value::Flag(true)))
    }
}
