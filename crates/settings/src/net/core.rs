//! Buffers and queues of all sockets and interfaces (admin-guide/sysctl/net.rst, socket(7)).

use seatrial_model::Kind;
use seatrial_model::setting::SettingAbout;

use crate::sysctl::{BUFFER, COUNT, ROW, Sysctl, by_sysctl};

pub static RMEM_MAX: Sysctl = Sysctl(&SettingAbout {
    id: "net.core.rmem_max",
    title: "largest receive buffer to be asked for",
    doc: "SO_RCVBUF is cut to this. UDP at 10 Gbit/s and above loses datagrams whenever the receiver is away for \
          longer than its buffer lasts, and TCP with buffers set by hand cannot fill a path whose rate times round \
          trip is larger. TCP that tunes itself is bounded by net.ipv4.tcp_rmem instead.",
    kind: BUFFER,
    source: "/proc/sys/net/core/rmem_max",
    apply: by_sysctl!("net.core.rmem_max"),
    ..ROW
});

pub static RMEM_DEFAULT: Sysctl = Sysctl(&SettingAbout {
    id: "net.core.rmem_default",
    title: "receive buffer of a socket by default",
    doc: "What UDP sockets get unless the program sets SO_RCVBUF. Programs that do not ask lose datagrams at high \
          rates with the usual 208 KiB.",
    kind: BUFFER,
    source: "/proc/sys/net/core/rmem_default",
    apply: by_sysctl!("net.core.rmem_default"),
    traps: "Every new socket gets it, idle ones too. Keep it at or below net.core.rmem_max. Lost at the next boot \
            unless a file in /etc/sysctl.d says it too.",
    ..ROW
});

pub static WMEM_MAX: Sysctl = Sysctl(&SettingAbout {
    id: "net.core.wmem_max",
    title: "largest send buffer to be asked for",
    doc: "SO_SNDBUF is cut to this. TCP with buffers set by hand cannot have more data under way than its send \
          buffer holds; UDP senders block or drop when it is full. TCP that tunes itself is bounded by \
          net.ipv4.tcp_wmem instead.",
    kind: BUFFER,
    source: "/proc/sys/net/core/wmem_max",
    apply: by_sysctl!("net.core.wmem_max"),
    ..ROW
});

pub static WMEM_DEFAULT: Sysctl = Sysctl(&SettingAbout {
    id: "net.core.wmem_default",
    title: "send buffer of a socket by default",
    doc: "What UDP sockets get unless the program sets SO_SNDBUF. It bounds how many datagrams wait for the interface.",
    kind: BUFFER,
    source: "/proc/sys/net/core/wmem_default",
    apply: by_sysctl!("net.core.wmem_default"),
    traps: "Every new socket gets it, idle ones too. Keep it at or below net.core.wmem_max. Lost at the next boot \
            unless a file in /etc/sysctl.d says it too.",
    ..ROW
});

pub static NETDEV_MAX_BACKLOG: Sysctl = Sysctl(&SettingAbout {
    id: "net.core.netdev_max_backlog",
    title: "received packets that wait for a CPU",
    doc: "The queue of each CPU for packets that were handed to it: by receive packet steering, by the loopback, by \
          veth and tunnels, by drivers without NAPI. When it is full, packets are dropped, and the second column of \
          /proc/net/softnet_stat counts them. A driver with NAPI and no steering does not use it.",
    kind: COUNT,
    unit: "packets",
    source: "/proc/sys/net/core/netdev_max_backlog",
    apply: by_sysctl!("net.core.netdev_max_backlog"),
    ..ROW
});

pub static DEFAULT_QDISC: Sysctl = Sysctl(&SettingAbout {
    id: "net.core.default_qdisc",
    title: "queueing discipline of new interfaces",
    doc: "fq spaces the packets of each flow, which keeps bursts of fast hosts out of the shallow buffers of \
          switches; fq_codel and pfifo_fast do not. It moves TCP over long paths and from fast to slow ports.",
    kind: Kind::Text,
    source: "/proc/sys/net/core/default_qdisc",
    apply: by_sysctl!("net.core.default_qdisc"),
    traps: "Interfaces that are there keep what they have; `tc qdisc replace dev NAME root fq` changes one of them.",
    ..ROW
});
