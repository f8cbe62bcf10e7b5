//! TCP and UDP (networking/ip-sysctl.rst, tcp(7), udp(7)).

use seatrial_model::setting::SettingAbout;
use seatrial_model::{Bytes, Kind};

use crate::sysctl::{ROW, Sysctl, by_sysctl};

/// Memory of one TCP socket.
const TCP_BUFFER: Kind = Kind::Size(Bytes(1), Bytes(i32::MAX as u64));

pub static UDP_MEM: Sysctl = Sysctl(&SettingAbout {
    id: "net.ipv4.udp_mem",
    title: "memory of all UDP sockets together",
    doc: "When all UDP sockets together hold `max`, datagrams are dropped, however large the buffer of each socket is; \
          from `min` on the kernel begins to moderate, and `pressure` is there to have the form of tcp_mem. The \
          kernel chooses all three by the size of memory.",
    // A `long` in the kernel; nobody has more than 2^52 pages.
    kind: Kind::Count(0, 1 << 52),
    unit: "pages",
    fields: &["min", "pressure", "max"],
    source: "/proc/sys/net/ipv4/udp_mem",
    apply: by_sysctl!("net.ipv4.udp_mem"),
    traps: "In pages, not bytes; a page is 4 KiB on x86-64 and up to 64 KiB elsewhere. Lost at the next boot unless a \
            file in /etc/sysctl.d says it too.",
    ..ROW
});

pub static TCP_RMEM: Sysctl = Sysctl(&SettingAbout {
    id: "net.ipv4.tcp_rmem",
    title: "receive buffer of a TCP socket",
    doc: "TCP lets the buffer of a connection grow from `default` up to `max` as the path needs it, and one stream \
          never has more under way than that: `max` must be at least the rate times the round trip, about twice \
          over for the kernel's own share. A program that sets SO_RCVBUF turns this off and is \
          bounded by net.core.rmem_max.",
    kind: TCP_BUFFER,
    fields: &["min", "default", "max"],
    source: "/proc/sys/net/ipv4/tcp_rmem",
    apply: by_sysctl!("net.ipv4.tcp_rmem"),
    ..ROW
});

pub static TCP_WMEM: Sysctl = Sysctl(&SettingAbout {
    id: "net.ipv4.tcp_wmem",
    title: "send buffer of a TCP socket",
    doc: "The sender keeps what is under way until it is acknowledged, so that one stream never has more under way \
          than `max`: as net.ipv4.tcp_rmem, on the other side. A program that sets SO_SNDBUF turns the tuning off.",
    kind: TCP_BUFFER,
    fields: &["min", "default", "max"],
    source: "/proc/sys/net/ipv4/tcp_wmem",
    apply: by_sysctl!("net.ipv4.tcp_wmem"),
    ..ROW
});

pub static TCP_CONGESTION_CONTROL: Sysctl = Sysctl(&SettingAbout {
    id: "net.ipv4.tcp_congestion_control",
    title: "how TCP decides how fast to send",
    doc: "cubic and reno slow down when packets are lost, bbr by what it measures of the path. On a clean local link \
          they hardly differ; over long paths and with losses they differ by factors, and several streams share a \
          link otherwise. Two ends need not agree: the sender decides.",
    kind: Kind::Text,
    source: "/proc/sys/net/ipv4/tcp_congestion_control",
    apply: by_sysctl!("net.ipv4.tcp_congestion_control"),
    traps: "Holds for new connections. /proc/sys/net/ipv4/tcp_available_congestion_control lists what is loaded; \
            others come with `modprobe tcp_NAME`. Lost at the next boot unless a file in /etc/sysctl.d says it too.",
    ..ROW
});

pub static TCP_TIMESTAMPS: Sysctl = Sysctl(&SettingAbout {
    id: "net.ipv4.tcp_timestamps",
    title: "timestamps in TCP segments",
    doc: "They take 12 B of every segment (0.8 % at an MTU of 1500), and give better round trip times and safety against \
          old segments at high rates. Both ends must want them: 0 is off, 1 on with an offset of their own for each \
          connection, 2 on without. What is derived as the limit of a TCP stream depends on it.",
    kind: Kind::Count(0, 2),
    source: "/proc/sys/net/ipv4/tcp_timestamps",
    apply: by_sysctl!("net.ipv4.tcp_timestamps"),
    traps: "Holds for new connections. Lost at the next boot unless a file in /etc/sysctl.d says it too.",
    ..ROW
});

pub static TCP_SACK: Sysctl = Sysctl(&SettingAbout {
    id: "net.ipv4.tcp_sack",
    title: "selective acknowledgements",
    doc: "The receiver tells which segments behind a gap have come, so that only what is lost is sent again. Without them \
          one lost segment of a full window costs round trips, or the whole window once more. Both ends must want them.",
    kind: Kind::Flag,
    source: "/proc/sys/net/ipv4/tcp_sack",
    apply: by_sysctl!("net.ipv4.tcp_sack"),
    traps: "Holds for new connections. Lost at the next boot unless a file in /etc/sysctl.d says it too.",
    ..ROW
});

pub static TCP_WINDOW_SCALING: Sysctl = Sysctl(&SettingAbout {
    id: "net.ipv4.tcp_window_scaling",
    title: "TCP windows above 64 KiB",
    doc: "Without it no connection has more than 64 KiB under way, whatever its buffers: 0.5 Gbit/s at a round trip of 1 \
          ms. Both ends must want it.",
    kind: Kind::Flag,
    source: "/proc/sys/net/ipv4/tcp_window_scaling",
    apply: by_sysctl!("net.ipv4.tcp_window_scaling"),
    traps: "Holds for new connections. Lost at the next boot unless a file in /etc/sysctl.d says it too.",
    ..ROW
});
