//! Buffers and queues of all sockets and interfaces (admin-guide/sysctl/net.rst, socket(7)).

use seatrial_model::Kind;
use seatrial_model::setting::SettingAbout;

use crate::sysctl::{BUFFER, COUNT, ROW, Sysctl};

pub static RMEM_MAX: Sysctl = Sysctl(&SettingAbout {
    id: "net.core.rmem_max",
    title: "maximum receive socket buffer",
    doc: "The limit of SO_RCVBUF. UDP at 10 Gbit/s and above loses datagrams whenever the receiver is away \
          for longer than its buffer lasts, and TCP with fixed buffers cannot fill a path with a larger \
          bandwidth-delay product. TCP with autotuning is limited by net.ipv4.tcp_rmem instead.",
    kind: BUFFER,
    source: "/proc/sys/net/core/rmem_max",
    ..ROW
});

pub static RMEM_DEFAULT: Sysctl = Sysctl(&SettingAbout {
    id: "net.core.rmem_default",
    title: "default receive socket buffer",
    doc: "The receive buffer of UDP sockets that do not set SO_RCVBUF. With the usual 208 KiB such programs \
          lose datagrams at high rates.",
    kind: BUFFER,
    source: "/proc/sys/net/core/rmem_default",
    traps: "Every new socket gets it, idle ones too. Keep it at or below net.core.rmem_max. Lost at the next \
            boot unless a file in /etc/sysctl.d sets it.",
    ..ROW
});

pub static WMEM_MAX: Sysctl = Sysctl(&SettingAbout {
    id: "net.core.wmem_max",
    title: "maximum send socket buffer",
    doc: "The limit of SO_SNDBUF. TCP with fixed buffers cannot have more unacknowledged data than its send \
          buffer holds; UDP senders block or drop when it is full. TCP with autotuning is limited by \
          net.ipv4.tcp_wmem instead.",
    kind: BUFFER,
    source: "/proc/sys/net/core/wmem_max",
    ..ROW
});

pub static WMEM_DEFAULT: Sysctl = Sysctl(&SettingAbout {
    id: "net.core.wmem_default",
    title: "default send socket buffer",
    doc: "The send buffer of UDP sockets that do not set SO_SNDBUF. It limits how many datagrams wait for \
          the interface.",
    kind: BUFFER,
    source: "/proc/sys/net/core/wmem_default",
    traps: "Every new socket gets it, idle ones too. Keep it at or below net.core.wmem_max. Lost at the next \
            boot unless a file in /etc/sysctl.d sets it.",
    ..ROW
});

pub static NETDEV_MAX_BACKLOG: Sysctl = Sysctl(&SettingAbout {
    id: "net.core.netdev_max_backlog",
    title: "maximum packets in a CPU's input queue",
    doc: "Each CPU has a queue for packets from receive packet steering (RPS), loopback, veth, tunnels and \
          drivers without NAPI. When it is full, packets are dropped and counted in the second column of \
          /proc/net/softnet_stat. Drivers with NAPI and without steering do not use it.",
    kind: COUNT,
    unit: "packets",
    source: "/proc/sys/net/core/netdev_max_backlog",
    ..ROW
});

pub static DEFAULT_QDISC: Sysctl = Sysctl(&SettingAbout {
    id: "net.core.default_qdisc",
    title: "default queueing discipline (qdisc)",
    doc: "fq paces the packets of each flow, which keeps bursts of fast hosts out of the shallow buffers of \
          switches; fq_codel and pfifo_fast do not. It affects TCP over long paths and from fast to slow \
          ports.",
    kind: Kind::Text,
    source: "/proc/sys/net/core/default_qdisc",
    traps: "Existing interfaces keep theirs; `tc qdisc replace dev NAME root fq` changes one of them.",
    ..ROW
});
